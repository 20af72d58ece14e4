"""Everything tracekit can refuse to do, as one tree.

TracekitError            the base; its text is one sentence for the user
├── UnreadableRecording  the input is no recording, or a broken one
│   └── MissingColumn    a table lacks a column that its meaning depends on
└── UsageError           the caller asked for something that does not exist
    └── Inconclusive     nothing can be said of what was chosen

A message says what is wrong, where, and what to do. The command line prints it to standard error and exits with
status 2 (`Inconclusive`: 3); `--debug` adds the traceback. `docs_page` is for messages that lead to the documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

SHOWN_CHOICES = 20
"""How many of the possible names an error message lists."""
_FAR = 3
"""Letters that differ where another name is meant, fewest. Heuristic: `lint` is not `init`, nor `ksh` `zsh`."""
REPOSITORY = "https://github.com/coreml-tracekit/tracekit"


class TracekitError(Exception):
    """An expected failure. `str(error)` is one sentence that a user can act on."""


class UnreadableRecording(TracekitError):  # noqa: N818 - the name is part of the published contract
    """The input cannot be read as a recording: wrong kind, truncated, malformed, hostile or inconsistent."""


class MissingColumn(UnreadableRecording):
    """A table lacks a column that its meaning depends on."""

    def __init__(self, schema: str, column: str, present: tuple[str, ...]) -> None:
        self.schema = schema
        self.column = column
        self.present = present
        listed = ", ".join(present) if present else "none"
        super().__init__(
            f"table '{schema}' has no column '{column}' (columns found: {listed}); export that table again "
            "with xctrace, complete and unedited"
        )


class UsageError(TracekitError):
    """A name, option or value that the caller gave does not exist or does not fit."""


class Inconclusive(UsageError):  # noqa: N818 - what it is, as `MissingColumn`
    """Nothing can be said of what was chosen: nothing ran in that part of the time, or it ran in a simulator."""


@contextmanager
def refusals(doing: str, kind: type[TracekitError] = TracekitError) -> Iterator[None]:
    """What the operating system refuses meanwhile, as an error of ours: "cannot write report.html: disk full"."""
    try:
        yield
    except OSError as error:
        raise kind(f"cannot {doing}: {error.strerror or error}") from error


def unknown(what: str, name: str, choices: Iterable[str]) -> UsageError:
    """Error for a name that does not exist: the nearest choice, if any, and the choices, `SHOWN_CHOICES` at most: a
    machine-wide recording holds hundreds of processes."""
    names = list(choices)
    shown = ", ".join(names[:SHOWN_CHOICES]) or "none"
    more = f" and {len(names) - SHOWN_CHOICES} more" if len(names) > SHOWN_CHOICES else ""
    return UsageError(f"unknown {what} '{name}'{suggest_name(name, names)} (available: {shown}{more})")


def nothing_at(path: str) -> UnreadableRecording:
    """Error for a path at which nothing is."""
    return UnreadableRecording(f"{path}: no such file or directory{suggest_path(path)}")


def suggest_path(path: str) -> str:
    """What may be meant by the first part of a path at which nothing is, as a question; empty where none is near."""
    from pathlib import Path

    missing = Path(path)
    try:
        while missing != missing.parent and not missing.parent.exists():
            missing = missing.parent
        names = {entry.stem: entry.name for entry in missing.parent.iterdir()}
    except (OSError, ValueError):
        return ""
    near = _nearest(missing.stem, names)
    return f"; did you mean '{names[near]}'?" if near else ""


def suggest_name(name: str, names: Iterable[str]) -> str:
    """The nearest name as a question; empty where none is near."""
    near = _nearest(name, names)
    return f"; did you mean '{near}'?" if near else ""


def naming_keywords(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function; a keyword that it does not take raises a TypeError with the one that may be meant."""
    # Whoever has such a function has loaded it.
    from inspect import signature

    known = signature(function).parameters

    @wraps(function)
    def called(*values: P.args, **named: P.kwargs) -> Result:
        for name in named:
            if name not in known:
                raise TypeError(f"unexpected keyword argument '{name}'{suggest_name(name, known)}")
        return function(*values, **named)

    return called


def _nearest(name: str, names: Iterable[str]) -> str:
    """The name meant: one with a slip or swapped letters, or that has `name` as a word or beginning; else none."""
    from difflib import SequenceMatcher

    def slips(word: str) -> int:
        """Letters of either that the other lacks. The first one is seldom wrong."""
        same = sum(block.size for block in SequenceMatcher(None, name, word).get_matching_blocks())
        is_meant = sorted(word) == sorted(name) or (len(name) > _FAR and word.startswith(name))
        differing = 0 if is_meant else len(name) + len(word) - 2 * same
        return differing + (word[:1] != name[:1])

    # A long one is no slip, and to compare it takes long.
    listed = list(names) if len(name) <= 200 else []
    words = {word: each for each in reversed(listed) for word in each.split("-")} | {each: each for each in listed}
    near = min(words, key=slips, default="")
    return words[near] if near and slips(near) < min(_FAR + max(len(name) // 5 - 1, 0), len(name)) else ""


def words_of(error: BaseException) -> str:
    """Kind and text of an exception, whatever the exception makes of being asked for its text."""
    try:
        return f"{type(error).__name__}: {error}".strip()
    except Exception:
        return type(error).__name__


def install_command(requirement: str) -> str:
    """The command line that installs into the environment that runs. For `coreml-tracekit[sql]` it adds what the extra
    needs to the tracekit that is there, also to one from a checkout."""
    import shlex
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    python, home = sys.executable, f"{Path.home()}/"
    # The home folder names the user.
    python = f"~/{shlex.quote(python.removeprefix(home))}" if python.startswith(home) else shlex.quote(python)
    # Environments of uv have no pip.
    tool = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"{tool} {shlex.quote(requirement)}"


def import_extra(module: str, extra: str, needed: str) -> Any:
    """A module of a package that an extra brings. Raises `UsageError` with what is `needed`, and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"{needed}: {install_command(f'coreml-tracekit[{extra}]')}") from error


def docs_page(name: str) -> str:
    """Address of a page of `docs/`, such as `compare.md`."""
    return f"{REPOSITORY}/blob/main/docs/{name}"
