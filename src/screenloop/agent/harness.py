"""The Harness: Observations to prompts, replies to Actions. Sole owner of history and parsing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from screenloop.actions import Action, encode_action, pin_frame
from screenloop.agent.base import Assignment, Decision, Turn
from screenloop.agent.dialects.base import Dialect, DialectContext, ReadsTree, Reminds, context_of
from screenloop.agent.elements import read_elements
from screenloop.agent.history import PastStep, WindowSpan, assistant, window_at, windowed_prompt
from screenloop.agent.prompt import first_words, head, next_words, quotes
from screenloop.agent.screen import Pictures, smart_resize
from screenloop.config import ImageRule, Window
from screenloop.errors import ConfigError, EnvironmentFault, ParseFailure
from screenloop.messages import (
    ChatRequest,
    ImagePart,
    Message,
    Reply,
    Sampling,
    TextPart,
    shared_length,
)
from screenloop.models.base import Model, WritesActions
from screenloop.store.blobs import BlobStore
from screenloop.store.episodes import CallRecord
from screenloop.types import EnvSpec, Mode, Observation, SizePx, Want


class Harness:
    """An Agent that asks one model, once a turn, with windowed history.

    A request depends on the Episode alone: the same screens, effects and replies give the same
    bytes in evaluation, collection and training.
    """

    def __init__(
        self,
        model: Model,
        blobs: BlobStore,
        *,
        dialect: Dialect,
        window: Window = Window(),
        image: ImageRule = ImageRule(),
        sampling: Sampling = Sampling(),
        prompt: str | None = None,
    ) -> None:
        """Prepare for Episodes.

        Args:
            model: Who answers.
            blobs: Where frames lie and pictures go.
            dialect: How the model writes Actions.
            window: How much history it sees.
            image: How frames become pictures.
            sampling: How replies are drawn.
            prompt: An author's own fixed text in place of the dialect's; see `prompt.fill_prompt`.
        """
        self._model = model
        self._blobs = blobs
        self._dialect = dialect
        self._window = window
        self._image = image
        self._sampling = sampling
        self._prompt = prompt
        self._assignment: Assignment | None = None
        self._pictures = Pictures(blobs, image)
        self._steps: list[PastStep] = []
        self._last: Observation | None = None
        self._head = ""
        self._last_request: tuple[Message, ...] = ()
        self._last_ids: tuple[int, ...] = ()
        """Ids of the last prompt and reply."""
        self._picture_px: SizePx = (0, 0)
        self._context: DialectContext | None = None

    @property
    def wants(self) -> tuple[Want, ...]:
        return wants_of(self._dialect)

    @property
    def context(self) -> DialectContext | None:
        """What the reply to the newest turn is read with; `None` before the first turn."""
        return self._context

    @property
    def history(self) -> tuple[PastStep, ...]:
        return tuple(self._steps)

    def begin(self, assignment: Assignment) -> None:
        """Start a fresh Episode.

        Raises:
            ConfigError: the dialect cannot run in this mode, or the prompt file is wrong.
        """
        spec, mode = assignment.spec, assignment.mode
        self._picture_px = picture_px = smart_resize(spec.size_px, self._image)
        self._head = head(self._dialect, spec, mode, picture_px, assignment.goal.lang, self._prompt)
        self._context = None
        self._assignment = assignment
        self._pictures = Pictures(self._blobs, self._image)
        self._steps = []
        self._last = None
        self._last_request = ()

    async def decide(self, turn: Turn, *, deadline_s: float) -> Decision:
        """Show the turn to the model and read its reply; a failed call changes nothing here.

        Raises:
            EnvironmentFault: the Observation has no frame (or tree, for a dialect that reads
                it), or one that cannot be read.
            ModelUnavailable: from the model.
            DeadlinePassed: from the model.
            ConfigError: turns do not follow one another from 0, or `begin` was not called.
        """
        assignment = self._assignment
        if assignment is None or turn.step_index != len(self._steps):
            raise ConfigError(
                f"decide was called for step {turn.step_index}, but step {len(self._steps)} of an "
                "Episode that has begun comes next; call begin first, then one decide a step"
            )
        screen, context = await self._look(assignment, turn.observation)
        self._context = context
        step = PastStep(
            words=self._words(assignment, turn),
            image=screen,
            reminder=self._reminder(assignment, turn.observation),
        )
        span = window_at(turn.step_index, self._window)
        steps = [*self._steps, step]
        request = ChatRequest(
            call_id=call_id(assignment.episode_id, turn.step_index),
            session_id=f"{assignment.episode_id}/w{span.index}",
            messages=windowed_prompt(self._system(), steps, self._window),
            sampling=self._sampling,
        )
        if isinstance(self._model, WritesActions):
            self._model.writes(
                request.call_id, lambda action: self._dialect.render(action, context)
            )
        reply = await self._model.complete(request, deadline_s=deadline_s)
        text = whole_characters(reply.text)
        record = self._record(request, reply, text, span, turn.step_index)
        self._steps.append(replace(step, reply=text))
        self._last = turn.observation
        self._last_request = request.messages
        return self._decision(turn.observation, context, reply, text, record)

    def _decision(
        self,
        seen: Observation,
        context: DialectContext,
        reply: Reply,
        text: str,
        record: CallRecord,
    ) -> Decision:
        try:
            actions = read_actions(self._dialect, text, context)
        except ParseFailure as error:
            reason = str(error)
            if reply.finish_reason == "length":
                reason += f" (the reply was cut off at {self._sampling.max_tokens} tokens)"
            return Decision(parse_error=reason, reply=text, call=record)
        pinned = tuple(pin_frame(action, seen.frame) for action in actions)
        return Decision(actions=pinned, reply=text, call=record)

    def _system(self) -> str | None:
        return self._head if self._dialect.system_role and self._head else None

    def _words(self, assignment: Assignment, turn: Turn) -> str:
        if self._last is not None:
            return next_words(turn, self._last, assignment.mode)
        goal = self._goal(assignment, turn.observation)
        words = first_words(goal, turn, assignment.mode)
        return words if self._dialect.system_role else f"{self._head}\n\n{words}"

    def _goal(self, assignment: Assignment, seen: Observation) -> str:
        return seen.goal or assignment.goal.text

    def _reminder(self, assignment: Assignment, seen: Observation) -> str:
        if not isinstance(self._dialect, Reminds):
            return ""
        return self._dialect.reminder(self._goal(assignment, seen))

    async def _look(
        self, assignment: Assignment, seen: Observation
    ) -> tuple[ImagePart | TextPart, DialectContext]:
        """Return what the model is shown of the screen, and what its reply is read with."""
        spec, mode = assignment.spec, assignment.mode
        said = quotes(self._goal(assignment, seen))
        if not isinstance(self._dialect, ReadsTree):
            picture = await self._picture(seen)
            context = context_of(spec, mode, picture.size_px)
            return picture, replace(context, quotes=said)
        if seen.tree is None:
            raise EnvironmentFault(
                f"the Observation has no tree, which dialect {self._dialect.name!r} reads; ask the "
                "Environment for it, or use a dialect that looks at the picture"
            )
        elements = read_elements(self._blobs.get(seen.tree), seen.size_px)
        context = context_of(spec, mode, self._picture_px)
        words = TextPart(text=f"\n{self._dialect.screen_words(elements)}")
        return words, replace(context, elements=elements, quotes=said)

    async def _picture(self, seen: Observation) -> ImagePart:
        if seen.frame is None:
            raise EnvironmentFault(
                "the Observation has no frame; the agent works on screenshots, so the Environment "
                "must deliver one at every turn"
            )
        return await asyncio.to_thread(self._pictures.of, seen.frame)

    def _record(
        self, request: ChatRequest, reply: Reply, text: str, span: WindowSpan, step_index: int
    ) -> CallRecord:
        goes_on = step_index > span.first_new_step
        parent = call_id(self._episode_id, step_index - 1) if goes_on else None
        known = len(self._last_request) + 1 if goes_on else 0
        prompt = reply.prompt_token_ids
        shared = shared_length(prompt, self._last_ids) if prompt is not None and goes_on else 0
        self._last_ids = (prompt or ()) + (reply.token_ids or ())
        return CallRecord(
            call_id=request.call_id,
            parent_call_id=parent,
            window_index=span.index,
            step_index=step_index,
            messages=request.messages[known:],
            sampling=request.sampling,
            model=self._model.name,
            reply=text,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            prompt_prefix_length=shared,
            prompt_token_ids=None if prompt is None else prompt[shared:],
            token_ids=reply.token_ids,
            logprobs=reply.logprobs,
            weights_version=reply.weights_version,
            images=reply.images,
            banned_token_ids=reply.banned_token_ids,
            token_stack=reply.token_stack,
            took_s=reply.took_s,
            attempts=reply.attempts,
        )

    @property
    def _episode_id(self) -> str:
        assert self._assignment is not None
        return self._assignment.episode_id


def call_id(episode_id: str, step_index: int) -> str:
    """Return the id of a step's model call; stable over retries."""
    return f"{episode_id}/c{step_index}"


