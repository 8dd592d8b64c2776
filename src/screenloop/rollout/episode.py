"""The one path of an Episode, from acquire to Verdict.

Evaluating, collecting and training all come through here. Failures are classified here and
nowhere else: the agent's own are scored; every other one leaves the attempt unscored, with the
blame, the stage and the reason.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from screenloop.agent.base import Agent, Assignment, Turn
from screenloop.errors import (
    AgentError,
    Blame,
    ConfigError,
    DeadlinePassed,
    EnvironmentFault,
    ScreenloopError,
)
from screenloop.models.usage import add_usage
from screenloop.rollout.context import Attempt, RunContext
from screenloop.rollout.executor import ActionExecutor
from screenloop.rollout.limits import Spent, Turned, is_loop, limit_reached, turned
from screenloop.store.episodes import EndRecord, EpisodeLog, StartRecord, StepRecord, VerdictRecord
from screenloop.types import (
    EndReason,
    EnvSpec,
    Goal,
    Lease,
    Observation,
    Start,
    Step,
    Struct,
    Unscored,
    Usage,
    Verdict,
    Want,
)

_log = logging.getLogger(__name__)


class Ending(Struct, frozen=True, kw_only=True):
    """How an attempt ended and what it is worth."""

    verdict: Verdict
    end: EndRecord

    @property
    def may_retry(self) -> bool:
        """Whether another attempt may go better: neither the agent nor the task is to blame."""
        unscored = self.verdict.unscored
        return unscored is not None and unscored.blame in (Blame.ENVIRONMENT, Blame.INFRASTRUCTURE)


@dataclass
class _Tally:
    """What an attempt has come to so far."""

    began_s: float
    stage: str = "acquire"
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    parse_errors_in_row: int = 0
    final: Observation | None = None
    history: list[Turned] = field(default_factory=list)

    def add(self, step: Step, usage: Usage) -> None:
        self.steps += 1
        self.usage = add_usage(self.usage, usage)
        self.parse_errors_in_row = self.parse_errors_in_row + 1 if step.parse_error else 0
        self.history.append(turned(step))


async def run_episode(
    attempt: Attempt, agent: Agent, setting: RunContext, writer: EpisodeLog
) -> Ending:
    """Play one attempt and write every record as it happens.

    A cancelled attempt leaves its file without an end, which is no result.

    Raises:
        ConfigError: a name or setting is wrong; the Run cannot go on.
        InfraFault: the episode file cannot be written.
    """
    tally = _Tally(began_s=setting.clock())
    writer.write(_start_record(attempt, setting.wall()))
    try:
        async with _leased(attempt, setting) as lease:
            await _prepare(attempt, setting, tally)
            hands = await _reset(attempt, agent, setting, tally, lease)
            reason, detail = await _play(attempt, agent, setting, tally, hands, writer)
            tally.stage = "evaluate"
            verdict = await setting.manager.evaluate(
                lease, hands.claim, deadline_s=setting.deadlines.evaluate_s
            )
    except ConfigError:
        # A wrong setting spoils every Episode alike: it ends the Run.
        raise
    except Exception as error:
        verdict = Verdict(unscored=_unscored(error, tally.stage))
    if verdict.unscored is not None:
        reason, detail = EndReason.FAULT, verdict.unscored.reason
    end = EndRecord(
        reason=reason,
        detail=detail,
        steps=tally.steps,
        usage=tally.usage,
        seconds=setting.clock() - tally.began_s,
        final=tally.final,
    )
    writer.write(VerdictRecord(verdict=verdict))
    writer.write(end)
    return Ending(verdict=verdict, end=end)


async def _play(
    attempt: Attempt,
    agent: Agent,
    setting: RunContext,
    tally: _Tally,
    hands: ActionExecutor,
    writer: EpisodeLog,
) -> tuple[EndReason, str]:
    """Take turns until something ends the Episode; returns what, and a word about it."""
    turn = Turn(step_index=0, observation=hands.observation)
    while (reason := _why_end(attempt, setting, tally, hands)) is None:
        began_s = setting.clock()
        tally.stage = "model"
        try:
            async with _deadline("the agent's decision", setting.deadlines.decide_s):
                decision = await agent.decide(turn, deadline_s=setting.deadlines.decide_s)
        except AgentError as error:
            return EndReason.AGENT_ERROR, str(error)
        if decision.call is not None:
            writer.write(decision.call)
        seen = hands.observation
        tally.stage = "step"
        effects = await hands.carry_out(turn.step_index, decision.actions)
        tally.final = hands.observation
        step = Step(
            index=turn.step_index,
            observation=seen,
            reply=decision.reply,
            call_id=decision.call.call_id if decision.call else None,
            actions=decision.actions,
            effects=effects,
            parse_error=decision.parse_error,
            changes=hands.changes,
            took_s=setting.clock() - began_s,
        )
        writer.write(StepRecord(step=step))
        tally.add(step, decision.call.usage if decision.call else Usage())
        _require_seen(hands.observation, setting.want, hands.spec)
        turn = Turn(
            step_index=turn.step_index + 1,
            observation=hands.observation,
            effects=effects,
            parse_error=decision.parse_error,
            ask_reply=hands.ask_reply,
        )
    return reason, ""


def _why_end(
    attempt: Attempt, setting: RunContext, tally: _Tally, hands: ActionExecutor
) -> EndReason | None:
    """Return why the Episode ends now, or `None` to go on."""
    if hands.claim.finish is not None:
        return EndReason.FINISHED
    if hands.observation.done:
        return EndReason.DONE
    if tally.parse_errors_in_row >= attempt.retry.parse_errors_in_row:
        return EndReason.PARSE_ERRORS
    if is_loop(tally.history, attempt.retry.loop_repeats):
        return EndReason.LOOP
    seconds = setting.clock() - tally.began_s
    return limit_reached(
        attempt.budget, Spent(steps=tally.steps, usage=tally.usage, seconds=seconds)
    )


# ---- before the first turn -----------------------------------------------------------------


@asynccontextmanager
async def _leased(attempt: Attempt, setting: RunContext) -> AsyncIterator[Lease]:
    async with _deadline("acquiring an Instance", setting.deadlines.acquire_s):
        lease = await setting.manager.acquire(
            attempt.task.env, attempt.run_id, ttl_s=setting.deadlines.lease_ttl_s
        )
    try:
        yield lease
    finally:
        try:
            await setting.manager.release(lease)
        except ScreenloopError as error:
            # What the attempt came to stands; a Lease that is not given back expires by itself.
            _log.warning("lease %s was not given back: %s", lease.id, error)


async def _prepare(attempt: Attempt, setting: RunContext, tally: _Tally) -> None:
    if setting.prepare is None:
        return
    tally.stage = "plan"
    async with _deadline("the oracle's plan", setting.deadlines.prepare_s):
        await setting.prepare(attempt.episode_id, attempt.task, attempt.mode)


async def _reset(
    attempt: Attempt, agent: Agent, setting: RunContext, tally: _Tally, lease: Lease
) -> ActionExecutor:
    """Bring the Instance to the Task's start and tell the agent what it is to do."""
    tally.stage = "reset"
    task = attempt.task
    observation = await setting.manager.reset(
        lease, Start(task=task, mode=attempt.mode), deadline_s=setting.deadlines.reset_s
    )
    _require_seen(observation, setting.want, lease.spec)
    words = observation.goal
    agent.begin(
        Assignment(
            episode_id=attempt.episode_id,
            goal=task.goal if words is None else Goal(text=words, lang=task.goal.lang),
            spec=lease.spec,
            mode=attempt.mode,
            seed=attempt.seed,
        )
    )
    return ActionExecutor(setting, lease, attempt.episode_id, observation)


