import os
import signal
import tempfile
from pathlib import Path

import pytest

from screenloop.browser.cdp import BrowserGone
from screenloop.browser.launch import launch
from screenloop.browser.page import BrowserTab, Viewport
from screenloop.errors import EnvironmentFault

pytestmark = pytest.mark.browser


def group(pgid: int) -> list[int]:
    """Return the living processes of a process group."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if folder.name.isdigit() and int(fields[2]) == pgid and fields[0] != "Z":
            found.append(int(folder.name))
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders go during the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def profiles(folder: Path) -> list[Path]:
    return list(folder.glob("screenloop-chromium-*"))


async def test_closing_leaves_no_process_and_no_folder(folder: Path) -> None:
    async with await launch() as browser:
        assert "Chrome" in browser.version
        await BrowserTab.open(browser, Viewport(size_px=(100, 100)))
        assert len(group(browser.pid)) > 1
        assert len(profiles(folder)) == 1
        assert browser.pid == os.getpgid(browser.pid)
    assert group(browser.pid) == []
    assert profiles(folder) == []
    await browser.close()


async def test_a_browser_that_is_killed_fails_what_waits_and_leaves_nothing(folder: Path) -> None:
    browser = await launch()
    page = await BrowserTab.open(browser, Viewport(size_px=(100, 100)))
    never = page.session.post(
        "Runtime.evaluate", {"expression": "new Promise(() => 0)", "awaitPromise": True}
    )
    os.kill(browser.pid, signal.SIGKILL)
    with pytest.raises(BrowserGone):
        await never
    assert not browser.is_alive
    await browser.close()
    assert group(browser.pid) == []
    assert profiles(folder) == []


async def test_a_binary_that_is_no_browser_says_what_it_wrote(tmp_path: Path, folder: Path) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho no libraries here >&2\nexit 1\n")
    fake.chmod(0o755)
    with pytest.raises(EnvironmentFault, match=r"did not start.*no libraries here"):
        await launch(fake)
    assert profiles(folder) == []


async def test_a_binary_that_never_answers_is_ended(tmp_path: Path) -> None:
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\necho $$ > " + str(tmp_path / "pid") + "\nexec sleep 1000\n")
    fake.chmod(0o755)
    with pytest.raises(EnvironmentFault, match="did not start"):
        await launch(fake, deadline_s=3)
    assert group(int((tmp_path / "pid").read_text())) == []


async def test_two_browsers_do_not_share_a_profile_or_a_process() -> None:
    async with await launch() as first, await launch() as second:
        assert first.pid != second.pid
        assert set(group(first.pid)).isdisjoint(group(second.pid))
