"""A Run whose process is killed and started again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from screenloop.store.episodes import read_episode
from screenloop.store.runs import RunFolder

CHILD = Path(__file__).with_name("run_child.py")
TOTAL = 12


def start(out: Path, block_after: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(out), str(block_after)], stdout=subprocess.PIPE, text=True
    )


def lines_until(child: subprocess.Popen[str], mark: str) -> list[str]:
    assert child.stdout is not None
    seen = []
    for line in child.stdout:
        seen.append(line.strip())
        if line.strip() == mark:
            break
    return seen


def files_of(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("episode.jsonl")}


def test_a_killed_run_goes_on_with_nothing_lost_and_nothing_run_twice(tmp_path: Path) -> None:
    out = tmp_path / "run"
    child = start(out, block_after=5)
    said = lines_until(child, "all hang")
    child.kill()
    child.communicate()
    ended = {line.split()[1] for line in said if line.startswith("ended")}
    assert len(ended) == 5
    before = files_of(out)
    assert len(before) == 8
    assert not (out / "result.json").exists()

    child = start(out, block_after=TOTAL)
    said, _ = child.communicate()
    assert child.returncode == 0
    began = [line.split()[1:] for line in said.splitlines() if line.startswith("began")]
    assert said.splitlines()[0] == f"planned {TOTAL} 5"
    assert len(began) == TOTAL - 5
    assert not ended & {index for index, _ in began}
    assert sum(attempt == "1" for _, attempt in began) == 3

    after = files_of(out)
    assert {path: after[path] for path in before} == before
    complete = [path for path in after if (e := read_episode(out / path)) and e.is_complete]
    assert len(complete) == TOTAL
    rows = RunFolder(out).rows()
    assert [row.index for row in rows] == list(range(TOTAL))
    assert all(row.unscored is None for row in rows)
    assert (out / "result.json").exists()


def test_a_finished_run_plays_nothing_again(tmp_path: Path) -> None:
    out = tmp_path / "run"
    first, _ = start(out, block_after=TOTAL).communicate()
    before = files_of(out)
    again, _ = start(out, block_after=TOTAL).communicate()
    assert first.count("began") == TOTAL
    assert again.split() == ["planned", str(TOTAL), str(TOTAL)]
    assert files_of(out) == before
