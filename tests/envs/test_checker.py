import itertools

import pytest
from msgspec.structs import replace

from screenloop.actions import Answer, Key, Tap
from screenloop.envs.checker import Trial, check_environment
from screenloop.envs.fake import FakeEnvironment, FakeFault
from screenloop.errors import EnvironmentFault
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.fake import FakeSuite
from screenloop.types import Evidence, Observation, Start, StepResult

SUITE = FakeSuite()
STARTS = [
    Start(task=SUITE.task("finish_note", 1)),
    Start(task=SUITE.task("note_the_counter", 2), mode="hybrid"),
]
QUICK = Trial(seed=3, actions=30, deadline_s=5, hang_s=5)


async def report_on(kind: type[FakeEnvironment], trial: Trial = QUICK, **options):
    blobs = MemoryBlobs()

    async def open_instance() -> FakeEnvironment:
        return kind(blobs, **options)

    return await check_environment(open_instance, STARTS, blobs=blobs, trial=trial)


async def test_the_fake_device_keeps_every_rule():
    report = await report_on(FakeEnvironment)
    report.raise_for_failures()
    assert len(report.findings) == 12
    assert all(finding.detail == "" for finding in report.findings)


async def test_rules_that_a_spec_does_not_promise_are_named_as_not_applicable():
    class Modest(FakeEnvironment):
        def __init__(self, blobs, **options):
            super().__init__(blobs, **options)
            self.spec = replace(self.spec, can_fork=False, actions=self.spec.actions - {"tap"})

    report = await report_on(Modest)
    report.raise_for_failures()
    skipped = [f.rule for f in report.findings if f.detail.startswith("not applicable")]
    assert skipped == [
        "evidence can be read",
        "stale frames are refused",
        "snapshots restore",
    ]


async def test_a_report_with_failures_raises_and_names_them():
    report = await report_on(Forgetful)
    with pytest.raises(EnvironmentFault, match="reset is exact"):
        report.raise_for_failures()


async def test_the_checker_needs_a_start():
    with pytest.raises(ValueError, match="at least one start"):
        await check_environment(lambda: None, [], blobs=MemoryBlobs())


# ---- one broken variant for each rule ------------------------------------------------------


class Forgetful(FakeEnvironment):
    """A reset that keeps what was done before."""

    async def reset(self, start, *, deadline_s: float) -> Observation:
        if self._session is not None and not isinstance(start, str):
            return await self.observe(deadline_s=deadline_s)
        return await super().reset(start, deadline_s=deadline_s)


class Moody(FakeEnvironment):
    """Each instance does something else from its third action on."""

    serial = itertools.count()

    def __init__(self, blobs, **options):
        super().__init__(blobs, **options)
        self.mood = next(Moody.serial)

    async def step(self, action, *, action_id: str, deadline_s: float) -> StepResult:
        if self.calls["step"] >= 2 and self.mood % 2:
            action = Key(name="home")
        return await super().step(action, action_id=action_id, deadline_s=deadline_s)


class Shared(FakeEnvironment):
    """All instances are one device."""

    shared: dict[str, object] = {}

    @property
    def _session(self):
        return Shared.shared.get("session")

    @_session.setter
    def _session(self, value):
        Shared.shared["session"] = value


class Blank(FakeEnvironment):
    """Frames that are no pictures."""

    def _frame(self, session) -> str:
        return self._blobs.put(b"no picture", "png")


class Shrunk(FakeEnvironment):
    """A spec that lies about the size."""

    def __init__(self, blobs, **options):
        super().__init__(blobs, **options)
        self._true_spec = self.spec
        self.spec = replace(self.spec, size_px=(320, 240))

    async def reset(self, start, *, deadline_s: float) -> Observation:
        lie, self.spec = self.spec, self._true_spec
        try:
            return await super().reset(start, deadline_s=deadline_s)
        finally:
            self.spec = lie


class Treeless(FakeEnvironment):
    """A declared want that is not served."""

    async def observe(self, want=("frame",), *, deadline_s: float) -> Observation:
        seen = await super().observe(want, deadline_s=deadline_s)
        return replace(seen, tree=None)


