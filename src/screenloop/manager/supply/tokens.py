"""Bearer tokens of hosts, derived from one secret: nothing of them need be stored."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import tempfile
from pathlib import Path

from screenloop.errors import ConfigError, InfraFault

_LEAST_BYTES = 16


class HostTokens:
    """Gives each host its own token; managers with the same secret give the same ones."""

    def __init__(self, secret: bytes) -> None:
        """Take the secret.

        Raises:
            ConfigError: it is too short to be one.
        """
        if len(secret) < _LEAST_BYTES:
            raise ConfigError(f"a secret holds at least {_LEAST_BYTES} bytes, not {len(secret)}")
        self._secret = secret

    def of(self, host: str) -> str:
        """Return the token of a host: HMAC-SHA256 of its id."""
        return hmac.new(self._secret, host.encode(), hashlib.sha256).hexdigest()


def kept_secret(path: Path) -> bytes:
    """Return the secret in a file that only we can read; drawn and written at first.

    Raises:
        InfraFault: it cannot be read or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            _draw(path)
        return path.read_bytes()
    except OSError as error:
        raise InfraFault(f"cannot keep a secret in {path}: {error}") from error


def _draw(path: Path) -> None:
    """Write a new secret; of several who do so at once, one wins and its file is whole."""
    made, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(made, "wb") as file:
            file.write(secrets.token_hex(32).encode())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(name)
    finally:
        Path(name).unlink()
