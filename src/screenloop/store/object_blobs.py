"""Blobs as objects of an S3 bucket, for hosts that share no disk."""

from __future__ import annotations

from typing import Any

from screenloop.errors import ConfigError, InfraFault
from screenloop.store.blobs import KEY, blob_key
from screenloop.types import BlobKey

TIMEOUT_S = 10
"""Of one request; a store that does not answer is an infrastructure failure, not a hang."""


class ObjectBlobs:
    """Blobs under a prefix of a bucket, in any store that speaks S3.

    Credentials come from the usual environment variables (`AWS_ACCESS_KEY_ID`, ...). Calls wait for
    the network, as the blob contract is synchronous.
    """

    def __init__(
        self, bucket: str, prefix: str = "", *, endpoint: str = "", region: str = ""
    ) -> None:
        """Take the place; nothing is asked of it yet.

        Args:
            bucket: Its name.
            prefix: Folder within the bucket.
            endpoint: Base URL of a store that is not Amazon's.
            region: Empty for the environment's, or `us-east-1`.

        Raises:
            ConfigError: obstore is not installed, or refuses these settings.
        """
        try:
            import obstore
            from obstore.exceptions import BaseError
            from obstore.store import S3Store
        except ImportError as error:
            raise ConfigError("blobs in S3 need obstore: pip install 'screenloop[s3]'") from error
        settings: dict[str, Any] = {"region": region} if region else {}
        if endpoint:
            settings["endpoint"] = endpoint
        self.name = f"s3://{bucket}/{prefix}".rstrip("/")
        self._obstore = obstore
        self._failure: type[Exception] = BaseError
        try:
            self._store = S3Store(
                bucket,
                prefix=prefix or None,
                client_options={
                    "allow_http": endpoint.startswith("http://"),
                    "timeout": f"{TIMEOUT_S}s",
                    "connect_timeout": "3s",
                },
                retry_config={"max_retries": 2},
                **settings,
            )
        except (BaseError, ValueError) as error:
            raise ConfigError(f"{self.name} cannot be used: {error}") from error

    def put(self, data: bytes, suffix: str) -> BlobKey:
        """Keep the bytes and return their key; what is there already is not sent again."""
        key = blob_key(data, suffix)
        path = self._path(key)
        try:
            try:
                self._obstore.head(self._store, path)
            except FileNotFoundError:
                self._obstore.put(self._store, path, data)
        except (self._failure, OSError) as error:
            raise InfraFault(f"cannot write blob {key} to {self.name}: {error}") from error
        return key

    def get(self, key: BlobKey) -> bytes:
        path = self._path(key)
        try:
            return bytes(self._obstore.get(self._store, path).bytes())
        except (self._failure, OSError) as error:
            raise InfraFault(f"cannot read blob {key} from {self.name}: {error}") from error

    def _path(self, key: BlobKey) -> str:
        if KEY.fullmatch(key) is None:
            raise InfraFault(f"{key!r} is no blob key; it has the form sha256-<hex>.<suffix>")
        return f"{key.removeprefix('sha256-')[:2]}/{key}"