def _require_seen(observation: Observation, want: Sequence[Want], spec: EnvSpec) -> None:
    """Refuse to let the agent act blind where the Environment can show what is wanted."""
    if observation.done:
        return
    for part in want:
        if part in spec.wants and getattr(observation, part) is None:
            name = "screenshot" if part == "frame" else part
            raise EnvironmentFault(f"the observation has no {name}")


def _start_record(attempt: Attempt, started_at: float) -> StartRecord:
    return StartRecord(
        episode_id=attempt.episode_id,
        run_id=attempt.run_id,
        task=attempt.task,
        repeat=attempt.repeat,
        attempt=attempt.attempt,
        mode=attempt.mode,
        config_hash=attempt.config_hash,
        harness_hash=attempt.harness_hash,
        started_at=started_at,
    )


# ---- failures ------------------------------------------------------------------------------


def _unscored(error: Exception, stage: str) -> Unscored:
    """Classify a failure that ended an attempt.

    An error that nobody raised on purpose is a defect of this program or of a plug-in: it costs
    this attempt, not the Run, and is counted as infrastructure with the place where it happened.
    """
    if not isinstance(error, ScreenloopError):
        where = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__}: {error} (at {where.name}, line {where.lineno})"
        return Unscored(blame=Blame.INFRASTRUCTURE, stage=stage, reason=reason)
    # A refusal outside of an Action is not the agent's doing.
    blame = Blame.ENVIRONMENT if error.blame is Blame.AGENT else error.blame
    return Unscored(blame=blame, stage=stage, reason=f"{type(error).__name__}: {error}")


@asynccontextmanager
async def _deadline(what: str, seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError as error:
        if not timer.expired() or isinstance(error, DeadlinePassed):
            raise
        raise DeadlinePassed(f"{what} took longer than {seconds:g} s") from error
