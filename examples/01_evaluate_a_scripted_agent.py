"""Evaluate an agent whose replies stand in a file, and print its score."""

import asyncio
import json
import tempfile
from pathlib import Path

from rich.console import Console

from screenloop.report.terminal import print_fitted, run_table
from screenloop.rollout.play import RunRequest, play

# The n-th reply answers the n-th screen. They are written in `plain`, the project's own dialect:
# points are thousandths of the frame. This script opens the counter and taps +1 three times.
REPLIES = (
    'Thought: The counter first.\nAction: {"type": "open", "app": "counter"}',
    'Thought: One.\nAction: {"type": "tap", "at": [500, 667]}',
    "Thought: I forget how to write.\nAction: tap the plus",  # a parse error, never a guessed tap
    'Thought: Two.\nAction: {"type": "tap", "at": [500, 667]}',
    'Thought: Three.\nAction: {"type": "tap", "at": [500, 667]}',
    'Thought: Done.\nAction: {"type": "finish", "status": "success"}',
)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="screenloop-"))
    script = folder / "replies.jsonl"
    script.write_text("".join(json.dumps({"reply": reply}) + "\n" for reply in REPLIES))
    request = RunRequest(
        suite="fake",  # a device of a few widgets; phone-core and miniwob work the same
        model=f"scripted:{script}",  # or oracle, random, openai:MODEL@BASE_URL
        tasks="*_counter",
        out=str(folder / "run"),
    )
    result = asyncio.run(play(request))
    print_fitted(Console(), run_table(result, request.out))
    for row in result.rows:
        print(f"{row.goal} -> {'solved' if row.success else 'not solved'}")


if __name__ == "__main__":
    main()
