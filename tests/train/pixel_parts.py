"""A recipe that sees: pictures of real phone screens, a network of a few thousand weights."""

from dataclasses import replace

from learner_parts import tasks_once
from msgspec.structs import replace as changed
from trainer_parts import micro, micro_settings

from screenloop.config import Window
from screenloop.engine.tiny import TinySize, tiny_pixels
from screenloop.engine.tokenizer import END, TinyWords, frequent_words
from screenloop.envs.phone import PhoneEnvironments
from screenloop.train.settings import RewardSettings

SIZE = TinySize(hidden=32, layers=1, heads=2, head_dim=16, mlp=64, vision_hidden=32, vision_heads=2)


def policy(sets, seed):
    """A policy that says places alone, so that some replies can be read before it has learnt."""
    words = frequent_words((task.goal.text for task in sets.train), 100)
    made = tiny_pixels(TinyWords(words=words), seed=seed, size=SIZE)
    vocab = made.tokenizer.get_vocab()
    said = {END, *(token for token in vocab if token[:2] in ("<x", "<y"))}
    return replace(
        made, banned_ids=tuple(sorted(n for token, n in vocab.items() if token not in said))
    )


def pixel_recipe(**changes):
    """Replies that cannot be read cost something, so that untrained attempts differ."""
    settings = micro_settings(updates=3, evaluate_every=10)
    learning = changed(settings.learning, reward=RewardSettings(invalid_cost=0.1))
    warm_up = changed(settings.warm_up, learning_rate=3e-3, max_steps=6)
    rollout = changed(settings.rollout, groups=2, max_tokens=2)
    return replace(
        micro(),
        name="pixels",
        dialect="tinythumb",
        want=("frame",),
        window=Window(),
        settings=changed(settings, learning=learning, warm_up=warm_up, rollout=rollout, **changes),
        tasks=tasks_once,
        policy=policy,
        open_environments=lambda blobs: PhoneEnvironments(blobs, want=("frame",)),
    )
