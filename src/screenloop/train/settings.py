"""What a training run learns with, and the refusal of combinations that cannot learn; pure.

Everything is refused before anything runs, saying what to change.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta

from screenloop.errors import ConfigError
from screenloop.messages import Sampling
from screenloop.registry import entries, find, unknown
from screenloop.types import Struct

Attempts = Annotated[int, Meta(ge=1)]
Weight = Annotated[float, Meta(ge=0.0)]

ESTIMATORS = (
    *("grpo", "dr_grpo", "rloo", "reinforce++", "reinforce++_baseline", "ppo", "gigpo", "hgpo"),
)
"""How advantages are estimated; a dotted path `package.module:function` is a name as well."""
RELATIVE = frozenset(ESTIMATORS) - {"ppo", "reinforce++"}
"""Estimators that compare the attempts of a group."""
STEPWISE: frozenset[str] = frozenset({"gigpo", "hgpo"})
"""Estimators that give credit to steps."""
Share = Annotated[float, Meta(ge=0.0, le=1.0)]

S = TypeVar("S", bound=Struct)


Normalise = Literal["none", "std"]
"""Whether a difference to the mean is divided by the group's standard deviation."""
AnchorKind = Literal["state", "frame", "perceptual"]
"""The Environment's own hash of its state without the clock, the exact frame, or a hash of its
coarse look."""
Aggregation = Literal[
    "token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"
]
"""How tokens weigh; names as in verl's `agg_loss`."""
KlKind = Literal["k1", "k2", "k3", "k1+", "k3+"]
"""Which estimator; `+` takes its value and the gradient of k2."""
Statistics = Literal["attempt", "token"]
"""What weighs alike in a batch statistic: each attempt (row), or each token (length bias)."""
Level = Literal["token", "sequence"]
RejectionStatistic = Literal[
    "token_k1",
    "token_k2",
    "token_k3",
    "seq_sum_k1",
    "seq_sum_k2",
    "seq_sum_k3",
    "seq_mean_k1",
    "seq_mean_k2",
    "seq_mean_k3",
    "seq_max_k2",
    "seq_max_k3",
]
"""Divergence of a token, or of a sequence by sum, mean or maximum; names as in verl."""
LOSSES = ("ppo", "gspo", "cispo", "reinforce")
"""Which policy loss; a dotted path `package.module:function` is a name as well."""


def _require_name(field: str, what: str, name: str, names: Collection[str]) -> None:
    """Refuse a name that is neither built in, nor added by a package, nor a dotted path."""
    added = [entry.name for entry in entries(what, {})]
    if name not in (*names, *added) and ":" not in name:
        raise ValueError(str(unknown(field, name, [*names, *added])))


class AdvantageSettings(Struct, frozen=True, kw_only=True):
    """Advantages."""

    estimator: str = "grpo"
    """One of `ESTIMATORS`, or a function from an `EstimatorInput` to advantages, by its dotted path
    or the name that its package adds."""
    statistics: Statistics = "attempt"
    """What weighs alike where a batch is whitened (`ppo`, `reinforce++`)."""
    gamma: Share | None = None
    """Discount; `None` is 1 for tokens and 0.95 for steps (`gigpo`, `hgpo`)."""
    lam: Share = 1.0
    """Lambda of GAE (`ppo`)."""
    omega: Annotated[float, Meta(ge=0.0)] = 1.0
    """Weight of the step part (`gigpo`)."""
    normalise: Normalise | None = None
    """Division by the standard deviation in step credit; `None` is off in `gigpo`, on in `hgpo`."""
    pool_steps: bool = False
    """Whether episode statistics count steps (`gigpo`)."""
    history: Annotated[int, Meta(ge=0)] = 2
    """States before the anchor that must agree, at most (`hgpo`)."""
    alpha: float = 1.0
    """How much longer agreement weighs (`hgpo`)."""
    anchor: AnchorKind = "state"

    def __post_init__(self) -> None:
        _require_name("advantage.estimator", "estimator", self.estimator, ESTIMATORS)

    @property
    def discount(self) -> float:
        if self.gamma is not None:
            return self.gamma
        return 0.95 if self.estimator in STEPWISE else 1.0


