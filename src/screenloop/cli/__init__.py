"""The command line: thin wrappers that print a result, where it is, and what to do next.

With `--json` a command prints one JSON object on stdout and nothing else there. Exit status: 0 it
worked, 1 something failed on the way, 2 a name, flag or file is wrong, 130 stopped by the user.
A file holds a group of commands; what is heavy is imported by the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, UnknownCommandError, UnknownOptionError

from screenloop import __version__
from screenloop.cli import benches, phones, runs, service, suites, training
from screenloop.cli.output import error_console
from screenloop.errors import ConfigError, ScreenloopError
from screenloop.registry import unknown

app = App(
    name="screenloop",
    help="One loop from screen to action: evaluate, collect, train and run GUI agents.",
    version=__version__,
)
for _command in (
    *(runs.collect, runs.report, runs.compare, runs.show),
    *(suites.suites, suites.tasks, suites.proof),
    *(training.train, training.serve_model),
    *(service.serve, service.top, service.doctor),
    *(phones.phone, phones.demo),
):
    app.command(_command)
app.command(runs.evaluate, name="eval")
app.command(phones.apps)
app.command(benches.bench)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command line; every failure is one line on stderr and an exit status.

    Args:
        words: what was typed after `screenloop`; `None` takes it from the process.
    """
    words = sys.argv[1:] if words is None else words
    try:
        for word in words:
            _require_text(word)
        app(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _fail(usage_sentence(error), 2)
    except ConfigError as error:
        _fail(str(error), 2)
    except ScreenloopError as error:
        _fail(f"{error} ({error.blame})", 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _require_text(word: str) -> None:
    """Refuse bytes that are no text: what is written down about a run could not name them."""
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{word!r} is not UTF-8; rename the file or folder.") from error


def usage_sentence(error: CycloptsError) -> str:
    """Return a usage error as one line; an unknown command or flag names the valid ones."""
    if isinstance(error, UnknownCommandError) and error.app and error.unused_tokens:
        names = [name for name in error.app if not name.startswith("-")]
        return str(unknown("command", error.unused_tokens[0], names))
    words = " ".join(str(error).split())
    collection = getattr(error, "argument_collection", None)
    if isinstance(error, UnknownOptionError) and collection is not None:
        flags = sorted({n for a in collection for n in a.names if n.startswith("--")})
        words += f" Valid: {', '.join(flags)}." if flags else " It takes no flags."
    return words


def _fail(words: str, status: int) -> None:
    error_console.print(f"screenloop: {words}", style="red", markup=False, soft_wrap=True)
    sys.exit(status)