def read_actions(dialect: Dialect, text: str, context: DialectContext) -> tuple[Action, ...]:
    """Parse a reply, and make sure that what came out can be recorded.

    Raises:
        ParseFailure: the reply holds no Action that can be read.
    """
    actions = dialect.parse(text, context)
    if not actions:
        raise ParseFailure("the reply holds no action")
    try:
        for action in actions:
            encode_action(action)
    except (UnicodeEncodeError, OverflowError, RecursionError) as error:
        raise ParseFailure(f"the action holds a value that JSON cannot: {error}") from None
    return actions


def whole_characters(text: str) -> str:
    """Return the text with halves of surrogate pairs replaced, so that it can be sent and kept."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def reconstruct(records: Sequence[CallRecord]) -> list[tuple[Message, ...]]:
    """Rebuild the full messages of each call from the deltas that an Episode file holds.

    Raises:
        ConfigError: a record names a parent that does not come before it.
    """
    whole: dict[str, tuple[Message, ...]] = {}
    for record in records:
        if record.parent_call_id is None:
            messages = record.messages
        elif record.parent_call_id in whole:
            messages = whole[record.parent_call_id] + record.messages
        else:
            raise ConfigError(
                f"call {record.call_id} goes on from {record.parent_call_id}, which does not come "
                "before it; the episode file is incomplete"
            )
        whole[record.call_id] = (*messages, assistant(record.reply))
    return [whole[record.call_id][:-1] for record in records]


def wants_of(dialect: Dialect) -> tuple[Want, ...]:
    """Return the parts of the screen that Observations must carry for people and this dialect."""
    return ("frame", "tree") if isinstance(dialect, ReadsTree) else ("frame",)


def renderer(
    dialect: Dialect, spec: EnvSpec, mode: Mode, image: ImageRule
) -> Callable[[Action], str]:
    """Return what writes Actions as replies on this Environment, for scripted models.

    The picture has the size that a frame of `spec.size_px` gets; the callable raises `ConfigError`
    for an Action that the dialect cannot write.
    """
    context = context_of(spec, mode, smart_resize(spec.size_px, image))

    def render(action: Action) -> str:
        return dialect.render(action, context)

    return render