class KlSettings(Struct, frozen=True, kw_only=True):
    """The pull towards the reference policy."""

    place: Literal["off", "loss", "reward"] = "off"
    """In the loss it is a term with a gradient; in the reward each sampled token pays for it."""
    kind: KlKind | None = None
    """`None` is k3 in the loss and k1 in the reward, as in the reference functions."""
    coefficient: Annotated[float, Meta(ge=0.0)] = 1e-3

    @property
    def estimator(self) -> KlKind:
        if self.kind is not None:
            return self.kind
        return "k1" if self.place == "reward" else "k3"


class Rejection(Struct, frozen=True, kw_only=True):
    """What is left out of the loss.

    k1 = log pi_rollout - log pi_old is kept inside [log low, log high]; k2 and k3 are kept up to
    `high`. A sequence statistic keeps or leaves out the whole row.
    """

    statistic: RejectionStatistic = "token_k3"
    high: Annotated[float, Meta(gt=0.0)] = 0.01
    low: Annotated[float, Meta(gt=0.0)] | None = None
    """Of k1 only; `None` is 1 / high."""

    def __post_init__(self) -> None:
        """Refuse bounds that no token can meet."""
        if self.statistic.endswith("k1"):
            low = 1 / self.high if self.low is None else self.low
            if low > self.high:
                raise ValueError(
                    f"rejection by {self.statistic}: low {low:g} is above high {self.high:g}"
                )
        elif self.low is not None:
            raise ValueError(
                f"rejection by {self.statistic} has no lower bound; leave `low` out, or take a k1"
            )


class MismatchSettings(Struct, frozen=True, kw_only=True):
    """What is done about rollout and trainer not being quite the same policy."""

    weights: Level | None = None
    """Level of the importance weights; `None` is none."""
    high: Annotated[float, Meta(gt=0.0)] = 2.0
    low: Annotated[float, Meta(gt=0.0)] | None = None
    """With it, weights outside are 0 instead of cut."""
    reject: tuple[Rejection, ...] = ()


class Clip(Struct, frozen=True, kw_only=True):
    """How far the ratio to the old policy may go."""

    low: float = 0.2
    """Ratios below 1 - low are clipped."""
    high: float = 0.2
    """Ratios above 1 + high are clipped; DAPO's clip-higher is 0.28 (arXiv:2503.14476)."""
    dual: float | None = 3.0
    """c of the dual clip (arXiv:1912.09729) for negative advantages; `None` is off."""

    def __post_init__(self) -> None:
        """Refuse bounds that clip everything or nothing."""
        if not 0 <= self.low < 1 or self.high < 0:
            raise ValueError(
                f"clip low {self.low:g} must lie in [0, 1) and high {self.high:g} at 0 or above"
            )
        if self.dual is not None and self.dual <= 1:
            raise ValueError(f"dual clip {self.dual:g} must be above 1 (usually 3), or null")


class LossSettings(Struct, frozen=True, kw_only=True):
    """The policy loss."""

    kind: str = "ppo"
    """One of `LOSSES`, or a function with the arguments of `ppo_loss`, by its dotted path or the
    name that its package adds."""
    clip: Clip | None = None
    """`None` is the usual clip of the kind."""
    aggregation: Aggregation = "token-mean"
    by_attempt: bool = True
    """Whether a sequence is an attempt with all its windows, or each window."""
    length: int | None = None
    """The fixed length of `seq-mean-token-sum-norm`."""
    entropy: Annotated[float, Meta(ge=0.0)] = 0.0
    """Coefficient of the entropy bonus."""

    def __post_init__(self) -> None:
        _require_name("loss.kind", "loss", self.kind, LOSSES)


