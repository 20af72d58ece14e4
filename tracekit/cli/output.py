"""The two ways out: standard output carries data and nothing else, standard error carries narration. Terminals, pipes
and files differ in what they can encode and in when they go away; this module is the only one that has to know."""

from __future__ import annotations

import codecs
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TextIO

from tracekit.characters import REPLACEMENT, escape_json, printable, visible
from tracekit.errors import TracekitError

PLAIN_SIGNS = str.maketrans(
    {"µ": "u", "μ": "u", "×": "x", "–": "-", "—": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "→": "->", "·": "-"}
    | {"±": "+-", "█": "#", "▓": "=", "▒": ":", "░": ".", "●": "*", "○": "o", "²": "2", "¦": "|"}
    | dict(zip("▁▂▃▄▅▆▇", "_.,-~+=", strict=True))
)
"""Signs of our reports and what stands for them where the output cannot encode them; others become `?`."""
_RUNNER_COMMAND = "##["
"""What GitHub Actions takes for a command anywhere in a line (actions/runner `ActionCommand.cs`)."""
_RUNNER_COMMAND_LINE = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
"""What it takes for one at the beginning of a line."""

_data: TextIO | None = None
"""Standard output while `data_alone` keeps it from others."""
_is_alone = False


def prepare() -> None:
    """Let both streams survive text that their encoding does not know, for example `µs` under `LC_ALL=C`, and let the
    descriptor 1 lead to standard error: data goes out on another one, which no code but ours knows."""
    codecs.register_error("tracekit", _plain)
    if sys.stdout is not None:
        sys.stdout = _on_own_descriptor(sys.stdout)
        # By this name Python asks for the size of the terminal.
        vars(sys)["__stdout__"] = sys.stdout
    for stream in (sys.stdout, sys.stderr):
        # Tests and embedders may have put another kind of object there.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="tracekit")


def _on_own_descriptor(stream: TextIO) -> TextIO:
    """The same stream on a descriptor of its own, so that a plug-in, or a library in C, that writes to the descriptor 1
    writes to standard error. The stream itself where it has no descriptor."""
    try:
        duplicate = os.dup(stream.fileno())
    except (OSError, ValueError):
        return stream
    if sys.stderr is None:
        _discard(stream)
    else:
        os.dup2(sys.stderr.fileno(), stream.fileno())
    return open(duplicate, "w", encoding=stream.encoding, buffering=1 if stream.isatty() else -1)  # noqa: PTH123


@contextmanager
def data_alone() -> Iterator[None]:
    """Keep standard output for `emit`: what anybody else prints, such as a plug-in, goes to standard error."""
    global _data, _is_alone
    before = _data, _is_alone
    with ExitStack() as stack:
        _data, _is_alone = standard_output(), True
        others = sys.stderr if sys.stderr is not None else stack.enter_context(Path(os.devnull).open("w"))
        stack.enter_context(redirect_stdout(others))
        try:
            yield
        finally:
            _data, _is_alone = before


def standard_output() -> TextIO | None:
    """The stream for data; None where there is none."""
    return _data if _is_alone else sys.stdout


def emit(text: str, *, utf8: bool = False, styled: bool = False, commands: bool = False) -> None:
    """Write data to standard output. A reader that went away (`| head`) is no error: it has what it wanted. Nothing
    that could steer a terminal leaves: JSON gets escapes, other text signs in its place. `utf8` is for JSON, which is
    UTF-8 by definition: replacing signs in it would change data. `styled` text keeps its colors. In GitHub Actions no
    line is a command of the runner but those of `commands`, whose data are escaped."""
    stream = standard_output()
    if stream is None:
        return
    safe = _without_commands(
        escape_json(text) if utf8 else printable(text, styled=styled), as_json=utf8, whole=commands
    )
    try:
        binary = getattr(stream, "buffer", None)
        if utf8 and binary is not None:
            stream.flush()
            binary.write(safe.encode("utf-8", "backslashreplace"))
        else:
            stream.write(safe)
        stream.flush()
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        raise TracekitError(f"cannot write to standard output: {error.strerror or error}") from error


def narrate(text: str, *, multiline: bool = False) -> None:
    """Write one line to standard error; several only where `multiline` says so."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{_without_commands(visible(text, multiline=multiline))}\n")
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def tell(arguments: Namespace, text: str) -> None:
    """Write a line to standard error, unless the command is to be `--quiet`."""
    if not arguments.quiet:
        narrate(f"tracekit: {text}")


def narrate_in_place(text: str) -> bool:
    """Show a line on the terminal that the next one replaces; an empty one removes it. False where there is none."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return False
    try:
        sys.stderr.write(f"\r{visible(text)}\x1b[K")
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return True


def _without_commands(text: str, *, as_json: bool = False, whole: bool = False) -> str:
    """In GitHub Actions, a text that names of a recording cannot make a command of the runner; elsewhere, the text.
    `whole` lines are commands themselves."""
    if not os.environ.get("GITHUB_ACTIONS"):
        return text
    # Both mean in JSON what they replace.
    sharp, colon = (r"\u0023", r"\u003a") if as_json else (REPLACEMENT, REPLACEMENT)
    text = text.replace(_RUNNER_COMMAND, f"#{sharp}[")
    return text if whole else _RUNNER_COMMAND_LINE.sub(lambda match: match[1] + colon, text)


def typed_line(prompt: str) -> str:
    """A line that somebody types at a terminal. Raises EOFError, KeyboardInterrupt."""
    # Python edits lines, and completes words, only where it writes to the descriptor 1, which leads to standard error.
    with open(1, "w", closefd=False) as stream, redirect_stdout(stream):
        return input(prompt)


def is_interactive() -> bool:
    """Whether somebody reads standard error and can answer on standard input: a command in the background cannot."""
    if any(stream is None or not stream.isatty() for stream in (sys.stdin, sys.stderr)):
        return False
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    stream = standard_output()
    return stream is not None and stream.isatty()


def terminal_problem() -> str:
    """Why a full screen cannot be drawn on standard output, a terminal; empty where it can."""
    stream = standard_output()
    if os.name == "nt":
        return "consoles of Windows are not supported, Linux in WSL is"
    if os.environ.get("TERM") == "dumb":
        return "this one cannot move its cursor (TERM is dumb)"
    # Tests and embedders may have put another kind of object there.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if codecs.lookup(encoding).name != "utf-8":
        return f"this one takes no Unicode ({encoding}); LC_ALL=C.UTF-8 or PYTHONUTF8=1 may change that"
    return ""


def width(fallback: int) -> int:
    """Columns of standard output: `COLUMNS` if set, else the terminal's, else `fallback`."""
    return shutil.get_terminal_size((fallback, 0)).columns


def has_color() -> bool:
    """Whether standard output wants colors: `NO_COLOR` never (https://no-color.org), `FORCE_COLOR` and `CLICOLOR_FORCE`
    always (https://force-color.org, https://bixense.com/clicolors), else a terminal that is not dumb."""
    stream = standard_output()
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Codec error handler: the nearest ASCII for what cannot be encoded."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end].translate(PLAIN_SIGNS)
    return wrong.encode("ascii", "replace").decode("ascii"), error.end


def _discard(stream: TextIO) -> None:
    """Send the rest of a stream nowhere, so that the flush when Python exits does not fail once more."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
