"""Whether two checkouts behave alike: the hashes of each one's own `fingerprint.py`, compared.

    python scripts/equivalence.py main             the working tree against main
    python scripts/equivalence.py v1 v2            two revisions
    python scripts/equivalence.py main --parts apps,pages --json
    python scripts/equivalence.py main --expect renamed.toml
    python scripts/equivalence.py kept.json        what `fingerprint.py --out` kept

Revisions are checked out into temporary worktrees, which go away again; nothing else is written.
Both probes run at once, by the interpreter that runs this script, so its packages serve both. Do
not edit the working tree meanwhile.

A file of expectations names what may differ on purpose, by patterns of keys:

    [[expect]]
    keys = "task/phone-core/*/goal"
    reason = "goals say `chat` instead of `conversation`"

Ends with 0 when nothing differs but what is expected, 1 when something does, 2 when a probe failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
PROBE = "scripts/fingerprint.py"
PART_OF = {
    "app": "apps",
    "tool": "apps",
    "route": "apps",
    "table": "apps",
    "seed": "seeds",
    "catalog": "seeds",
    "flow": "flows",
    "replay": "flows",
    "page": "pages",
    "walk": "pages",
    "suite": "suites",
    "task": "suites",
    "recipe": "suites",
    "golden": "goldens",
    "mutants": "goldens",
    "request": "requests",
    "sent": "requests",
    "record": "requests",
}
"""First word of a key to the part that makes it; any other word stands for itself."""
SHOWN = 4

Hashes = Mapping[str, str | int]


@dataclass(frozen=True)
class Expected:
    """Keys that may differ, and why."""

    keys: str
    reason: str


@dataclass
class Row:
    """How one kind of key came out."""

    part: str
    kind: str
    same: int = 0
    differs: list[str] = field(default_factory=list)
    only_base: list[str] = field(default_factory=list)
    only_other: list[str] = field(default_factory=list)
    on_purpose: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        """How many keys differ that should not."""
        return len(self.differs) + len(self.only_base) + len(self.only_other)


@dataclass
class Comparison:
    """All rows, and what became of each expectation."""

    rows: list[Row]
    purposes: dict[str, int]
    """Reason and pattern of each expectation to the number of differences that it took."""


def compare(base: Hashes, other: Hashes, expected: Sequence[Expected]) -> Comparison:
    """Sort all keys by kind and by how they came out."""
    rows: dict[str, Row] = {}
    purposes = {f"{e.keys}: {e.reason}": 0 for e in expected}
    for key in sorted(base.keys() | other.keys()):
        kind = key.partition("/")[0]
        row = rows.setdefault(kind, Row(part=PART_OF.get(kind, kind), kind=kind))
        if base.get(key) == other.get(key):
            row.same += 1
            continue
        purpose = next((e for e in expected if fnmatchcase(key, e.keys)), None)
        if purpose is not None:
            purposes[f"{purpose.keys}: {purpose.reason}"] += 1
            row.on_purpose.append(key)
        elif key not in other:
            row.only_base.append(key)
        elif key not in base:
            row.only_other.append(key)
        else:
            row.differs.append(key)
    order = list(dict.fromkeys(PART_OF.values()))
    ranked = sorted(rows.values(), key=lambda r: order.index(r.part) if r.part in order else 99)
    return Comparison(rows=ranked, purposes=purposes)


def told(found: Comparison) -> Iterator[str]:
    """Yield the lines of the table and the first keys behind each figure."""
    heads = ("part", "kind", "same", "differs", "base only", "other only", "on purpose")
    yield "{:9} {:8} {:>7} {:>8} {:>10} {:>11} {:>11}".format(*heads)
    for row in found.rows:
        lists = (row.differs, row.only_base, row.only_other, row.on_purpose)
        sums = "{:8} {:10} {:11} {:11}".format(*map(len, lists))
        yield f"{row.part:9} {row.kind:8} {row.same:7} {sums}"
        for name, keys in zip(("differs", "base only", "other only"), lists[:3], strict=True):
            for key in keys[:SHOWN]:
                yield f"    {name}: {key}"
            if len(keys) > SHOWN:
                yield f"    {name}: ... and {len(keys) - SHOWN} more"
    for purpose, number in found.purposes.items():
        yield f"on purpose, {number} keys: {purpose}" if number else f"matched nothing: {purpose}"
    changed = sum(row.changed for row in found.rows)
    yield f"{changed} keys differ" if changed else "no difference"


# ---- probes ----------------------------------------------------------------------------------


def git(*words: str) -> str:
    """Return what git says in this checkout."""
    done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        fail(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextlib.contextmanager
def tree_of(revision: str | None, folder: Path) -> Iterator[Path]:
    """Give the files of a revision in a worktree of its own; the working tree for none."""
    if revision is None:
        yield ROOT
        return
    commit = git("rev-parse", "--verify", f"{revision}^{{commit}}")
    if not git("ls-tree", commit, PROBE):
        fail(f"{revision} has no {PROBE}, so it cannot be compared.")
    try:
        git("worktree", "add", "--detach", "--quiet", str(folder), commit)
        yield folder
    finally:
        subprocess.run(
            ["git", "worktree", "remove", "--force", str(folder)],
            cwd=ROOT,
            check=False,
            capture_output=True,
        )


def start_probe(tree: Path, label: str, out: Path, parts: str) -> subprocess.Popen[bytes]:
    """Start the probe of a checkout on that checkout's own package."""
    command = [sys.executable, str(tree / PROBE), "--out", str(out), "--label", label]
    if parts:
        command += ["--parts", parts]
    environ = {**os.environ, "PYTHONPATH": str(tree / "src")}
    return subprocess.Popen(command, cwd=tree, env=environ, stdout=sys.stderr)


