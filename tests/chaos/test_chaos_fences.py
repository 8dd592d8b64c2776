"""A worker that comes late, with fences and without: the account must tell the two apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from screenloop.actions import Open
from screenloop.bench.chaos.account import account_of_devices
from screenloop.bench.chaos.devices import CONTROL_VARIABLE, LoggedDevices, read_deeds
from screenloop.bench.chaos.players import parts_of
from screenloop.bench.chaos.world import ENV
from screenloop.bench.lease.faults import HandClock
from screenloop.errors import LeaseLost
from screenloop.manager.hosts.instances import InstanceHost
from screenloop.manager.journal.memory import MemoryJournal
from screenloop.manager.service import ManagerService
from screenloop.manager.supply.on_demand import OnDemandSupply
from screenloop.store.blobs import MemoryBlobs
from screenloop.store.runs import slug
from screenloop.types import Lease, Start

TTL_S = 10.0
PARTS = parts_of(4)


class Late:
    """A worker that lost its device to another one without knowing."""

    def __init__(self, control: Path, *, fencing: bool) -> None:
        self.devices = LoggedDevices(MemoryBlobs())
        self.clock = HandClock()
        self.control = control
        host = InstanceHost("host", self.devices.open, clock=self.clock, fencing=fencing)
        self.service = ManagerService(
            OnDemandSupply(host, boot=host.boot),
            MemoryJournal(),
            clock=self.clock,
            fencing=fencing,
        )
        self.lease: Lease | None = None

    async def begin(self, number: int) -> Lease:
        lease = await self.service.acquire(ENV, "run", ttl_s=TTL_S)
        await self.service.reset(lease, Start(task=PARTS[number].task), deadline_s=60)
        return lease

    async def step(self, lease: Lease, number: int) -> None:
        action_id = f"{slug(PARTS[number].task.key)}-r0-a0/0/0"
        await self.service.step(lease, action_id, Open(app="counter"), deadline_s=60)

    async def overtaken(self) -> Lease:
        """Return a lease that stepped once, and whose device is another Episode's by now."""
        lease = await self.begin(1)
        await self.step(lease, 1)
        self.clock.at_s += TTL_S + 1
        other = await self.begin(3)
        assert other.instance == lease.instance
        await self.step(other, 3)
        return lease

    async def close(self) -> None:
        await self.service.close()
        await self.devices.close()


@pytest.fixture(autouse=True)
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CONTROL_VARIABLE, str(tmp_path))
    return tmp_path


async def test_with_fences_a_late_step_is_refused_and_nothing_is_found(control: Path) -> None:
    late = Late(control, fencing=True)
    lease = await late.overtaken()
    with pytest.raises(LeaseLost):
        await late.step(lease, 1)
    await late.close()
    account = account_of_devices(read_deeds(control))
    assert (account.duplicated, account.trespassed, account.rewound) == (0, 0, 0)


async def test_without_fences_a_late_step_is_carried_out_again_and_found(control: Path) -> None:
    late = Late(control, fencing=False)
    lease = await late.overtaken()
    await late.step(lease, 1)
    await late.close()
    account = account_of_devices(read_deeds(control))
    assert (account.duplicated, account.trespassed) == (1, 1)