class ValueSettings(Struct, frozen=True, kw_only=True):
    """The value head of PPO. It shares the policy's network, which learns from its loss too."""

    coefficient: Annotated[float, Meta(gt=0.0)] = 0.5
    """Of the value loss beside the policy loss."""
    clip: Annotated[float, Meta(gt=0.0)] = 0.5
    """A value that moves further in one update earns nothing for it."""
    learning_rate: Annotated[float, Meta(gt=0.0)] = 1e-3
    """Of the head alone."""


class RewardSettings(Struct, frozen=True, kw_only=True):
    """What counts how much; everything but the outcome is off unless asked for."""

    outcome: Literal["success", "reward"] = "success"
    """The outcome is S (0 or 1), or the share r of weighted checks that pass."""
    outcome_weight: Weight = 1.0
    step_weights: dict[str, Weight] = {}
    """Source of step rewards to the weight of its sum over the Episode."""
    invalid_cost: Weight = 0.0
    """Taken off for each step whose reply could not be read or whose Action was refused."""
    efficiency_weight: Weight = 0.0
    """Weight of optimal_steps / steps, earned by successes only."""


class CurriculumSettings(Struct, frozen=True, kw_only=True):
    """How attempts and tasks are chosen."""

    adaptive: bool = True
    """If not, each chosen task gets `attempts`."""
    attempts: Attempts = 8
    """A full try: untried tasks, and those that are sometimes solved."""
    attempts_unsolved: Attempts = 4
    """Never solved after a full try."""
    attempts_mastered: Attempts = 2
    mastered_above: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.8
    """Success rates above it are mastery."""
    rate_step: Annotated[float, Meta(gt=0.0, le=1.0)] = 0.3
    """Weight of the newest group in the success rate."""
    recheck_updates: Annotated[int, Meta(ge=1)] = 20
    """A mastered task is tried again when so many updates went by."""
    least_weight: Annotated[float, Meta(gt=0.0)] = 0.02
    """Weight of tasks from which nothing can be learnt now; keeps them from being forgotten."""
    shares: dict[str, Annotated[float, Meta(gt=0.0)]] = {}
    """Domain to its share of the tasks of an update; empty is equal shares."""


class ParityLimits(Struct, frozen=True, kw_only=True):
    """What may differ; the defaults are for fp32 on one machine."""

    max_abs: float = 1e-4
    mean_abs: float = 1e-5
    k3: float = 1e-6


class LearningSettings(Struct, frozen=True, kw_only=True):
    """Everything between finished attempts and a gradient."""

    advantage: AdvantageSettings = AdvantageSettings()
    loss: LossSettings = LossSettings()
    kl: KlSettings = KlSettings()
    mismatch: MismatchSettings = MismatchSettings()
    value: ValueSettings | None = None
    reward: RewardSettings = RewardSettings()
    curriculum: CurriculumSettings = CurriculumSettings()
    parity: ParityLimits = ParityLimits()


def usual_clip(kind: str) -> Clip:
    """Return the clip that a kind of loss is usually run with."""
    if kind == "gspo":
        return Clip(low=3e-4, high=4e-4, dual=None)
    return Clip() if kind == "ppo" else Clip(dual=None)


def source_hashes(learning: LearningSettings) -> dict[str, str]:
    """Return the SHA-256 of the source of each module that an outside function is in, by its name.

    Raises:
        ConfigError: a name leads to no function, or to one without source text.
    """
    given = (
        ("estimator", learning.advantage.estimator, ESTIMATORS),
        ("loss", learning.loss.kind, LOSSES),
    )
    hashes: dict[str, str] = {}
    for what, name, built_in in given:
        if name in built_in:
            continue
        function = find(what, name, {})
        if not callable(function):
            raise ConfigError(f"{name} is no function; see the how-to page on training")
        module, colon, _ = name.partition(":")
        names = sorted({function.__module__, *([module] if colon else [])})
        try:
            text = "".join(inspect.getsource(import_module(name)) for name in names)
        except (OSError, TypeError) as error:
            raise ConfigError(
                f"{name} has no source text, so a change of it could not be noticed: {error}"
            ) from None
        hashes[name] = hashlib.sha256(text.encode()).hexdigest()
    return hashes


