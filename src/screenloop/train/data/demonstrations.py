"""Demonstrations as Samples: solved Episodes, tokenised exactly as the policy would see them."""

from __future__ import annotations

from msgspec.structs import replace

from screenloop.agent.harness import reconstruct
from screenloop.engine.policy import Policy
from screenloop.engine.prompts import PromptWriter
from screenloop.errors import ConfigError
from screenloop.store.episodes import CallRecord, Episode
from screenloop.train.data.records import call_tokens
from screenloop.train.data.samples import window_samples
from screenloop.train.types import CallTokens, Sample


class Tokeniser:
    """Turns Episodes of any model into Samples for one policy.

    Prompts go through the engine's own writer and replies end with the policy's stop token, so the
    policy learns on the very ids that it will read and write. Ids that were sampled with the
    policy's own tokenizer, template and rule for pictures are taken as they are. What is learnt is
    the distribution at temperature 1, whatever an attempt was drawn at. The mode of an Episode
    (`gui_only` or `hybrid`) is in its messages, so both kinds go into one mix.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._writer = PromptWriter(
            policy.tokenizer, vision=policy.vision, stop_ids=policy.stop_ids
        )
        card = policy.card()
        self._own = (card.tokenizer_hash, card.chat_template_hash, card.processor_hash)

    def samples(self, episode: Episode) -> tuple[Sample, ...]:
        """Return the Samples of an Episode, loss on its replies.

        Raises:
            ConfigError: a reply holds what the policy may never say.
        """
        calls = episode.calls
        if all(self._is_own(call) for call in calls):
            tokens = tuple(
                replace(call, temperature=1.0, banned_ids=self._policy.banned_ids)
                for call in call_tokens(calls)
            )
        else:
            tokens = self._written(episode)
        vision = self._policy.vision
        return window_samples(
            episode.start.episode_id,
            tokens,
            placeholder_id=None if vision is None else vision.image_id,
            merge=2 if vision is None else vision.merge,
        )

    def _is_own(self, call: CallRecord) -> bool:
        """Whether a call's ids are those that the policy would read and write, and were drawn."""
        stack, sampling = call.token_stack, call.sampling
        if call.token_ids is None or stack is None or sampling.temperature <= 0:
            return False
        if sampling.top_p != 1.0 or sampling.top_k is not None:
            return False
        return (stack.tokenizer_hash, stack.template_hash, stack.processor_hash) == self._own

    def _written(self, episode: Episode) -> tuple[CallTokens, ...]:
        made: list[CallTokens] = []
        stop = self._stop_id()
        for call, messages in zip(episode.calls, reconstruct(episode.calls), strict=True):
            prompt = self._writer.write(messages)
            reply = (*self._policy.tokenizer.encode(call.reply, add_special_tokens=False), stop)
            banned = set(self._policy.banned_ids).intersection(reply)
            if banned:
                raise ConfigError(
                    f"the demonstration {call.call_id} says {call.reply!r}, which holds a token "
                    "that the policy may not sample"
                )
            self._writer.replies.remember(prompt.token_ids, call.reply, reply)
            made.append(
                CallTokens(
                    call_id=call.call_id,
                    step_index=call.step_index,
                    window_index=call.window_index,
                    prompt_delta_ids=prompt.token_ids,
                    images=prompt.images,
                    reply_ids=reply,
                    log_probs=(0.0,) * len(reply),
                    weights_version=0,
                    banned_ids=self._policy.banned_ids,
                )
            )
        return tuple(made)

    def _stop_id(self) -> int:
        stop = self._policy.tokenizer.eos_token_id
        assert isinstance(stop, int)
        return stop