def probe_both(base: str, other: str | None, parts: str) -> tuple[Hashes, Hashes]:
    """Return the hashes of two revisions; everything started or made is gone afterwards.

    A file of hashes stands for the base as well, so that it is worked out once.
    """
    kept = json.loads(Path(base).read_text()) if base.endswith(".json") else None
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="equivalence-")))
        revisions = {"base": base, "other": other} if kept is None else {"other": other}
        trees = {
            label: stack.enter_context(tree_of(revision, folder / label))
            for label, revision in revisions.items()
        }
        running = {}
        for label, tree in trees.items():
            probe = start_probe(tree, label, folder / f"{label}.json", parts)
            stack.callback(_end, probe)
            running[label] = probe
        _await(running)
        hashes = [json.loads((folder / f"{label}.json").read_text()) for label in trees]
        return (kept if kept is not None else hashes[0]), hashes[-1]


def _await(running: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Wait for all probes, or for the first that fails: it makes the others useless."""
    while True:
        codes = {label: probe.poll() for label, probe in running.items()}
        if failed := [label for label, code in codes.items() if code]:
            fail(f"the probe of {failed[0]} failed; what it said is above.")
        if None not in codes.values():
            return
        time.sleep(0.2)


def _end(probe: subprocess.Popen[bytes]) -> None:
    if probe.poll() is None:
        probe.kill()
        probe.wait()


# ---- command line ----------------------------------------------------------------------------


def fail(why: str) -> NoReturn:
    """End with a sentence and the code of a comparison that could not be made."""
    print(why, file=sys.stderr)
    raise SystemExit(2)


def read_expected(path: Path | None) -> list[Expected]:
    """Read a file of expectations: TOML with tables `[[expect]]`, or the same in JSON."""
    if path is None:
        return []
    text = path.read_text()
    found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    entries = found["expect"] if isinstance(found, dict) else found
    try:
        return [Expected(keys=entry["keys"], reason=entry["reason"]) for entry in entries]
    except KeyError as error:
        fail(f"{path}: an expectation has no {error}; it needs `keys` and `reason`")


def main() -> None:
    """Read the command line, compare, tell, and end with 1 on any difference."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", help="revision to compare with, or a kept file of hashes")
    parser.add_argument("other", nargs="?", help="revision; default the working tree as it stands")
    parser.add_argument("--parts", default="", help="parts of fingerprint.py, by commas; see there")
    parser.add_argument("--json", action="store_true", help="all differing keys, as JSON")
    parser.add_argument("--expect", type=Path, help="file of differences that are on purpose")
    given = parser.parse_args()
    expected = read_expected(given.expect)
    # A `kill` must unwind as Ctrl-C does, or the worktrees would stay.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        found = compare(*probe_both(given.base, given.other, given.parts), expected)
    except KeyboardInterrupt:
        fail("interrupted; the worktrees are removed.")
    print(json.dumps(asdict(found), indent=2) if given.json else "\n".join(told(found)))
    raise SystemExit(1 if any(row.changed for row in found.rows) else 0)


if __name__ == "__main__":
    main()
