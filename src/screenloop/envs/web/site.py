"""What the web Environment must know of a site: everything that is not the same for all pages.

A site is data and short scripts; it never touches the browser itself.
"""

from __future__ import annotations

import ipaddress
from typing import Any, Protocol
from urllib.parse import urlsplit

from screenloop.browser.page import Viewport
from screenloop.types import SizePx, World

Status = dict[str, Any]
"""What a site's status script returns: its own view of how far the Task has come."""


class Site(Protocol):
    """One site or family of pages, by the part of `World.name` before the first `/`."""

    name: str
    css: str
    """Style added to each document, e.g. to hide what no user of the Task should see."""
    navigates: bool
    """Whether an agent may open other local URLs and go back."""
    status: str
    """A script expression whose JSON object is the Status."""

    def warm_url(self, world: World) -> str:
        """Return a page that a fresh context may load beforehand; empty for none.

        It leaves the site's scripts compiled for the next reset. Only for sites whose pages store
        nothing: what a page keeps in its context would be there after the reset.
        """
        ...

    def viewport(self, size_px: SizePx) -> Viewport:
        """Return how a frame of this size is laid out."""
        ...

    def url(self, world: World) -> str:
        """Return where the world begins.

        Raises:
            TaskError: the site has no such world.
        """
        ...

    def begin(self, world: World) -> str:
        """Return the script that starts the world in the loaded page; empty for none.

        Raises:
            TaskError: a patch is unknown to the site.
        """
        ...

    def app(self, world: World, url: str) -> str:
        """Return what an Observation names as the foreground app."""
        ...

    def goal(self, status: Status) -> str | None:
        """Return the goal that the page announces, if it does."""
        ...

    def done(self, status: Status) -> bool:
        """Return whether the page has reached its own end."""
        ...


def is_local_url(url: str) -> bool:
    """Return whether a URL stays on this machine: a file, or http(s) to a loopback address."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return parts.netloc in ("", "localhost")
    if parts.scheme not in ("http", "https") or parts.hostname is None:
        return False
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        return False
