"""What a manager counts and times, as Prometheus metrics."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from screenloop.errors import Blame, Busy, ScreenloopError, TaskError
from screenloop.manager.journal.base import LeaseRecord
from screenloop.manager.wire.bodies import PoolStatus

_FAST_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120)
_SLOW_S = (0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640)


class Metrics:
    """An Observer; the labels are few: environment kind, operation, blame."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.faults: dict[str, int] = {}
        """Failed operations by blame."""
        self.evaluated = 0
        self.unscored = 0
        """Leases lost, and verdicts that a broken task or verifier prevented."""
        self._lease_wait = self._histogram(
            "lease_wait_seconds", "From the request to the lease", ("kind",), _SLOW_S
        )
        self._start = self._histogram(
            "instance_start_seconds", "From the order to a ready Instance", ("kind",), _SLOW_S
        )
        self._operations = {
            name: self._histogram(f"{name}_seconds", f"Time of a {name}", ("kind",), _FAST_S)
            for name in ("reset", "observe", "step", "evaluate")
        }
        self._faults = Counter(
            "screenloop_faults",
            "Operations that failed",
            ("kind", "stage", "blame"),
            registry=self.registry,
        )
        self._busy = Counter(
            "screenloop_lease_requests_busy",
            "Requests for a lease told to come again",
            ("kind",),
            registry=self.registry,
        )
        self._lost = Counter(
            "screenloop_leases_lost",
            "Leases that ended before they were given back",
            ("kind",),
            registry=self.registry,
        )

    def leased(self, kind: str, waited_s: float, error: BaseException | None) -> None:
        """Count a request for a Lease; one that is told to come again is no fault."""
        if error is None:
            self._lease_wait.labels(kind).observe(waited_s)
        elif isinstance(error, Busy):
            self._busy.labels(kind).inc()
        else:
            self._fault(kind, "acquire", error)

    def operated(
        self,
        lease: LeaseRecord,
        name: str,
        seconds: float,
        error: BaseException | None,
        action_id: str,
    ) -> None:
        kind = lease.env.kind
        self._operations[name].labels(kind).observe(seconds)
        if error is not None:
            self._fault(kind, name, error)
        elif name == "evaluate":
            self.evaluated += 1

    def started(self, kind: str, seconds: float) -> None:
        self._start.labels(kind).observe(seconds)

    def lost(self, lease: LeaseRecord, reason: str) -> None:
        self._lost.labels(lease.env.kind).inc()
        self.unscored += 1

    def watch(self, pools: Callable[[], Iterable[PoolStatus]], leases: Callable[[], int]) -> None:
        """Have gauges of pools and Leases read when they are asked for."""
        self.registry.register(_Gauges(self, pools, leases))

    def text(self) -> bytes:
        return generate_latest(self.registry)

    def _fault(self, kind: str, stage: str, error: BaseException) -> None:
        blame = error.blame if isinstance(error, ScreenloopError) else Blame.INFRASTRUCTURE
        self._faults.labels(kind, stage, blame.value).inc()
        self.faults[blame.value] = self.faults.get(blame.value, 0) + 1
        # Any other failure costs the Lease, and is counted with it.
        if stage == "evaluate" and isinstance(error, TaskError):
            self.unscored += 1

    def _histogram(
        self, name: str, says: str, labels: tuple[str, ...], bounds: tuple[float, ...]
    ) -> Histogram:
        return Histogram(f"screenloop_{name}", says, labels, buckets=bounds, registry=self.registry)


class _Gauges(Collector):
    """Reads what changes by itself."""

    def __init__(
        self, metrics: Metrics, pools: Callable[[], Iterable[PoolStatus]], leases: Callable[[], int]
    ) -> None:
        self._metrics = metrics
        self._pools = pools
        self._leases = leases

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("screenloop_leases", "Leases held", value=self._leases())
        instances = GaugeMetricFamily(
            "screenloop_pool_instances", "Instances of a pool by state", labels=("kind", "state")
        )
        hosts = GaugeMetricFamily("screenloop_pool_hosts", "Hosts of a pool", labels=("kind",))
        waiting = GaugeMetricFamily(
            "screenloop_pool_waiting", "Requests that nothing is free for", labels=("kind",)
        )
        # A kind may have pools of several sizes; a series must not come twice.
        counts: dict[str, Tally[str]] = {}
        for pool in self._pools():
            counts.setdefault(pool.env.kind, Tally()).update(
                free=pool.ready - pool.taken,
                leased=pool.taken,
                starting=pool.starting,
                quarantined=pool.quarantined,
                hosts=pool.hosts,
                waiting=pool.waiting,
            )
        for kind, count in counts.items():
            for state in ("free", "leased", "starting", "quarantined"):
                instances.add_metric((kind, state), count[state])
            hosts.add_metric((kind,), count["hosts"])
            waiting.add_metric((kind,), count["waiting"])
        yield from (instances, hosts, waiting)
        metrics = self._metrics
        over = metrics.evaluated + metrics.unscored
        yield GaugeMetricFamily(
            "screenloop_unscored_ratio",
            "Share of attempts that ended without a verdict",
            value=metrics.unscored / over if over else 0.0,
        )
