"""01: GRPO in one file, from the screen to the gradient, to be read from top to bottom.

    python -m screenloop.train.recipes.grpo_in_one_file

A checklist of the mocked phone is on the screen, and the goal names one of its lines: "tick
coffee". The policy sees the list of what can be touched, picks one element, and the real phone
carries out the touch. Reward is 1 when the right line, and nothing else, has changed. There are no
demonstrations: the policy begins with blind touches and learns from its own attempts alone.

Everything that the trainer of this package adds (a token-exact harness, windows, a serving engine
with its parity gate, a curriculum, checkpoints) is left out; what is left is the algorithm.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from screenloop.actions import Tap
from screenloop.agent.elements import Element, read_elements
from screenloop.envs.phone import tree_of
from screenloop.phone.device.boot import initial_doc, new_device
from screenloop.phone.device.device import Device
from screenloop.phone.device.gestures import run_action
from screenloop.phone.device.screen import SIZE_PX
from screenloop.types import Struct

WORLD = "everyday"
NOUNS = (
    "apples bread butter carrots cheese coffee eggs flour garlic honey jam lemons milk mushrooms "
    "mustard oil onions pasta pepper plums potatoes rice salt soap spinach sugar tea tomatoes "
    "vinegar yoghurt"
).split()
TRAINED, UNSEEN = NOUNS[:22], NOUNS[22:]
"""Words of the lists that are trained on, and of lists that only measure."""
TASKS_AN_UPDATE = 16
ATTEMPTS_A_TASK = 8
"""The group: attempts at one task, compared with each other alone."""
PASSES = 2
"""Over the same attempts; from the second on, the ratio is no longer 1 and the clip matters."""
CLIP_LOW, CLIP_HIGH = 0.2, 0.28
LEARNING_RATE = 1e-3
UPDATES = 50
HELD_OUT = range(1_000_000, 1_000_200)
"""Seeds of lists that are never trained on."""


# ---- 1. the task: a list on the screen, a goal, a verifier ---------------------------------


class Scene(Struct, frozen=True, kw_only=True):
    """One task: what the phone shows, and what is right."""

    patches: tuple[dict[str, Any], ...]
    goal: str
    target: str
    """Id of the line that the goal names."""


def scene_of(seed: int, nouns: Sequence[str] = TRAINED) -> Scene:
    """Return the task of a seed: other words in another order each time."""
    stream = random.Random(seed)
    items = initial_doc(WORLD, 0).apps["notes"].data.builtins()["items"]
    rows = [row for row, item in items.items() if item["note"] == "note1"]
    words = stream.sample(nouns, len(rows))
    lines = tuple(
        {
            "app": "notes",
            "table": "items",
            "op": "set",
            "id": row,
            "fields": {"text": word.capitalize(), "done": False},
        }
        for row, word in zip(rows, words, strict=True)
    )
    chosen = stream.randrange(len(rows))
    show = {"app": "notes", "op": "show", "path": "/n/note1"}
    return Scene(patches=(*lines, show), goal=f"tick {words[chosen]}", target=rows[chosen])


def open_phone(scene: Scene) -> tuple[Device, tuple[Element, ...]]:
    """Start a phone in the scene; returns it and what can be touched on its screen."""
    device = new_device(WORLD, 0, scene.patches)
    tree = msgspec.json.encode(tree_of(device.screen))
    return device, tuple(e for e in read_elements(tree, SIZE_PX) if e.taps)


def reward_of(device: Device, element: Element, scene: Scene) -> float:
    """Touch the element and judge what has changed: the right line ticked, nothing besides."""
    rows = run_action(device, Tap(at=element.at)).rows
    changed = [(row.app, row.table, row.id, row.field, row.after) for row in rows]
    return float(changed == [("notes", "items", scene.target, "done", True)])


# ---- 2. the policy: which element fits the goal --------------------------------------------


class Seen(Struct, frozen=True, kw_only=True):
    """A screen and a goal as numbers, one row an element."""

    label_ew: Tensor
    goal_w: Tensor
    role_L: Tensor


ROLES = ("button", "checkbox", "field", "system", "")
WORDS = {word: number for number, word in enumerate(NOUNS, start=1)}
"""0 stands for every other word and for padding."""


def see(goal: str, elements: Sequence[Element]) -> Seen:
    """Turn words into numbers."""
    labels = [[WORDS.get(w, 0) for w in e.label.lower().split()[:3]] for e in elements]
    return Seen(
        label_ew=torch.tensor([(label + [0] * 3)[:3] for label in labels]),
        goal_w=torch.tensor([WORDS.get(w, 0) for w in goal.split()]),
        role_L=torch.tensor([ROLES.index(e.role if e.role in ROLES else "") for e in elements]),
    )


class Pointer(nn.Module):
    """Scores each element from its words, its role and the goal's words.

    The product of the two embeddings is large where they share a word, any word: what is learnt to
    read from it holds for words that were never trained on as well.
    """

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.words = nn.Embedding(len(WORDS) + 1, width, padding_idx=0)
        self.roles = nn.Embedding(len(ROLES), width)
        self.score = nn.Sequential(nn.Linear(3 * width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, seen: Seen) -> Tensor:
        """Return the log-probability of touching each element."""
        label_ed = self.words(seen.label_ew).sum(dim=1)
        goal_ed = self.words(seen.goal_w).sum(dim=0).expand_as(label_ed)
        features = torch.cat([label_ed * goal_ed, label_ed, self.roles(seen.role_L)], dim=-1)
        log_probs_L: Tensor = self.score(features).squeeze(-1).log_softmax(dim=-1)
        return log_probs_L


# ---- 3. rollouts: a group of attempts at each task -----------------------------------------


class Group(Struct, frozen=True, kw_only=True):
    """Attempts at one task from the same state."""

    seen: Seen
    picks_A: Tensor
    """Which element each attempt touched."""
    log_probs_A: Tensor
    """Of the picks, under the policy that made them."""
    rewards_A: Tensor


@torch.no_grad()
def play(policy: Pointer, seed: int, source: torch.Generator) -> Group:
    """Try one task a few times; each attempt begins in exactly the same state."""
    scene = scene_of(seed)
    device, elements = open_phone(scene)
    start = device.snapshot()
    seen = see(scene.goal, elements)
    log_probs_L = policy(seen)
    picks_A = torch.multinomial(log_probs_L.exp(), ATTEMPTS_A_TASK, True, generator=source)
    rewards = []
    for pick in picks_A.tolist():
        device.restore(start)
        rewards.append(reward_of(device, elements[pick], scene))
    return Group(
        seen=seen,
        picks_A=picks_A,
        log_probs_A=log_probs_L[picks_A],
        rewards_A=torch.tensor(rewards),
    )


@torch.no_grad()
def greedy_success(policy: Pointer, nouns: Sequence[str] = TRAINED) -> float:
    """Return the share of held-out lists on which the likeliest touch is right."""
    solved = 0.0
    for seed in HELD_OUT:
        scene = scene_of(seed, nouns)
        device, elements = open_phone(scene)
        pick = int(policy(see(scene.goal, elements)).argmax())
        solved += reward_of(device, elements[pick], scene)
    return solved / len(HELD_OUT)


# ---- 4. the update: GRPO -------------------------------------------------------------------


def advantages(rewards_A: Tensor) -> Tensor | None:
    """Return (r - mean) / std inside the group; `None` where all are equal: nothing to learn.

    Group-relative advantages of GRPO (DeepSeekMath, equation 3 and what follows it): the other
    attempts at the same task are the baseline, so no value network is needed.
    """
    spread = rewards_A.std()
    return None if spread < 1e-6 else (rewards_A - rewards_A.mean()) / spread


def group_loss(policy: Pointer, group: Group, advantages_A: Tensor) -> tuple[Tensor, Tensor]:
    """Return the clipped loss of a group, and the log-ratios to the policy that played.

    The clip is that of PPO, a little wider upwards (DAPO), so that rare picks can grow.
    """
    log_ratio_A = policy(group.seen)[group.picks_A] - group.log_probs_A
    ratio_A = log_ratio_A.exp()
    clipped_A = ratio_A.clamp(1 - CLIP_LOW, 1 + CLIP_HIGH)
    loss = -torch.minimum(ratio_A * advantages_A, clipped_A * advantages_A).mean()
    return loss, log_ratio_A.detach()


class Updated(Struct, frozen=True, kw_only=True):
    """What one update came to."""

    success: float
    """Of the sampled attempts."""
    with_spread: int
    parity: float
    """Largest |log-ratio| before the first step: playing and learning must agree."""


def update(policy: Pointer, optimiser: torch.optim.Optimizer, groups: Sequence[Group]) -> Updated:
    """Learn from the groups with spread."""
    given = [(group, advantages(group.rewards_A)) for group in groups]
    taught = [(group, some) for group, some in given if some is not None]
    parity = 0.0
    for number in range(PASSES if taught else 0):
        losses = [group_loss(policy, group, some) for group, some in taught]
        if number == 0:
            parity = max(float(log_ratio_A.abs().max()) for _, log_ratio_A in losses)
        optimiser.zero_grad()
        torch.stack([loss for loss, _ in losses]).mean().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
    rewards = torch.cat([group.rewards_A for group in groups])
    return Updated(success=float(rewards.mean()), with_spread=len(taught), parity=parity)


# ---- 5. the run ----------------------------------------------------------------------------


class GrpoResult(Struct, frozen=True, kw_only=True):
    """What the run came to; successes are greedy, on lists that were never trained on."""

    success_before: float
    success_after: float
    unseen_after: float
    """On lists of words that were never trained on."""
    updates: int
    episodes: int
    groups_with_spread: int
    parity_max: float
    curve: tuple[float, ...]
    """Sampled success of each update."""


def run(seed: int = 0, updates: int = UPDATES, tell: Callable[[str], None] = print) -> GrpoResult:
    """Train a policy from nothing; the same seed gives the same curve."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    source = torch.Generator().manual_seed(seed)
    policy = Pointer()
    optimiser = torch.optim.Adam(policy.parameters(), lr=LEARNING_RATE)
    before = greedy_success(policy)
    tell(f"untrained: {100 * before:.1f} % of {len(HELD_OUT)} held-out lists")
    done: list[Updated] = []
    for number in range(updates):
        first = (seed * 1_000 + number) * TASKS_AN_UPDATE
        seeds = range(first % HELD_OUT.start, first % HELD_OUT.start + TASKS_AN_UPDATE)
        done.append(update(policy, optimiser, [play(policy, task, source) for task in seeds]))
        if number % 5 == 0 or number == updates - 1:
            now = done[-1]
            bar = "#" * round(40 * now.success)
            tell(f"{number + 1:4d} {100 * now.success:5.1f} % |{bar:40}| spread {now.with_spread}")
    after = greedy_success(policy)
    unseen = greedy_success(policy, UNSEEN)
    tell(f"trained: {100 * after:.1f} %; on words never trained on: {100 * unseen:.1f} %")
    return GrpoResult(
        success_before=before,
        success_after=after,
        unseen_after=unseen,
        updates=updates,
        episodes=updates * TASKS_AN_UPDATE * ATTEMPTS_A_TASK,
        groups_with_spread=sum(one.with_spread for one in done),
        parity_max=max((one.parity for one in done), default=0.0),
        curve=tuple(one.success for one in done),
    )


if __name__ == "__main__":
    began = time.perf_counter()
    run(seed=int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(f"{time.perf_counter() - began:.0f} s")
