"""A history as a file: JSON lines, one for each recording, only ever added to, so that branches merge line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from sys import intern

from tracekit.compare.history import FIGURES, Recorded, utc
from tracekit.errors import TracekitError

ENDING = ".jsonl"
LINE_VERSION = 1
_MEASURED = tuple(FIGURES)[:-1]
"""All but findings, which a line names."""
_TEXTS = ("commit", "identity", "device", "system", "report")


class _BrokenLineError(Exception):
    """What is wrong with a line, in a clause."""


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


def read_history(path: Path) -> tuple[list[Recorded], list[str]]:
    """The recordings of a history, and a sentence for each line that cannot be read, with its number. Raises
    `TracekitError` where the file cannot be read at all. O(bytes)."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            recordings, problems = [], []
            for number, line in enumerate(file, 1):
                try:
                    if line.strip():
                        recordings.append(_recorded(line, path.parent))
                except _BrokenLineError as error:
                    problems.append(f"{path.name}, line {number}: {error}")
    except FileNotFoundError:
        raise TracekitError(
            f"{path}: no such file or directory; begin it with `tracekit history RECORDING --add-to {path}`"
        ) from None
    except OSError as error:
        raise TracekitError(f"cannot read the history {path}: {error.strerror or error}") from None
    return recordings, problems


def add_to_history(path: Path, recordings: Iterable[Recorded]) -> int:
    """Add recordings that are not in a history yet, in a new file where there is none. Returns how many were added.
    Raises `TracekitError` where a line cannot be read: what it was is first to be known."""
    known: set[str | None] = set()
    if path.exists():
        earlier, problems = read_history(path)
        if problems:
            raise TracekitError(f"nothing was added: {problems[0]}")
        known = {one.identity for one in earlier}
    lines = []
    for one in recordings:
        if one.identity is None or one.identity not in known:
            known.add(one.identity)
            lines.append(line_of(one))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            file.seek(0, 2)
            if file.tell():
                file.seek(-1, 2)
                # An editor may have left out the end of the last line.
                lines[:0] = [] if file.read(1) == b"\n" else ["\n"]
            file.write("".join(lines).encode("ascii"))
    except OSError as error:
        raise TracekitError(f"cannot write {path}: {error.strerror or error}") from None
    return sum(line != "\n" for line in lines)


def _recorded(line: str, folder: Path) -> Recorded:
    """The inverse of `line_of`. Raises `_BrokenLineError`."""
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        raise _BrokenLineError("a mark of a merge conflict; keep the lines of both sides")
    try:
        plain = json.loads(line)
    except (ValueError, RecursionError):
        raise _BrokenLineError("not valid JSON, as a line that is cut off") from None
    if not isinstance(plain, dict) or plain.get("version") != LINE_VERSION:
        raise _BrokenLineError("not a line of a history that this version of tracekit reads")
    commit, identity, device, system, report = texts = [plain.get(key) for key in _TEXTS]
    try:
        time, models = utc(plain["time"]), plain["models"]
        findings = {
            model: tuple(map(intern, entry["findings"])) for model, entry in models.items() if "findings" in entry
        }
        values = {
            model: (
                *(_number(entry.get(name)) for name in _MEASURED),
                len(findings[model]) if model in findings else None,
            )
            for model, entry in models.items()
        }
    except (KeyError, TypeError, AttributeError):
        time = None
    if time is None or not all(text is None or isinstance(text, str) for text in texts):
        raise _BrokenLineError("a part of it is missing or wrong")
    where = str(folder / report) if report else ""
    return Recorded(time, commit, identity, device, system, values, findings, where)


def _number(value: object) -> float | None:
    if value is not None and not (type(value) in (int, float) and 0 <= value < 1e18):  # type: ignore[operator]
        raise TypeError
    return value  # type: ignore[return-value] # a number by now
