"""The vocabulary of training: what an attempt is, from the plan to the sequences that are trained.

    PlannedAttempt -> PlayedAttempt -> TrainAttempt (AttemptReward, Samples) -> UpdateSamples
    CallTokens (a model call in token ids) -> Sample (a window of an Episode), with its SampledSpans

Names of tensors, and of sequences that stand for one, end in their axes, here and in `engine`:
`logits_B_T_V` has a row for each sequence, token and entry of the vocabulary. One letter has one
meaning:

    1  an axis of length one, there to be broadcast
    A  attempts of an update
    B  rows of a batch: sequences that are read side by side
    C  channels of a picture
    D  width of the network's hidden state
    E  steps of all attempts, one attempt after another, in order of time
    H  height of a picture, pixels
    K  lengths of the history that must agree (HGPO)
    L  elements of a screen that can be touched
    N  sampled tokens of all rows, one row after another
    S  sampled tokens of one row, or of one attempt with its windows joined; padded at the end
    T  tokens of a row, padded at the end
    V  entries of the vocabulary
    W  width of a picture, pixels
"""

from __future__ import annotations

from screenloop.messages import ImageSpan, TokenStack
from screenloop.store.episodes import Episode, Record
from screenloop.types import Mode, Struct, Task, Verdict


class CallTokens(Struct, frozen=True, kw_only=True):
    """One model call in tokens."""

    call_id: str
    step_index: int
    window_index: int
    prefix_call_id: str | None = None
    """The call whose prompt and reply this prompt begins with; `None`: it starts afresh."""
    prefix_length: int = 0
    """How many ids of that call's prompt and reply, in a row, come first."""
    prompt_delta_ids: tuple[int, ...]
    """The ids after them, image placeholders expanded."""
    images: tuple[ImageSpan, ...] = ()
    """Pictures of the whole prompt, in order; `start` counts in the whole prompt."""
    reply_ids: tuple[int, ...]
    """What was sampled, the stop token included."""
    log_probs: tuple[float, ...]
    """Of each sampled token, under the processed distribution."""
    weights_version: int
    temperature: float = 1.0
    banned_ids: tuple[int, ...] = ()
    """Taken out of the distribution by the sampler, and so by the loss."""
    cached_tokens: int | None = None
    stack: TokenStack | None = None


class SampledSpan(Struct, frozen=True, kw_only=True):
    """The reply of one call inside a Sample."""

    call_id: str
    step_index: int
    start: int
    end: int
    """The index after the last sampled token."""


class Sample(Struct, frozen=True, kw_only=True):
    """One causal training sequence."""

    attempt_id: str
    row: int
    """Counts the Samples of the attempt, from 0."""
    window_index: int
    token_ids: tuple[int, ...]
    rollout_log_probs: tuple[float, ...]
    """Aligned to `token_ids`; 0 where nothing was sampled."""
    advantages: tuple[float, ...]
    """Aligned to `token_ids`; 0 where nothing was sampled, and until they are given."""
    spans: tuple[SampledSpan, ...]
    images: tuple[ImageSpan, ...] = ()
    """In order; `start` counts in `token_ids`."""
    banned_ids: tuple[int, ...] = ()
    temperature: float = 1.0
    weights_versions: tuple[int, int]
    """Lowest and highest version that sampled its tokens."""

    @property
    def name(self) -> str:
        """Names the row in evidence and metrics."""
        return f"{self.attempt_id}/r{self.row}"

    @property
    def loss_mask(self) -> tuple[int, ...]:
        """1 on sampled tokens, aligned to `token_ids`."""
        mask = [0] * len(self.token_ids)
        for span in self.spans:
            mask[span.start : span.end] = [1] * (span.end - span.start)
        return tuple(mask)

    @property
    def sampled(self) -> int:
        return sum(span.end - span.start for span in self.spans)


class PlannedAttempt(Struct, frozen=True, kw_only=True):
    """One attempt that a batch is to play."""

    episode_id: str
    group_id: str
    task: Task
    seed: int
    """From which it samples."""
    mode: Mode = "gui_only"


class PlayedAttempt(Struct, frozen=True, kw_only=True):
    """An attempt that was played, scored or not."""

    planned: PlannedAttempt
    episode: Episode
    records: tuple[Record, ...]
    verdicts: tuple[Verdict, ...] = ()
    """Right after the reset and after each step, with nothing claimed; empty where not asked."""

    @property
    def success(self) -> bool | None:
        """Whether the Task was solved; `None` when the attempt is unscored."""
        verdict = self.episode.verdict
        return None if verdict is None or verdict.unscored else verdict.success


class AttemptReward(Struct, frozen=True, kw_only=True):
    """What an attempt earned. The total is the sum of the step rewards less the step costs."""

    success: bool
    total: float
    components: dict[str, float]
    """Weighted, by name: `outcome`, `step/<source>`, `invalid`, `efficiency`."""
    step_rewards: tuple[float, ...]
    """One a step; outcome and efficiency are on the last."""
    step_costs: tuple[float, ...]
    """Invalid-action costs; they stay on their own step when returns are discounted."""
    unknown_steps: int = 0
    """Steps that some source could not judge; they earn nothing and count for nothing."""


class TrainAttempt(Struct, frozen=True, kw_only=True):
    """One attempt as an update sees it."""

    attempt_id: str
    group_id: str
    reward: AttemptReward | None
    """`None` when it is unscored."""
    samples: tuple[Sample, ...]
    anchors: tuple[str, ...] = ()
    """One a step; needed by `gigpo` and `hgpo` alone."""


class GroupCounts(Struct, frozen=True, kw_only=True):
    """What became of the groups and attempts of an update."""

    groups: int = 0
    kept: int = 0
    """Groups that are trained on."""
    too_few: int = 0
    """Groups skipped for fewer than two scored attempts (none, without a comparison)."""
    no_spread: int = 0
    """Groups skipped since all rewards are equal."""
    attempts: int = 0
    unscored: int = 0
    """Attempts without a score; they are in no mean."""
    trained: int = 0
    """Attempts of kept groups."""


class UpdateSamples(Struct, frozen=True, kw_only=True):
    """What an update trains on."""

    samples: tuple[Sample, ...]
    counts: GroupCounts
    anchors: AnchorFigures | None = None
    returns: dict[str, tuple[float, ...]] = {}
    """Targets of the value head by attempt, one a sampled token (`ppo`)."""


class AnchorFigures(Struct, frozen=True, kw_only=True):
    """Whether step credit has anything to compare."""

    steps: int
    groups: int
    """Distinct anchors, task group by task group."""
    singletons: int
    """Steps whose anchor nobody else reached: their step advantage is 0."""
    within_one_attempt: int
    """Groups of several steps that all belong to one attempt (a screen that came back)."""
    sizes: dict[int, int]
    """How many groups have how many steps."""

    @property
    def singleton_share(self) -> float:
        """Share of steps without a sibling."""
        return self.singletons / self.steps if self.steps else 0.0
