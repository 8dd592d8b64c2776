"""Renders the package's page templates: one HTML file each, nothing fetched, no foreign script."""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from screenloop.report import words
from screenloop.types import Struct

TEXT_LIMIT = 20_000
"""Characters of one text that a page shows."""
_MIMES = {"jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp"}


class Shown(Struct, frozen=True, kw_only=True):
    """A text as a page shows it."""

    text: str
    left_out: int = 0
    """Characters beyond `TEXT_LIMIT`."""


def shown(text: str) -> Shown:
    """Return the text, cut where a page would drown in it."""
    return Shown(text=text[:TEXT_LIMIT], left_out=max(0, len(text) - TEXT_LIMIT))


def data_uri(data: bytes, suffix: str) -> str:
    """Return an image as a `data:` address; an unknown suffix is no image and gives no address."""
    mime = _MIMES.get(suffix.lower())
    return f"data:{mime};base64,{base64.b64encode(data).decode()}" if mime else ""


def render_page(name: str, view: Struct) -> str:
    """Return the page `templates/<name>.html.j2` of a view, with its style and script inside.

    All values are escaped. A content security policy admits this script by its hash, inline styles
    and `data:` images, and nothing else.
    """
    script = files("screenloop.report").joinpath(f"templates/{name}.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'"
    )
    template = _environment(script).get_template(f"{name}.html.j2")
    return template.render(view=view, policy=policy, w=words)


@lru_cache(maxsize=4)
def _environment(script: str) -> Environment:
    """Return what renders pages with this script; a run has hundreds of them, compiled once."""
    environment = Environment(
        loader=PackageLoader("screenloop.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The script is this package's own file; its hash must be that of the bytes in the page.
    environment.globals["script"] = Markup(script)
    return environment