def compares_groups(estimator: str) -> bool:
    """Whether an estimator compares the attempts of a group, so that it needs two that differ.

    A function from outside says so by its attribute `compares_groups`.

    Raises:
        ConfigError: the name leads nowhere.
    """
    if estimator in ESTIMATORS:
        return estimator in RELATIVE
    return bool(getattr(find("estimator", estimator, {}), "compares_groups", False))


def read_settings(data: Mapping[str, Any], kind: type[S]) -> S:
    """Return settings of this kind from plain data, such as a recipe's.

    Raises:
        ConfigError: a key is unknown (names the nearest), or a value has another type or range.
    """
    _require_known(data, kind, "")
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise ConfigError(f"wrong setting: {error}") from None


def require_learnable(settings: LearningSettings, sampling: Sampling, max_steps: int) -> None:
    """Refuse settings that cannot learn.

    Args:
        settings: What is learnt with.
        sampling: How the attempts are drawn.
        max_steps: Most steps an attempt may take.

    Raises:
        ConfigError: says what does not go together and what to change.
    """
    source_hashes(settings)
    _require_groups(settings)
    estimator = settings.advantage.estimator
    if estimator in STEPWISE and max_steps < 2:
        raise ConfigError(
            f"{estimator} gives credit to steps, but attempts end after {max_steps} step: raise "
            "the step limit to 2 or more, or take grpo"
        )
    if estimator == "ppo" and settings.value is None:
        raise ConfigError("ppo needs a value head: add `value`, or take a group estimator")
    if estimator != "ppo" and settings.value is not None:
        raise ConfigError(f"{estimator} uses no value head: remove `value`, or take ppo")
    loss = settings.loss
    if loss.kind in ("gspo", "cispo") and loss.clip is not None and loss.clip.dual is not None:
        raise ConfigError(f"{loss.kind} has no dual clip: set loss.clip.dual to null")
    if loss.aggregation == "seq-mean-token-sum-norm" and loss.length is None:
        raise ConfigError(
            "seq-mean-token-sum-norm needs loss.length: the most tokens that an attempt may sample"
        )
    if sampling.temperature <= 0:
        raise ConfigError(
            "attempts are drawn at temperature 0: all of a group would be the same. Set "
            "sampling.temperature to 1"
        )
    if sampling.top_p != 1.0 or sampling.top_k is not None:
        raise ConfigError(
            "top_p and top_k cut tokens from the distribution that the loss would not cut: set "
            "top_p to 1 and remove top_k"
        )


def _require_groups(settings: LearningSettings) -> None:
    estimator, curriculum = settings.advantage.estimator, settings.curriculum
    if not compares_groups(estimator):
        return
    numbers = {"attempts": curriculum.attempts}
    if curriculum.adaptive:
        numbers["attempts_unsolved"] = curriculum.attempts_unsolved
        numbers["attempts_mastered"] = curriculum.attempts_mastered
    for name, number in numbers.items():
        if number < 2:
            raise ConfigError(
                f"{estimator} compares the attempts of a group, but curriculum.{name} is {number}: "
                "set it to 2 or more, or take reinforce++ or ppo"
            )


def _require_known(data: Mapping[str, Any], kind: type[Any], path: str) -> None:
    """Name an unknown key with its place, before msgspec refuses it without one's neighbours."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in data.items():
        if key not in fields:
            where = f"setting in {path!r}" if path else "setting"
            raise unknown(where, key, fields)
        inner = next((t for t in _types(fields[key]) if _is_struct(t)), None)
        if inner is not None and isinstance(value, Mapping):
            _require_known(value, inner, f"{path}.{key}" if path else key)


def _types(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) or (annotation,)


def _is_struct(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, msgspec.Struct)
