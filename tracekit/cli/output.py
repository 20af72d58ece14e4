"""The two ways out: standard output carries data and nothing else, standard error carries narration.

Terminals, pipes and files differ in what they can encode and in when they go away; this module is the only one that
has to know.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from typing import TextIO

from tracekit.errors import TracekitError

PLAIN_SIGNS = str.maketrans(
    {"µ": "u", "μ": "u", "×": "x", "–": "-", "—": "-", "−": "-", "…": "...", "≥": ">=", "≤": "<=", "→": "->", "·": "-"}
)
"""Signs of our reports and what stands for them where the output cannot encode them; others become `?`."""


def prepare() -> None:
    """Let both streams survive text that their encoding does not know, for example `µs` under `LC_ALL=C`."""
    codecs.register_error("tracekit", _plain)
    for stream in (sys.stdout, sys.stderr):
        # Tests and embedders may have put another kind of object there.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="tracekit")


def emit(text: str, *, utf8: bool = False) -> None:
    """Write data to standard output. A reader that went away (`| head`) is no error: it has what it wanted.

    `utf8` is for formats that are UTF-8 by definition, such as JSON: replacing signs in them would change data.
    """
    if sys.stdout is None:
        return
    try:
        binary = getattr(sys.stdout, "buffer", None)
        if utf8 and binary is not None:
            sys.stdout.flush()
            binary.write(text.encode("utf-8", "backslashreplace"))
        else:
            sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise TracekitError(f"cannot write to standard output: {error.strerror or error}") from error


def narrate(text: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def width(fallback: int) -> int:
    """Columns of standard output: `COLUMNS` if set, else the terminal's, else `fallback`."""
    return shutil.get_terminal_size((fallback, 0)).columns


def has_color() -> bool:
    """Whether standard output is a terminal that wants colours (https://no-color.org)."""
    if sys.stdout is None or not sys.stdout.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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
