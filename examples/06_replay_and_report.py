"""Compare two runs, replay one to the letter, and write a report with a page an episode."""

import asyncio
import tempfile
from pathlib import Path

from rich.console import Console

from screenloop.report.compare import compare
from screenloop.report.html import write_report
from screenloop.report.terminal import compare_table, print_fitted
from screenloop.rollout.play import RunRequest, play
from screenloop.store.episodes import read_episode
from screenloop.store.runs import RunFolder, RunResult
from screenloop.types import Budget


def screens(run: RunResult, folder: Path) -> list[str | None]:
    """Return the state of the device before each step of each episode."""
    episodes = [read_episode(folder / row.path) for row in run.rows]
    return [step.observation.state_hash for e in episodes if e is not None for step in e.steps]


async def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="screenloop-"))

    async def run(name: str, model: str) -> RunResult:
        request = RunRequest(
            suite="fake",
            tasks="*_note",
            model=model,
            repeats=2,
            budget=Budget(steps=10),
            out=str(folder / name),
        )
        return await play(request)

    by_chance = await run("random", "random")
    solved = await run("oracle", "oracle")
    print_fitted(Console(), compare_table(compare(by_chance, solved)))

    # The recorded replies again; a request that differs in a single byte would be refused.
    again = await run("again", f"replay:{folder / 'random'}")
    same = screens(by_chance, folder / "random") == screens(again, folder / "again")
    print("the replay saw the same screens:", same)

    manifest = RunFolder(folder / "random").result().manifest
    print("harness", manifest.harness_hash, "config", manifest.config_hash)
    print("report", write_report(folder / "random"))


if __name__ == "__main__":
    asyncio.run(main())
