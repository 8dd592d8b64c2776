"""Gives a pool's Instances out and takes them back."""

from __future__ import annotations

from screenloop.manager.supply.base import ReadyInstance
from screenloop.manager.supply.context import PoolContext
from screenloop.manager.supply.pool import Pool, Unit


class InstanceDesk:
    """Between a pool and those who want its Instances; nothing here waits."""

    def __init__(self, pool: Pool, around: PoolContext) -> None:
        self._pool = pool
        self._around = around

    def take_free(self, run_id: str) -> ReadyInstance | None:
        """Return a free Instance at once, if there is one."""
        unit = self._pool.pop_free()
        if unit is None:
            return None
        self.hold(unit, run_id)
        return self._pool.taken(unit, direct=self._around.direct)

    def hold(self, unit: Unit, run_id: str) -> None:
        """Note that a Run has an Instance, here and in the fair queue."""
        self._around.queue.fair.hold(self._pool.env, run_id, self._around.clock.now_s())
        self._pool.set_taken(unit, run_id)

    def give_back(self, unit: Unit, *, healthy: bool, reason: str, used: bool) -> None:
        """Take an Instance back that a Run had.

        Args:
            unit: the Instance.
            healthy: whether it may be used again.
            reason: what is wrong with it.
            used: whether an Episode may have run on it.
        """
        assert unit.run_id is not None
        self._around.queue.fair.let_go(self._pool.env, unit.run_id)
        self._pool.set_free(unit, self._around.clock.now_s(), used=used)
        if healthy:
            self.offer(unit)
        else:
            self._pool.set_failed(unit, reason or "it was given back as unhealthy")
            self._around.wake()

    def offer(self, unit: Unit) -> None:
        """Hand an Instance to whoever is next, or keep it for whoever comes."""
        if not self._pool.is_usable(unit):
            self._around.wake()
            return
        taken = self._pool.taken(unit, direct=self._around.direct)
        run_id = self._around.queue.offer(self._pool.env, taken)
        if run_id is None:
            self._pool.free[unit.now.instance] = unit
        else:
            # The queue has counted it already.
            self._pool.set_taken(unit, run_id)
