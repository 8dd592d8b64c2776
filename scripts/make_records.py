#!/usr/bin/env python3
"""Write docs/reference/records.md: the files of a Run, field by field, from the structs.

    python scripts/make_records.py            write the page
    python scripts/make_records.py --check    exit with 1 while it is not current

A field's note is the text under it in the source; `NOTES` has those that speak for themselves
there but not in a table. A field or column without either is an error.
"""

from __future__ import annotations

import ast
from pathlib import Path

from made_page import write_or_check

from screenloop.store.sealed import SCHEMA

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "screenloop"
PAGE = ROOT / "docs" / "reference" / "records.md"

_HEAD = """# Records

The files of a Run that other programs read, field by field. What else lies in the folder is on the
page [operations](../operations.md); how a Verdict comes about is in [concepts](../concepts.md).

This page is made by `scripts/make_records.py` from the structs in `screenloop.store`,
`screenloop.types` and `screenloop.train`.
"""

SECTIONS = (
    ("result.json of a Run", "store/runs.py", ("RunResult", "EpisodeRow")),
    ("run.json", "store/runs.py", ("RunManifest",)),
    ("Parts of both", "types.py", ("Usage", "Unscored", "EndReason")),
    ("result.json of a training run", "train/run.py", ("RunCard", "TrainResult", "SplitGain")),
)
"""Heading, file of the structs, structs."""

NOTES = {
    "RunResult.manifest": "The Run's `run.json`, so that this file can be read alone.",
    "EpisodeRow.episode_id": "The same in `episode.jsonl` and in the Parquet file.",
    "EpisodeRow.repeat": "Number of the repeat of this task instance, from 0.",
    "EpisodeRow.tags": "Of the task, for tables by group.",
    "EpisodeRow.optimal_steps": "Length of the shortest known solution; null where none is known.",
    "EpisodeRow.reason": "How it ended.",
    "EpisodeRow.detail": "The same in words, where there is more to say.",
    "EpisodeRow.success": "Every critical check passed.",
    "EpisodeRow.reward": "Weighted share of the checks that passed, 0 to 1.",
    "EpisodeRow.side_effects": "Changes that neither a check nor `allowed` accounts for.",
    "EpisodeRow.unscored": "Why there is no score; null where there is one.",
    "EpisodeRow.steps": "Turns of the agent.",
    "EpisodeRow.parse_errors": "Replies that could not be read.",
    "EpisodeRow.calls": "Calls of the model.",
    "EpisodeRow.usage": "Tokens and cost, summed over the calls.",
    "EpisodeRow.seconds": "Wall time of the attempt.",
    "RunManifest.run_id": "Name of the Run.",
    "RunManifest.config": "Every setting, resolved.",
    "RunManifest.config_hash": "Of the harness hash's parts, model, dialect, prompt and sampling.",
    "RunManifest.harness_hash": "Equal in two Runs that may be compared.",
    "Usage.prompt": "Tokens sent.",
    "Usage.cached": "Of those, how many the server had in its cache.",
    "Usage.completion": "Tokens of the reply.",
    "Usage.cost_usd": "Price of the call.",
    "Unscored.blame": "`task`, `environment` or `infrastructure`; the agent's failures are scored.",
    "Unscored.reason": "In words.",
    "EndReason.step_limit": "The budget of steps is spent.",
    "EndReason.token_limit": "The budget of tokens is spent.",
    "EndReason.cost_limit": "The budget of money is spent.",
    "EndReason.time_limit": "The budget of time is spent.",
    "RunCard.result": "What the run came to.",
    "RunCard.known_apps": "Success on the test tasks.",
    "RunCard.unseen_apps": "Success on tasks of apps that were never trained on.",
    "RunCard.warm_up_steps": "Steps of learning from demonstrations before the first update.",
    "RunCard.fingerprint": "Hash of all that decides the run; a checkpoint of another is refused.",
    "TrainResult.recipe": "Its name.",
    "TrainResult.seed": "Of tasks, sampling and weights.",
    "TrainResult.success_after_sft": "After the warm-up.",
    "TrainResult.success_after_rl": "At the end.",
    "TrainResult.updates": "Updates by reinforcement learning.",
    "TrainResult.episodes": "Attempts that were trained on or skipped; measurements not counted.",
    "TrainResult.wall_s": "Wall time, summed over resumed processes.",
    "TrainResult.parity_max": "Largest difference of a log-probability between engine and trainer.",
    "TrainResult.groups_with_spread": "Groups of attempts that were not all alike.",
    "TrainResult.run_dir": "The run's folder.",
    "SplitGain.before": "Before any training; null where it was not measured.",
    "SplitGain.after_sft": "After the warm-up.",
    "SplitGain.after_rl": "At the end.",
}

