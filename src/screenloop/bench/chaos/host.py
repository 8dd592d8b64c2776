"""A host without fences, for showing that chaos would be seen: `python -m` as a host's module."""

from __future__ import annotations

from screenloop.manager.hosts.server import main

if __name__ == "__main__":
    main(fencing=False)
