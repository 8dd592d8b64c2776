"""Keeps the policy of a run as a model that can be served, whether the run ends or is killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from screenloop.engine.local import LocalEngine
from screenloop.errors import InfraFault
from screenloop.report.training.metrics import EvaluationLine, Line, UpdateLine
from screenloop.report.training.run_files import POLICY


class PolicyKeeper:
    """A `Watch` that writes `policy/` after the warm-up and with every so many updates.

    Each file is replaced whole, so what a kill leaves can be loaded.
    """

    def __init__(self, folder: Path, engine: LocalEngine, *, name: str, every: int) -> None:
        """Prepare.

        Args:
            folder: Of the run.
            engine: Holds the weights that the newest attempts were drawn with.
            name: What the policy is called where it is served.
            every: Updates from one keeping to the next.
        """
        self._folder = folder
        self._engine = engine
        self._name = name
        self._every = every

    def __call__(self, line: Line) -> None:
        """Keep the policy where this line says that it is worth it."""
        match line:
            case EvaluationLine(when="after_sft", of="test"):
                self.keep()
            case UpdateLine(update=number) if number % self._every == 0:
                self.keep()

    def keep(self) -> None:
        """Write the policy as it is now.

        Raises:
            InfraFault: the disk refuses.
        """
        kept, partial = self._folder / POLICY, self._folder / f".{POLICY}.part"
        try:
            replace(self._engine.policy, name=self._name).save(partial)
            kept.mkdir(exist_ok=True)
            # The configuration goes last: without it the folder is no model yet.
            for path in sorted(partial.iterdir(), key=lambda path: path.name == "config.json"):
                path.replace(kept / path.name)
            partial.rmdir()
        except OSError as error:
            raise InfraFault(f"cannot write the policy into {kept}: {error}") from error
