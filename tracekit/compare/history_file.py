"""A history as a file: JSON lines, one for each recording, only ever added to, so that branches merge line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from sys import intern

from tracekit.compare.history import FIGURES, Recorded
from tracekit.errors import TracekitError

ENDING = ".jsonl"
LINE_VERSION = 1
_MAX_LINE = 4 << 20
"""Characters of a line; one with a thousand models has a tenth of it."""


class _BrokenLineError(Exception):
    """What is wrong with a line, in a clause."""


def line_of(recorded: Recorded) -> str:
    """The line of a recording, with its end."""
    plain = {
        "version": LINE_VERSION,
        "time": recorded.time,
        "commit": recorded.commit,
        "identity": recorded.identity,
        "device": recorded.device,
        "system": recorded.system,
        "report": recorded.report or None,
        "models": {
            # Which findings there were says more than how many.
            model: {
                name: list(recorded.findings.get(model, ())) if name == "findings" else _brief(value)
                for name, value in zip(FIGURES, values, strict=True)
                if value is not None
            }
            for model, values in recorded.models.items()
        },
    }
    return json.dumps({key: value for key, value in plain.items() if value is not None}, separators=(",", ":")) + "\n"


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
        plain = json.loads(line) if len(line) <= _MAX_LINE else None
    except (ValueError, RecursionError):
        raise _BrokenLineError("not valid JSON, as a line that is cut off") from None
    if not isinstance(plain, dict):
        raise _BrokenLineError("not a line of a history")
    if plain.get("version") != LINE_VERSION:
        raise _BrokenLineError("of another version of tracekit")
    time, models, report = plain.get("time"), plain.get("models"), plain.get("report")
    commit, identity, device, system = texts = [plain.get(key) for key in ("commit", "identity", "device", "system")]
    try:
        if not isinstance(time, str) or datetime.fromisoformat(time).tzinfo is None:
            raise _BrokenLineError("its time is missing or wrong")
    except ValueError:
        raise _BrokenLineError("its time is missing or wrong") from None
    if not isinstance(models, dict) or not all(text is None or isinstance(text, str) for text in (*texts, report)):
        raise _BrokenLineError("a part of it is missing or wrong")
    findings: dict[str, tuple[str, ...]] = {}
    values = {name: _values(name, entry, findings) for name, entry in models.items()}
    where = str(folder / report) if report else ""
    return Recorded(time, commit, identity, device, system, values, findings, where)


def _values(model: str, entry: object, findings: dict[str, tuple[str, ...]]) -> tuple[float | None, ...]:
    if not isinstance(entry, dict):
        raise _BrokenLineError("a part of it is missing or wrong")
    checks = entry.get("findings")
    if checks:
        if not isinstance(checks, list) or not all(isinstance(check, str) for check in checks):
            raise _BrokenLineError("its findings are wrong")
        findings[model] = tuple(map(intern, checks))
    count = None if checks is None else len(checks)
    return tuple(count if name == "findings" else _number(entry.get(name)) for name in FIGURES)


def _number(value: object) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= value < 1e18:  # type: ignore[operator] # a number by now
        raise _BrokenLineError("one of its numbers is wrong")
    return float(value)  # type: ignore[arg-type] # the same
