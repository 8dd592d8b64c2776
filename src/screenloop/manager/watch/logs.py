"""A manager's log: a line an event, as text for people or as JSON for machines.

Records may carry `lease`, `instance`, `host`, `run` and `episode` as extra fields; both forms show
those that are there.
"""

from __future__ import annotations

import logging
from typing import Literal, TextIO

import msgspec

from screenloop.registry import unknown

LogForm = Literal["text", "json"]
FORMS: tuple[LogForm, ...] = ("text", "json")
FIELDS = ("run", "episode", "lease", "instance", "host")


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time_s": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(told).decode()


class TextLines(logging.Formatter):
    """A line for people, with the fields behind the message."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the line, the traceback left out."""
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = super().formatMessage(record)
        return f"{line}  [{fields}]" if fields else line


def set_up_logs(form: str, stream: TextIO, level: int = logging.INFO) -> None:
    """Have everything from this level on written to a stream.

    Raises:
        ConfigError: there is no such form.
    """
    if form not in FORMS:
        raise unknown("form of the log", form, FORMS)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)


def _fields(record: logging.LogRecord) -> dict[str, str]:
    return {name: str(vars(record)[name]) for name in FIELDS if vars(record).get(name)}
