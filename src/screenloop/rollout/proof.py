"""Proof that a Task's verifier is right: three states, a path by touch, and mutants.

A Task is accepted only if the verifier gives r = 0 and S = false on the initial state, r = 1 and
S = true after the golden solution (by tools, and by touch alone), r = 0 after a reset, and rejects
every mutant of the golden end state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from screenloop.actions import Action, Answer, Finish
from screenloop.envs.base import Environment
from screenloop.envs.kinds import Environments, Opener
from screenloop.errors import ConfigError, ScreenloopError
from screenloop.rollout.plans import golden_plan
from screenloop.store.blobs import MemoryBlobs
from screenloop.suites.catalog import find_suite, select
from screenloop.types import Claim, Evidence, Mode, Start, Struct, Task, Verdict
from screenloop.verify.mutants import Mutant, mutants
from screenloop.verify.verifiers import Verifiers

DEADLINE_S = 60.0


class TaskProof(Struct, frozen=True, kw_only=True):
    """How one Task came out."""

    task: str
    reasons: tuple[str, ...] = ()
    """Why it is rejected; empty when accepted."""
    mutants: int = 0
    killed: int = 0
    steps: int = 0
    """Length of the path by touch, the finish not counted."""

    @property
    def accepted(self) -> bool:
        return not self.reasons


class SuiteProof(Struct, frozen=True, kw_only=True):
    """How a suite came out."""

    suite: str
    tasks: int
    accepted: int
    rejected: int
    mutants: int
    mutants_killed: int


class _Ended(Struct, frozen=True, kw_only=True):
    """A state and claim to judge."""

    evidence: Evidence
    claim: Claim
    failed: str = ""
    """The first Action that did not work."""


async def prove_task(task: Task, opener: Opener, verifiers: Verifiers) -> TaskProof:
    """Prove one Task on a fresh Instance; checks that are code run in the verifiers' workers."""
    env = await opener.open(task.env)
    try:
        return await _prove(task, env, verifiers)
    except ScreenloopError as error:
        return TaskProof(task=task.key, reasons=(f"{type(error).__name__}: {error}",))
    finally:
        await env.close()


async def _prove(task: Task, env: Environment, verifiers: Verifiers) -> TaskProof:
    async def judged(ended: _Ended | Mutant) -> Verdict:
        return await verifiers.judge(task, ended.evidence, ended.claim, deadline_s=DEADLINE_S)

    reasons: list[str] = []
    first = await _play(task, env, "gui_only", ())
    _want_nothing(await judged(first), "on the initial state", reasons)
    steps = 0
    golden = first
    modes: tuple[Mode, ...] = (
        ("hybrid", "gui_only") if "tool" in env.spec.actions else ("gui_only",)
    )
    for mode in modes:
        plan = await golden_plan(task, mode)
        golden = await _play(task, env, mode, plan)
        _want_all(
            await judged(golden), golden.failed, f"after the golden solution in {mode}", reasons
        )
        steps = sum(not isinstance(action, Finish) for action in plan)
    again = await _play(task, env, "gui_only", ())
    _want_nothing(await judged(again), "after a reset", reasons)
    made = killed = 0
    for mutant in mutants(task, golden.evidence, golden.claim) if not reasons else ():
        made += 1
        if (await judged(mutant)).success:
            reasons.append(f"a wrong ending counts as success: {mutant.name}")
        else:
            killed += 1
    return TaskProof(
        task=task.key, reasons=tuple(reasons), mutants=made, killed=killed, steps=steps
    )


async def _play(task: Task, env: Environment, mode: Mode, plan: tuple[Action, ...]) -> _Ended:
    await env.reset(Start(task=task, mode=mode), deadline_s=DEADLINE_S)
    claim = Claim()
    failed = ""
    for number, action in enumerate(plan):
        if isinstance(action, Answer):
            claim = Claim(answer=action.text)
        elif isinstance(action, Finish):
            claim = Claim(answer=claim.answer, finish=action)
        else:
            result = await env.step(action, action_id=f"proof/{number}", deadline_s=DEADLINE_S)
            if not result.effect.ok and not failed:
                failed = f"step {number} {result.effect.executed}: {result.effect.message}"
    return _Ended(evidence=await env.evidence(deadline_s=DEADLINE_S), claim=claim, failed=failed)


def _want_nothing(verdict: Verdict, when: str, reasons: list[str]) -> None:
    if verdict.success or verdict.reward != 0:
        passed = [check.says for check in verdict.checks if check.passed and check.weight]
        reasons.append(f"{when} r = {verdict.reward:g} and S = {verdict.success}: {passed}")


def _want_all(verdict: Verdict, failed_step: str, when: str, reasons: list[str]) -> None:
    if failed_step:
        reasons.append(f"{when}: {failed_step}")
    if not verdict.success or verdict.reward != 1:
        failed = [f"{c.says} ({c.detail})" for c in verdict.checks if not c.passed]
        reasons.append(f"{when} r = {verdict.reward:g} and S = {verdict.success}: {failed}")


async def prove_suite(
    suite_name: str, glob: str, seed: int, *, tell: Callable[[TaskProof], None]
) -> tuple[TaskProof, ...]:
    """Prove the tasks of a suite one after another; `tell` hears of each.

    Raises:
        ConfigError: the suite is unknown, no task fits, or one has no golden solution.
    """
    tasks = select(find_suite(suite_name), glob=glob, seed=seed)
    unknown = [task.id for task in tasks if not task.golden]
    if unknown:
        raise ConfigError(f"{unknown[0]} has no golden solution, so its verifier has no proof.")
    environments, verifiers = Environments(MemoryBlobs()), Verifiers()
    proofs = []
    try:
        for task in tasks:
            proofs.append(await prove_task(task, environments, verifiers))
            tell(proofs[-1])
    finally:
        await verifiers.close()
        await environments.close()
    return tuple(proofs)


def summary(suite: str, proofs: Iterable[TaskProof]) -> SuiteProof:
    """Return the sums over a suite."""
    all_proofs = tuple(proofs)
    accepted = sum(proof.accepted for proof in all_proofs)
    return SuiteProof(
        suite=suite,
        tasks=len(all_proofs),
        accepted=accepted,
        rejected=len(all_proofs) - accepted,
        mutants=sum(proof.mutants for proof in all_proofs),
        mutants_killed=sum(proof.killed for proof in all_proofs),
    )