COLUMNS = {
    "run_id": "Name of the Run.",
    "config_hash": "As in `run.json`.",
    "harness_hash": "As in `run.json`.",
    "episode_id": "One attempt.",
    "task": "Key of the task instance.",
    "goal": "What was asked, in words.",
    "repeat": "Number of the repeat, from 0.",
    "attempt": "Which start of the Episode, from 0; those before it stayed unscored.",
    "step": "Place in the Episode, from 0.",
    "frame": "Blob key of the screenshot that the agent saw; the file is in `blobs/`.",
    "app": "App or page in front.",
    "state_hash": "Of the whole state of the device.",
    "reply": "What the model said, unread.",
    "actions_json": "The [Actions](actions.md) read from it.",
    "effects_json": "What each of them did.",
    "changes_json": "Rows of the business state that changed.",
    "parse_error": "Why the reply could not be read; null where it could.",
    "took_s": "Seconds from showing the frame to the end of the last Action.",
    "call_id": "The model call; null where no model was asked.",
    "parent_call_id": "The call whose messages come before `messages_json`; null for a new window.",
    "window_index": "Window of the history, from 0.",
    "messages_json": "The messages after the parent's and the parent's reply.",
    "sampling_json": "Temperature and the like.",
    "model": "As the server names it.",
    "finish_reason": "As the server gives it.",
    "prompt_tokens": "Tokens of the prompt.",
    "cached_tokens": "Of those, from the server's cache; null where it does not say.",
    "completion_tokens": "Tokens of the reply.",
    "cost_usd": "Price of the call; null where it is not known.",
    "prompt_prefix_length": "Ids of the parent's prompt and reply that this prompt begins with.",
    "prompt_token_ids": "The prompt's ids after those; null where the server gives none.",
    "token_ids": "Ids of the reply; null where the server gives none.",
    "logprobs": "Log-probability of each of `token_ids` when it was sampled.",
    "weights_version": "Weights that answered, in a training run.",
    "end_reason": "How the Episode ended; the same in all of its rows.",
    "reward": "Of the Episode, 0 to 1; the same in all of its rows.",
    "success": "Of the Episode; the same in all of its rows.",
}

_PARQUET = """## episodes.parquet

What `screenloop collect` seals: a row for each Step of each scored Episode. Columns that end in
`_json` hold JSON text; `call_id` to `weights_version` are null where no model was called. The
metadata entry `screenloop.run` of the file is the Run's `run.json`.

```python
import pyarrow.parquet as pq

table = pq.read_table("runs/RUN/episodes.parquet", columns=["task", "step", "reply", "success"])
won = table.to_pandas().query("success")
```

"""


def struct_tables(file: str, names: tuple[str, ...]) -> str:
    """Return a table for each of some classes of a file."""
    tree = ast.parse((SOURCE / file).read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    parts = []
    for name in names:
        if name not in classes:
            raise SystemExit(f"{file} has no class {name}; name the new one in SECTIONS")
        node = classes[name]
        purpose = " ".join((ast.get_docstring(node) or "").replace("`None`", "null").split())
        rows = [f"| `{field}` | {words} | {note} |" for field, words, note in fields(node)]
        head = ["| field | type | |", "|---|---|---|"]
        parts.append("\n".join([f"**`{name}`**: {purpose}", "", *head, *rows]))
    return "\n\n".join(parts) + "\n"


def fields(node: ast.ClassDef) -> list[tuple[str, str, str]]:
    """Return name, type in words and note of each field, or of each member of an enumeration."""
    found = []
    for at, line in enumerate(node.body):
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind):
                words = type_words(ast.unparse(kind))
            case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=str(name))):
                words = "text"
            case _:
                continue
        found.append((name, words, note_below(node, at) or noted(f"{node.name}.{name}")))
    return found


def note_below(node: ast.ClassDef, at: int) -> str:
    """Return the text under a field of a class; empty where there is none."""
    match node.body[at + 1 : at + 2]:
        case [ast.Expr(value=ast.Constant(value=str(text)))]:
            return " ".join(text.split())
    return ""


def noted(key: str) -> str:
    """Return what is noted here of a field."""
    if key not in NOTES:
        raise SystemExit(f"{key} has no text under it in the source and none in NOTES")
    return NOTES[key]


def type_words(annotation: str) -> str:
    """Return a type in the words of JSON."""
    plain = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
    if annotation.endswith(" | None"):
        return f"{type_words(annotation.removesuffix(' | None'))}, or null"
    if annotation.startswith("tuple["):
        return f"list of {annotation[6:].partition(',')[0]}"
    if annotation.startswith("dict["):
        return "object"
    return plain.get(annotation, annotation)


def columns_table() -> str:
    """Return the table of the Parquet file's columns."""
    names = [field.name for field in SCHEMA]
    if names != list(COLUMNS):
        raise SystemExit(f"COLUMNS and the schema differ: {sorted({*names} ^ {*COLUMNS})}")
    rows = [f"| `{field.name}` | `{field.type}` | {COLUMNS[field.name]} |" for field in SCHEMA]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows]) + "\n"


def page() -> str:
    """Return the whole page."""
    parts = [f"## {title}\n\n{struct_tables(file, names)}" for title, file, names in SECTIONS]
    return "\n".join([_HEAD, *parts, _PARQUET + columns_table()])


if __name__ == "__main__":
    write_or_check(PAGE, page, __doc__)
