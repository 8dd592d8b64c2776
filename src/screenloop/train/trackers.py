"""Trackers: TensorBoard, Weights & Biases, trackio, each an optional package.

A tracker is a `Watch`: it gets the lines that `metrics.jsonl` gets and writes their numbers as
scalars. Names are `rl/...` over updates, `warm_up/...` over its steps and `evaluation/<set>/...`
over both counted on, so that curves begin with the untrained policy. The JSON lines stay the
record; where a killed run is resumed, Weights & Biases and trackio show what was done twice twice.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from contextvars import copy_context
from pathlib import Path
from typing import Any, Protocol

import msgspec

from screenloop.errors import ConfigError, InfraFault
from screenloop.registry import find, unknown
from screenloop.report.training.metrics import (
    EvaluationLine,
    Line,
    UpdateLine,
    WarmUpLine,
    read_metrics,
)
from screenloop.store.runs import slug
from screenloop.train.extra import is_installed

TRACKERS = {
    "tensorboard": "screenloop.train.trackers:TensorBoard",
    "wandb": "screenloop.train.trackers:WeightsAndBiases",
    "trackio": "screenloop.train.trackers:Trackio",
}
"""Name, which is that of the package and of the extra as well, to the class."""
PROJECT = "screenloop"
TENSORBOARD = "tensorboard"
"""Folder of the event files, inside the run's."""
_AXES = {"rl": "update", "warm_up": "step", "evaluation": "step"}
"""What the scalars of a kind are drawn over; the name of a scalar beside them."""


class Scalars(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one line."""

    kind: str
    """`rl`, `warm_up` or `evaluation`."""
    at: int
    """Update, step, or for an evaluation the sum of both."""
    values: dict[str, float]
    """By whole name."""


def scalars_of(line: Line) -> Scalars:
    """Return the numbers of a line; what has no value at this line is left out."""
    match line:
        case WarmUpLine(step=step):
            kind, at = "warm_up", step
        case EvaluationLine(step=step, update=update):
            kind, at = "evaluation", step + update
        case UpdateLine(update=update):
            kind, at = "rl", update
    values = dict(_flat(kind, msgspec.to_builtins(line)))
    if isinstance(line, EvaluationLine):
        path = f"{kind}/{line.of}"
        values = {f"{path}/success": line.success, f"{path}/unscored": float(line.unscored)}
        values.update(_flat(f"{path}/success", line.by_domain))
    values.pop(f"{kind}/{_AXES[kind]}", None)
    return Scalars(kind=kind, at=at, values=values)


def _flat(path: str, line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in line.items():
        whole = f"{path}/{name or 'all'}"
        if isinstance(value, dict):
            yield from _flat(whole, value)
        elif isinstance(value, int | float):
            yield whole, float(value)


class Tracker(Protocol):
    """Somewhere that scalars go."""

    def __call__(self, line: Line) -> None:
        """Take one line."""
        ...

    def close(self) -> None:
        """Write out what is still held."""
        ...


def require_trackers(names: Sequence[str]) -> None:
    """Refuse trackers that are not there, before anything runs.

    Raises:
        ConfigError: a name is unknown, or its package is not installed.
    """
    for name in names:
        if name not in TRACKERS:
            raise unknown("tracker", name, TRACKERS)
        if not is_installed(name):
            raise ConfigError(
                f"--track {name} needs the package {name}, which is not installed: "
                f"pip install 'screenloop[{name}]'"
            )


@contextmanager
def tracking(
    names: Sequence[str], folder: Path, config: dict[str, Any]
) -> Iterator[Callable[[Line], None]]:
    """Track a run for the length of a context; gives a `Watch`.

    Trackers begin with the first line: a run that is refused leaves none behind.

    Args:
        names: Of the trackers.
        folder: Of the run; its name is the run's name in each tracker.
        config: What decides the run, shown beside its curves.

    Raises:
        ConfigError: a tracker is not there; from the watch: it cannot begin, e.g. because nobody
            is logged in.
    """
    require_trackers(names)
    waiting = list(dict.fromkeys(names))
    trackers: list[Tracker] = []
    with ExitStack() as open_trackers:

        def watch(line: Line) -> None:
            while waiting:
                tracker: Tracker = find("tracker", waiting.pop(0), TRACKERS)(folder, config)
                open_trackers.callback(tracker.close)
                trackers.append(tracker)
            for tracker in trackers:
                tracker(line)

        yield watch


class TensorBoard:
    """Event files in the run's folder; look at them with `tensorboard --logdir RUN`."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._folder = folder
        self._began = False
        target = folder / TENSORBOARD
        try:
            # A resumed run takes lines back; event files cannot, so they are written anew.
            shutil.rmtree(target, ignore_errors=True)
            self._writer: Any = SummaryWriter(log_dir=str(target))
        except OSError as error:
            raise InfraFault(f"cannot write event files into {target}: {error}") from error
        self._writer.add_text("recipe", f"```\n{_pretty(config)}\n```")

    def __call__(self, line: Line) -> None:
        """Write one line; with the first, all that came before it in an earlier process."""
        lines = (line,) if self._began else read_metrics(self._folder)
        self._began = True
        for one in lines:
            scalars = scalars_of(one)
            for name, value in scalars.values.items():
                self._writer.add_scalar(name, value, scalars.at)

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """A run of the project `screenloop`; `WANDB_MODE=offline` keeps it on this machine."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        import wandb

        folder.mkdir(parents=True, exist_ok=True)
        name = folder.resolve().name
        try:
            self._run: Any = wandb.init(
                project=PROJECT,
                name=name,
                id=slug(name),
                resume="allow",
                dir=str(folder),
                config=config,
            )
        except wandb.errors.Error as error:
            words = " ".join(str(error).split())
            raise ConfigError(
                f"wandb cannot begin: {words}. Log in with `wandb login`, or set "
                "WANDB_MODE=offline to keep the run here"
            ) from error
        for kind, axis in _AXES.items():
            self._run.define_metric(f"{kind}/*", step_metric=f"{kind}/{axis}")

    def __call__(self, line: Line) -> None:
        self._run.log(_with_axis(line))

    def close(self) -> None:
        self._run.finish()


class Trackio:
    """A run of the project `screenloop`, on this machine; look at it with `trackio show`."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        import trackio

        # It prints on standard output, where a command's own result belongs, and ends what is the
        # current run of the main context once more when the process ends.
        with redirect_stdout(sys.stderr):
            self._run: Any = copy_context().run(
                trackio.init,
                PROJECT,
                name=folder.resolve().name,
                resume="allow",
                config=config,
                embed=False,
                auto_log_cpu=False,
                auto_log_gpu=False,
            )

    def __call__(self, line: Line) -> None:
        self._run.log(_with_axis(line))

    def close(self) -> None:
        with redirect_stdout(sys.stderr):
            self._run.finish()


def _with_axis(line: Line) -> dict[str, float]:
    scalars = scalars_of(line)
    return {**scalars.values, f"{scalars.kind}/{_AXES[scalars.kind]}": float(scalars.at)}


def _pretty(config: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(config)).decode()