class Restless(FakeEnvironment):
    """Looking moves the clock on."""

    async def observe(self, want=("frame",), *, deadline_s: float) -> Observation:
        seen = await super().observe(want, deadline_s=deadline_s)
        now = replace(self._session.now, clock_s=self._session.now.clock_s + 1)
        self._session = replace(self._session, now=now)
        return seen


class Unreadable(FakeEnvironment):
    """Evidence that is not JSON."""

    async def evidence(self, *, deadline_s: float) -> Evidence:
        evidence = await super().evidence(deadline_s=deadline_s)
        return replace(evidence, after={"counter": {"value": object()}})


class Revising(FakeEnvironment):
    """What was before is overwritten by what is now."""

    async def evidence(self, *, deadline_s: float) -> Evidence:
        evidence = await super().evidence(deadline_s=deadline_s)
        return replace(evidence, before=evidence.after)


class Obliging(FakeEnvironment):
    """Unsupported actions pass as if they were done."""

    async def step(self, action, *, action_id: str, deadline_s: float) -> StepResult:
        if isinstance(action, Answer):
            action = Key(name="home")
        return await super().step(action, action_id=action_id, deadline_s=deadline_s)


class Careless(FakeEnvironment):
    """Frames are not compared."""

    async def step(self, action, *, action_id: str, deadline_s: float) -> StepResult:
        if isinstance(action, Tap):
            action = replace(action, frame=None)
        return await super().step(action, action_id=action_id, deadline_s=deadline_s)


class Thin(FakeEnvironment):
    """Snapshots without the log of what was done."""

    async def snapshot(self, *, deadline_s: float) -> str:
        key = await super().snapshot(deadline_s=deadline_s)
        kept = self._snapshots[key]
        self._snapshots[key] = replace(kept, start=kept.now)
        return key


class Fragile(FakeEnvironment):
    """Closing twice raises."""

    async def close(self) -> None:
        if self._is_closed:
            raise EnvironmentFault("already closed")
        await super().close()


class Buggy(FakeEnvironment):
    """Raises something outside the error tree."""

    async def observe(self, want=("frame",), *, deadline_s: float) -> Observation:
        raise KeyError("frame")


@pytest.mark.parametrize(
    ("kind", "rule", "said"),
    [
        (Forgetful, "reset is exact", "a second reset has state hash"),
        (Moody, "equal actions give equal runs", "after 3 actions"),
        (Shared, "instances are isolated", "while another acted"),
        (Blank, "frames are real", "is no picture"),
        (Shrunk, "frames are real", "the spec says (320, 240)"),
        (Treeless, "every declared part of the screen can be seen", "asked for tree"),
        (Restless, "observing changes nothing", "a second look"),
        (Unreadable, "evidence can be read", "not plain JSON"),
        (Revising, "evidence can be read", "what was before changed"),
        (Obliging, "actions outside the spec are refused", "answer is not in the spec"),
        (Careless, "stale frames are refused", "was not refused"),
        (Thin, "snapshots restore", "other evidence"),
        (Fragile, "closing twice is harmless", "already closed"),
        (Buggy, "observing changes nothing", "raised KeyError"),
    ],
)
async def test_a_broken_rule_is_found(kind: type[FakeEnvironment], rule: str, said: str):
    report = await report_on(kind)
    failed = {finding.rule: finding.detail for finding in report.failures}
    assert rule in failed, failed
    assert said in failed[rule]


async def test_a_call_that_ignores_its_deadline_is_found_hanging():
    deaf = FakeFault(operation="observe", kind="deaf")
    report = await report_on(
        FakeEnvironment, Trial(actions=5, deadline_s=5, hang_s=0.5), faults=(deaf,)
    )
    failed = {finding.rule: finding.detail for finding in report.failures}
    assert failed["deadlines are kept"] == (
        "observe with a deadline of 0.0005 s hangs: no end after 0.5 s"
    )
