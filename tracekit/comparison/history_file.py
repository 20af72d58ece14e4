"""A history as a file: JSON lines, one for each recording, only ever added to, so that branches merge line by line; or
as git notes: those of a ref hold such lines, each on the commit that was recorded. Notes travel apart from the
branches, so no build changes a file of the repository.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from sys import intern
from typing import Any

from tracekit.comparison.history import FIGURES, Recorded
from tracekit.comparison.measurements import utc
from tracekit.errors import TracekitError, UsageError, refusals
from tracekit.named_files import read_file

ENDING = ".jsonl"
REF = "refs/notes/"
"""How the name of notes begins."""
LINE_VERSION = 1
MOST_BYTES = 256 << 20
"""Of a history: as much as a report may have."""
_TEXTS = ("commit", "identity", "device", "system", "report")


def line_of(recorded: Recorded) -> str:
    """The line of a recording, with its end."""
    models = {
        # Which findings there were says more than how many.
        model: {
            name: list(recorded.findings.get(model, ())) if name == "findings" else _brief(value)
            for name, value in zip(FIGURES, values, strict=True)
            if value is not None
        }
        for model, values in recorded.models.items()
    }
    texts = {key: getattr(recorded, key) for key in _TEXTS if getattr(recorded, key)}
    plain = {"version": LINE_VERSION, "time": recorded.time, **texts, "models": models}
    return json.dumps(plain, separators=(",", ":")) + "\n"


def _brief(value: float) -> float:
    return int(value) if value == int(value) else value


def is_history(path: str) -> bool:
    """Whether this names a history: a file, or notes of git."""
    return path.endswith(ENDING) or path.startswith(REF)


def read_history(name: str, *, is_new: bool = False) -> tuple[list[Recorded], list[str]]:
    """The recordings of a history, which is a file or a ref of git notes, and a sentence for each line that cannot be
    read, with its number. Raises `TracekitError` where it cannot be read at all, or is not there; with `is_new` it is
    empty then. O(bytes)."""
    recordings: list[Recorded] = []
    problems: list[str] = []
    missing = f"begin it with `tracekit history RECORDING --add-to {name}`"
    if name.startswith(REF):
        for commit, text in noted(name):
            lines = _recorded_in(text.splitlines(), Path(), f"{name}, note on {commit[:7]}", problems)
            # Whoever added it may have named the commit in another way.
            recordings += (replace(one, commit=commit) for one in lines)
        if not recordings and not problems and not is_new:
            raise TracekitError(f"no notes in {name}; fetch them with `git fetch origin {name}:{name}`, or {missing}")
        return recordings, problems
    path = Path(name)
    try:
        in_file = io.StringIO(read_file(path, MOST_BYTES).decode(errors="replace"), newline=None)
        recordings += _recorded_in(in_file, path.parent, path.name, problems)
    except FileNotFoundError:
        if not is_new:
            raise TracekitError(f"{path}: no such file or directory; {missing}") from None
    except OSError as error:
        raise TracekitError(f"cannot read the history {path}: {error.strerror or error}") from None
    return recordings, problems


def _recorded_in(lines: Iterable[str], folder: Path, name: str, problems: list[str]) -> Iterator[Recorded]:
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield _recorded(line, folder)
        except ValueError as error:
            problems.append(f"{name}, line {number}: {error}")


def add_to_history(name: str, recordings: Iterable[Recorded]) -> int:
    """Add recordings that are not in a history yet, in a new one where there is none. Returns how many were added.
    Raises `TracekitError` where a line cannot be read: what it was is first to be known."""
    path, in_notes = Path(name), name.startswith(REF)
    earlier, problems = read_history(name, is_new=True)
    if problems:
        raise TracekitError(f"nothing was added: {problems[0]}")
    identities = {one.identity for one in earlier}
    added = []
    for one in recordings:
        if one.identity is None or one.identity not in identities:
            identities.add(one.identity)
            added.append(one)
    if in_notes:
        for one in added:
            add_note(name, one.commit, line_of(one))
        return len(added)
    with refusals(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        before = read_file(path, MOST_BYTES) if path.exists() else b""
        # An editor may have left out the end of the last line.
        cut_off = before[-1:] not in (b"", b"\n")
        try:
            with path.open("a", encoding="ascii", newline="\n") as file:
                file.write("\n" * cut_off + "".join(map(line_of, added)))
        except BaseException:
            # Half a line would keep every later one from being added.
            with suppress(OSError):
                os.truncate(path, len(before))
            raise
    return len(added)


def _recorded(line: str, folder: Path) -> Recorded:
    """The inverse of `line_of`. Raises `ValueError`, which says in a clause what is wrong."""
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        raise ValueError("a mark of a merge conflict; keep the lines of both sides")
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not valid JSON, as a line that is cut off") from None
    if not isinstance(plain, dict) or plain.get("version") != LINE_VERSION:
        raise ValueError("not a line of a history that this version of tracekit reads")
    commit, identity, device, system, report = texts = [plain.get(key) for key in _TEXTS]
    try:
        time, models = utc(plain["time"]), plain["models"]
        values = {model: tuple(_number(entry.get(name)) for name in FIGURES) for model, entry in models.items()}
        findings = {model: tuple(map(intern, entry.get("findings", ()))) for model, entry in models.items()}
    except (KeyError, TypeError, AttributeError):
        time = None
    if time is None or not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("a part of it is missing or wrong")
    where = str(folder / report) if report else ""
    return Recorded(time, commit, identity, device, system, values, findings, where)


def _number(value: Any) -> float | None:
    """A value of a line; of findings, which are named, how many there are. Raises `TypeError`."""
    number = len(value) if type(value) is list else value
    if number is not None and not (type(number) in (int, float) and 0 <= number < 1e18):
        raise TypeError
    return number


def noted(ref: str) -> list[tuple[str, str]]:
    """Each commit that has a note, in the repository of the current folder, and the text of its note. Raises
    `TracekitError` where git cannot tell."""
    listed = [line.split() for line in _git("notes", f"--ref={ref}", "list").decode().splitlines()]
    # Each object is a line with its size in bytes, its text, and a line break.
    rest = _git("cat-file", "--batch", text="".join(f"{blob}\n" for blob, _ in listed))
    notes = []
    for _, commit in listed:
        head, _, rest = rest.partition(b"\n")
        size = int(head.split()[-1])
        notes.append((commit, rest[:size].decode(errors="replace")))
        rest = rest[size + 1 :]
    return notes


def add_note(ref: str, commit: str | None, line: str) -> None:
    """Add a line to the note on a commit. Raises `TracekitError` where git refuses, `UsageError` without a commit."""
    if commit is None:
        raise UsageError("a note is on a commit; name the one that was recorded with --commit")
    _git("notes", f"--ref={ref}", "append", "-F", "-", "--", commit, text=line)


def _git(*arguments: str, text: str = "") -> bytes:
    with refusals("run git"):
        done = subprocess.run(["git", *arguments], input=text.encode(), capture_output=True, check=False)  # noqa: S603, S607 - a list, no shell
    if done.returncode:
        error = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ").removeprefix("error: ")
        raise TracekitError(f"git: {error.splitlines()[0] if error else f'exit status {done.returncode}'}")
    return done.stdout
