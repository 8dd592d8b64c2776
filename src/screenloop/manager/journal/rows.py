"""Records as rows of a table, the same for every database.

Columns of instances: instance, fence, kind, width, height, host, boot, lease_id, run_id,
request_id, ttl_s; of intents: instance, fence, action_id, lease_id, action, deadline_s.
"""

from __future__ import annotations

from typing import Any

import msgspec

from screenloop.actions import Action
from screenloop.manager.base import LeaseToken, TakeStep
from screenloop.manager.journal.base import FreeRecord, Intent, LeaseRecord
from screenloop.types import EnvRef


def row_of(record: LeaseRecord | FreeRecord) -> tuple[Any, ...]:
    """Return the row of an Instance; without a Lease its last four are empty."""
    width, height = record.env.size_px
    kind, host, boot = record.env.kind, record.host, record.boot
    place = (record.instance, record.fence, kind, width, height, host, boot)
    if isinstance(record, FreeRecord):
        return (*place, None, None, None, None)
    return (*place, record.lease_id, record.run_id, record.request_id, record.ttl_s)


def intent_row(intent: Intent) -> tuple[Any, ...]:
    """Return the row of an intent."""
    token, step = intent.token, intent.step
    action = msgspec.json.encode(step.action)
    names = (token.instance, token.fence, step.action_id, token.lease_id)
    return (*names, action, intent.deadline_s)


def read_lease(row: Any) -> LeaseRecord:
    """Read the row of an Instance that is held; a row is looked up by column name."""
    names = ("instance", "fence", "host", "boot", "lease_id", "run_id", "request_id", "ttl_s")
    return LeaseRecord(env=_env(row), **{name: row[name] for name in names})


def read_free(row: Any) -> FreeRecord:
    """Read the row of an Instance that nobody holds."""
    names = ("instance", "fence", "host", "boot")
    return FreeRecord(env=_env(row), **{name: row[name] for name in names})


def read_intent(row: Any) -> Intent:
    """Read the row of an intent."""
    action = msgspec.json.decode(row["action"], type=Action)
    return Intent(
        token=LeaseToken(instance=row["instance"], lease_id=row["lease_id"], fence=row["fence"]),
        step=TakeStep(action_id=row["action_id"], action=action),
        deadline_s=row["deadline_s"],
    )


def _env(row: Any) -> EnvRef:
    return EnvRef(kind=row["kind"], size_px=(row["width"], row["height"]))
