"""Puts the policy of a finished training run into the package, with its run card.

python scripts/ship_policy.py runs/text tiny_text
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

import msgspec

from screenloop.engine.policy import PolicyCard, load_policy
from screenloop.report.training.run_files import POLICY, RunRecipe, read_recipe
from screenloop.train.recipes.checkpoints import CARD, folder_of
from screenloop.train.run import RESULT, RunCard

NOTES = Path(__file__).parents[1] / "scripts" / "run_cards"
"""What no file of the run says: what the policy is and what it cannot do, by name."""


def main() -> None:
    """Copy the policy and write the card."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("run", type=Path)
    words.add_argument("name")
    told = words.parse_args()
    result = msgspec.json.decode((told.run / RESULT).read_bytes(), type=RunCard)
    recipe = read_recipe(told.run)
    if recipe is None:
        raise SystemExit(f"{told.run} does not say what it was made of")
    folder = folder_of(told.name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(told.run / POLICY, folder)
    for path in folder.iterdir():
        path.chmod(0o644)
    policy = load_policy(folder).card()
    (folder / CARD).write_text(card(told.name, result, recipe, policy, folder))
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{folder}: {size / 1e6:.2f} MB")


def card(name: str, result: RunCard, recipe: RunRecipe, policy: PolicyCard, folder: Path) -> str:
    """Return the run card."""
    run, known, unseen = result.result, result.known_apps, result.unseen_apps
    rows = [
        f"| held-out tasks of known apps | {len(recipe.tasks['test'])} | "
        f"{_percent(known.before)} | {_percent(known.after_sft)} | {_percent(known.after_rl)} |",
        f"| tasks of apps not trained on | {len(recipe.tasks['unseen'])} | "
        f"{_percent(unseen.before)} | {_percent(unseen.after_sft)} | {_percent(unseen.after_rl)} |",
    ]
    hashes = [
        f"| `{path.name}` | {path.stat().st_size:,} | `{_sha256(path)}` |"
        for path in sorted(folder.iterdir())
        if path.name != CARD
    ]
    notes = (NOTES / f"{name}.md").read_text().strip()
    return f"""# {name}

{notes}

## How it was made

    screenloop train --recipe {recipe.name} --seed {run.seed}

{policy.architecture}, {policy.parameters:,} weights, {policy.dtype}; dialect `{recipe.dialect}`;
{result.warm_up_steps} steps of warm-up on demonstrations, then {run.updates} updates on
{run.episodes:,} attempts of its own; {run.cpu_s:.0f} CPU seconds in all. Largest difference of
log-probabilities between engine and trainer: {run.parity_max:.1e}. Groups with spread:
{run.groups_with_spread:,}. Fingerprint of the run: `{recipe.fingerprint}`.

## What it reached

Greedy success, judged by the tasks' own verifiers.

| tasks | number | untrained | after the warm-up | after reinforcement learning |
|---|---|---|---|---|
{chr(10).join(rows)}

## Hashes

| what | value |
|---|---|
| tokenizer | `{policy.tokenizer_hash}` |
| chat template | `{policy.chat_template_hash}` |

| file | bytes | SHA-256 |
|---|---|---|
{chr(10).join(hashes)}
"""


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{100 * share:.1f} %"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
