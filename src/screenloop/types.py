"""The nouns: frozen structs that many packages share. See docs/concepts.md.

Task, Environment spec, Lease, Observation, Step, Evidence, Verdict, Episode record. Actions are in
`actions`, Checks in `criteria`, failures in `errors`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from screenloop.actions import Action, Finish
from screenloop.criteria import Check
from screenloop.errors import Blame

BlobKey = str
"""Name of bytes in the blob store: `sha256-<hex>.<suffix>`."""
SizePx = tuple[int, int]
"""Width, height."""
Mode = Literal["gui_only", "hybrid"]
"""Whether the foreground app's tools may be called."""
Want = Literal["frame", "tree", "text"]
"""A part of the screen that an Observation can carry."""
Surface = Literal["mobile", "desktop", "browser"]
"""How a device is worked: by touch, or by mouse and keyboard on a computer or in a page."""
Channel = Literal["gui", "tool", "system"]
"""How a change came about."""


class Struct(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of the nouns: frozen, keyword-only, closed JSON form."""


class RuleFinding(Struct, frozen=True, kw_only=True):
    """How one rule of a contract came out."""

    rule: str
    passed: bool
    detail: str = ""
    """What was seen instead, or why the rule does not apply."""


# ---- tasks ---------------------------------------------------------------------------------


class EnvRef(Struct, frozen=True, kw_only=True):
    """Which Environment a Task needs."""

    kind: str
    size_px: SizePx


class World(Struct, frozen=True, kw_only=True):
    """The initial state: a named world, its seed, and patches on top."""

    name: str = "default"
    seed: int = 0
    patches: tuple[dict[str, Any], ...] = ()


class Goal(Struct, frozen=True, kw_only=True):
    """What the user wants, in words."""

    text: Annotated[str, Meta(min_length=1)]
    lang: str = "en"


class Budget(Struct, frozen=True, kw_only=True):
    """Limits of one Episode; `None` is no limit."""

    steps: int = 30
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


class Task(Struct, frozen=True, kw_only=True):
    """The contract x = (E, s0, g, V); immutable. One instance of a template has one seed."""

    id: str
    """`suite/name@version`."""
    seed: int = 0
    """Which instance of the template."""
    env: EnvRef
    world: World = World()
    goal: Goal
    params: dict[str, Any] = {}
    """What the template filled into goal, checks and golden."""
    checks: Annotated[tuple[Check, ...], Meta(min_length=1)]
    allowed: tuple[str, ...] = ()
    """Side effects that are fine: `app`, `app.table` or `app.table.field` patterns."""
    golden: tuple[Action, ...] = ()
    """A solution as tool calls and answers; empty where none is known."""
    tags: dict[str, str] = {}
    """At least `domain` and `difficulty`; `apps` joined by `+`."""
    budget: Budget = Budget()
    optimal_steps: int | None = None
    """Length of the shortest GUI path known."""

    @property
    def key(self) -> str:
        """Name of this instance: `suite/name@version#seed`."""
        return f"{self.id}#{self.seed}"

    @property
    def suite(self) -> str:
        return self.id.partition("/")[0]


class Start(Struct, frozen=True, kw_only=True):
    """What `reset` brings an Instance to."""

    task: Task
    mode: Mode = "gui_only"


SnapshotKey = Annotated[str, Meta(pattern="^snap-")]
"""Name of a state kept by an Instance; `reset(key)` restores or forks it."""


# ---- environments --------------------------------------------------------------------------


class ToolSpec(Struct, frozen=True, kw_only=True):
    """One app-native tool: dotted name, sentence, JSON schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class EnvSpec(Struct, frozen=True, kw_only=True):
    """What an Environment is and can do."""

    kind: str
    surface: Surface
    """Which of a model family's action sets is used."""
    size_px: SizePx
    actions: frozenset[str]
    """Wire names of the Actions it executes."""
    wants: frozenset[Want] = frozenset({"frame"})
    can_fork: bool = False
    apps: tuple[str, ...] = ()
    """Names that `open` accepts."""
    tools: tuple[ToolSpec, ...] = ()


class Observation(Struct, frozen=True, kw_only=True):
    """What can be seen now, as blob keys."""

    frame: BlobKey | None = None
    tree: BlobKey | None = None
    text: BlobKey | None = None
    size_px: SizePx
    app: str = ""
    """The foreground app's id (on the web: the URL)."""
    tools: tuple[str, ...] = ()
    """Names of the tools that can be called now."""
    clock_s: float = 0.0
    """The Environment's own clock, seconds since its epoch."""
    state_hash: str | None = None
    """Hash of the whole device state, where the Environment can tell."""
    scene_hash: str | None = None
    """The same without the clock: equal for the same scene reached at another time."""
    goal: str | None = None
    """The goal that the Environment announces after a reset, where only it can know it."""
    done: bool = False
    """Whether the Environment came to its own end (a benchmark page that closes itself)."""


class Effect(Struct, frozen=True, kw_only=True):
    """What an Action did."""

    ok: bool
    code: str = ""
    """Short name of why not, or of what happened (`nothing_here`, `stale_frame`, ...)."""
    message: str = ""
    executed: str = ""
    """What was done in the device's own terms, for people (`tap 206,457 on 'Save'`)."""
    result: Any = None
    """A tool's or command's result."""
    took_ms: float = 0.0


class StepResult(Struct, frozen=True, kw_only=True):
    """An Action's effect and the Observation after it."""

    effect: Effect
    observation: Observation
    changes: tuple[DiffRow, ...] = ()
    """What the Action changed in the business state, where the Environment can tell."""


class DiffRow(Struct, frozen=True, kw_only=True):
    """One difference between the business state before and now."""

    app: str
    table: str
    """Table name, or the scalar field's name."""
    id: str = ""
    """Row id; empty for a scalar field."""
    field: str = ""
    """Field of the row; empty for a whole row or a scalar."""
    op: Literal["add", "remove", "set"]
    before: Any = None
    after: Any = None
    action_id: str = ""
    channel: Channel = "gui"


class Evidence(Struct, frozen=True, kw_only=True):
    """What a verifier may read: the business state before and after, and what lies between."""

    before: dict[str, Any]
    """`{app: data}` right after the reset."""
    after: dict[str, Any]
    diff: tuple[DiffRow, ...] = ()
    native: dict[str, Any] = {}
    """A benchmark's own score, raw."""


class Claim(Struct, frozen=True, kw_only=True):
    """What the agent claims: its last answer and how it finished."""

    answer: str | None = None
    finish: Finish | None = None


# ---- verdicts ------------------------------------------------------------------------------


class CheckResult(Struct, frozen=True, kw_only=True):
    """How one Check came out."""

    says: str
    passed: bool
    weight: float
    critical: bool
    detail: str = ""


class Unscored(Struct, frozen=True, kw_only=True):
    """Why an attempt has no score."""

    blame: Blame
    stage: str
    """acquire, reset, observe, step, evaluate, model."""
    reason: str


class Verdict(Struct, frozen=True, kw_only=True):
    """The judgement: reward r = sum(w b) / sum(w), success S = all critical checks pass."""

    reward: float = 0.0
    success: bool = False
    checks: tuple[CheckResult, ...] = ()
    side_effects: tuple[DiffRow, ...] = ()
    """Changes that neither the checks nor `allowed` account for."""
    native: dict[str, Any] = {}
    unscored: Unscored | None = None


# ---- leases --------------------------------------------------------------------------------


class Lease(Struct, frozen=True, kw_only=True):
    """The exclusive, expiring right to use an Instance."""

    id: str
    fence: int
    """Grows with each grant of the Instance; every operation shows it."""
    instance: str
    expires_s: float
    spec: EnvSpec
    host_url: str = ""
    """Where the Instance's host answers by itself; empty when operations go through the manager."""


# ---- episodes ------------------------------------------------------------------------------


class EndReason(StrEnum):
    """How an Episode ended."""

    FINISHED = "finished"
    """The agent said so."""
    DONE = "done"
    """The Environment reached its own end (a benchmark page that closes itself)."""
    STEP_LIMIT = "step_limit"
    TOKEN_LIMIT = "token_limit"
    COST_LIMIT = "cost_limit"
    TIME_LIMIT = "time_limit"
    LOOP = "loop"
    """The same screens and actions kept repeating."""
    AGENT_ERROR = "agent_error"
    """The agent could not go on: its script is at its end, its prompt no longer fits."""
    PARSE_ERRORS = "parse_errors"
    """Too many unreadable replies in a row."""
    FAULT = "fault"
    """A failure not blamed on the agent; the Verdict is unscored."""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one model call; `None` where the server does not say."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    cost_usd: float | None = None


class Step(Struct, frozen=True, kw_only=True):
    """One turn: what was seen, what was replied, what was done."""

    index: int
    observation: Observation
    reply: str = ""
    call_id: str | None = None
    actions: tuple[Action, ...] = ()
    effects: tuple[Effect, ...] = ()
    parse_error: str | None = None
    changes: tuple[DiffRow, ...] = ()
    """What the step changed in the business state, where the Environment can tell."""
    took_s: float = 0.0
