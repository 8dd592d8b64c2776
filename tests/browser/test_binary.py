from pathlib import Path

import pytest

from screenloop.browser.binary import find_chromium, resolve_wrapper
from screenloop.errors import ConfigError


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_variable_wins(tmp_path: Path) -> None:
    named = executable(tmp_path / "mine", "\x7fELF")
    other = executable(tmp_path / "other", "\x7fELF")
    found = find_chromium({"SCREENLOOP_CHROMIUM": str(named)}, real_binaries=[str(other)])
    assert found == named


def test_a_wrong_variable_is_an_error_and_no_other_browser_is_taken(tmp_path: Path) -> None:
    other = executable(tmp_path / "other", "\x7fELF")
    with pytest.raises(ConfigError, match="SCREENLOOP_CHROMIUM is '/nowhere/chromium'"):
        find_chromium({"SCREENLOOP_CHROMIUM": "/nowhere/chromium"}, real_binaries=[str(other)])


def test_a_missing_browser_names_the_package_and_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"chromium-headless-shell.*SCREENLOOP_CHROMIUM"):
        find_chromium({"PATH": str(tmp_path)}, real_binaries=[])


def test_a_wrapper_on_the_path_is_followed_to_the_real_binary(tmp_path: Path) -> None:
    real = executable(tmp_path / "real-chromium", "\x7fELF")
    executable(tmp_path / "chromium", f'#!/bin/sh\nexport A=1\nexec {real} --flag "$@"\n')
    assert find_chromium({"PATH": str(tmp_path)}, real_binaries=[]) == real


def test_a_wrapper_that_leads_nowhere_is_no_browser(tmp_path: Path) -> None:
    wrapper = executable(tmp_path / "chromium", '#!/bin/sh\nexec snap run chromium "$@"\n')
    assert resolve_wrapper(wrapper) is None


def test_wrappers_that_start_each_other_end_the_search(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    executable(first, f"#!/bin/sh\nexec {second}\n")
    executable(second, f"#!/bin/sh\nexec {first}\n")
    assert resolve_wrapper(first) is None


def test_a_file_that_cannot_be_run_is_no_browser(tmp_path: Path) -> None:
    path = tmp_path / "chromium"
    path.write_text("\x7fELF")
    assert resolve_wrapper(path) is None
