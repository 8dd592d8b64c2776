"""The failure of a way to a host: nobody knows what happened at its other end."""

from __future__ import annotations

from screenloop.errors import InfraFault


class HostUnreachable(InfraFault):
    """Raised by a `Host` when no answer came: the request or its reply was lost.

    The host may yet have carried the operation out. The manager asks again with the same action id
    and turns this into a plain `InfraFault` when it gives up; the Lease stays as it was. Every
    other failure of a `Host` (except a refusal) says that the Instance is spoilt.
    """
