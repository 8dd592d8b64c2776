"""Report and replay pages as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from written_runs import HOST_LOST

from screenloop.errors import ConfigError
from screenloop.report.html import write_report
from screenloop.report.replay import replay_view, write_replay
from screenloop.store.blobs import MemoryBlobs
from screenloop.store.episodes import read_episode

Maker = Callable[..., Any]
EVIL = "</pre><script>document.title='owned'</script><img src=x onerror=alert(1)>"


def test_a_reply_with_markup_is_shown_as_text(new_run: Maker) -> None:
    page = write_replay(new_run().episode(0, reply=EVIL)).read_text()
    assert "<script>document.title" not in page
    assert "<img src=x" not in page
    assert "&lt;script&gt;document.title=&#39;owned&#39;" in page
    assert len(re.findall(r"<script>", page)) == 1


def test_a_huge_reply_is_cut_and_says_how_much_is_left_out(new_run: Maker) -> None:
    path = new_run().episode(0, reply="x" * 1_000_000, steps=2)
    page = write_replay(path).read_text()
    assert len(page) < 700_000
    assert "980 000 more characters are in episode.jsonl" in page


def test_each_frame_is_embedded_once(new_run: Maker) -> None:
    run = new_run()
    page = write_replay(run.episode(0, steps=6)).read_text()
    assert page.count("data:image/jpeg;base64,") == 3


def test_pages_fetch_nothing(new_run: Maker) -> None:
    run = new_run()
    run.episode(0)
    run.episode(1, solved=False)
    report = write_report(run.folder.root)
    pages = [report, *(report.parent / "replay").iterdir()]
    assert len(pages) == 3
    for page in pages:
        text = page.read_text()
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", text)
        assert "url(http" not in text
        assert "default-src &#39;none&#39;" in text


def test_a_replay_shows_effects_changes_checks_and_side_effects(new_run: Maker) -> None:
    path = new_run().episode(0, solved=False, parse_error_at=2)
    page = write_replay(path).read_text()
    for words in (
        "nothing at 82,732 can be dragged",
        "contacts / people / p9",
        "no row of messages.sent matches",
        "Groceriesx",
        "no tool_call block was found",
        "step limit after 6 steps",
        "drag from 20 %, 80 % to 80 %, 20 %",
    ):
        assert words in page, words


def test_a_cut_off_episode_can_be_looked_at(new_run: Maker) -> None:
    page = write_replay(new_run().episode(0, cut_off=True)).read_text()
    assert "no verdict" in page
    assert "cut off" in page


def test_a_missing_blob_is_said_and_never_invented(new_run: Maker) -> None:
    episode = read_episode(new_run().episode(0))
    assert episode is not None
    view = replay_view(episode, MemoryBlobs())
    assert all(step.frame.missing and step.frame.uri is None for step in view.steps)


def test_a_damaged_picture_is_left_out_of_the_report(new_run: Maker) -> None:
    run = new_run()
    run.episode(0, solved=False)
    assert "data:image/jpeg" in write_report(run.folder.root).read_text()
    for path in run.folder.blobs.root.rglob("*.jpg"):
        path.write_bytes(path.read_bytes()[:300])
    assert "data:image/jpeg" not in write_report(run.folder.root).read_text()


def test_an_unscored_episode_says_who_is_to_blame(new_run: Maker) -> None:
    page = write_replay(new_run().episode(0, unscored=HOST_LOST)).read_text()
    assert "Blame: infrastructure, while: model" in page
    assert "connection refused" in page


def test_the_report_counts_what_has_not_ended(new_run: Maker) -> None:
    run = new_run(tasks=3, repeats=2)
    run.episode(0, 0)
    run.episode(0, 1, cut_off=True)
    page = write_report(run.folder.root, replays="none").read_text()
    assert "5 planned episodes have no end yet" in page


def test_only_the_failed_get_pages_when_asked(new_run: Maker) -> None:
    run = new_run()
    run.episode(0)
    run.episode(1, solved=False)
    report = write_report(run.folder.root, replays="failed")
    assert len(list((report.parent / "replay").iterdir())) == 1


def test_the_run_card_names_hashes_versions_and_cpu(new_run: Maker) -> None:
    run = new_run()
    run.episode(0)
    page = write_report(run.folder.root, replays="none").read_text()
    for words in (
        run.manifest.config_hash,
        run.manifest.harness_hash,
        "pytakumi",
        "0.1.5",
        "An example CPU",
        "run seed",
    ):
        assert words in page


def test_a_file_outside_of_any_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run folder"):
        write_report(tmp_path)


def test_a_run_without_a_scored_episode_has_a_page_without_a_rate(new_run: Maker) -> None:
    run = new_run()
    assert "No episode was scored" in write_report(run.folder.root).read_text()
    run.episode(0, unscored=HOST_LOST)
    page = write_report(run.folder.root).read_text()
    assert "No episode was scored" in page
    assert "connection refused" in page


def test_uncounted_tokens_are_called_so(new_run: Maker) -> None:
    run = new_run()
    path = run.episode(0)
    text = path.read_text().replace('"prompt":1000,"cached":800,"completion":60', "")
    path.write_text(text)
    assert "tokens not counted" in write_replay(path).read_text()
