"""The settings of a project that comparisons and `tracekit check` use: how much the latency of each model must change
to count, and what a build is held against.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

from tracekit.detectors.options import matches
from tracekit.errors import UsageError, unknown
from tracekit.named_files import read_file
from tracekit.report.report import SEVERITIES
from tracekit.units import compute_unit, parse_duration


class Key(NamedTuple):
    """One key of a file of settings."""

    example: str
    """The default, or where there is none a value that it could have; as TOML."""
    about: str
    """What it sets, in a clause."""


FLOOR_KEYS = {
    "min-change": Key("0.05", "a smaller change of latency never counts, as a share"),
    "min-change-time": Key('"50us"', "nor does one of less than this time"),
    "allow": Key("0.10", "how much slower than a baseline a model may become, as a share"),
}
_FLOOR_SHARES = {"min-change": "ratio", "allow": "allow"}
"""Fields of `Floor` that these set."""

TIMES = ("p50", "p95", "load", "cold-load", "first-load")
"""Limits that are times: the most that they may be."""
NUMBERS = ("loads", "copies", "in-flight")
"""Limits that are counts: the most loads, copies per prediction, and predictions in flight at once."""
SHARES = ("neural-engine", "gpu", "cpu")
"""Limits that are shares from 0 to 1, by the unit: its least share of compute."""
ANY_WORK = 1e-9
"""The share that asks for any work at all."""
LIMITS = {
    "p50": Key('"16ms"', "median latency"),
    "p95": Key('"20ms"', "95th percentile of latency"),
    "load": Key('"100ms"', "median cached load"),
    "cold-load": Key('"2s"', "median cold load"),
    "first-load": Key('"2s"', "longest load that something waited for, cold or cached"),
    "loads": Key("1", "loads, cold and cached"),
    "copies": Key("2", "copies and conversions per prediction"),
    "in-flight": Key("2", "most predictions in flight at once"),
    "neural-engine": Key("0.9", "least share of compute on the Neural Engine"),
    "gpu": Key("0.9", "least share of compute on the GPU"),
    "cpu": Key("0.9", "least share of compute on the CPU"),
}
"""All limits of models."""
NAMES = tuple(LIMITS)
FINDINGS = {severity: Key("0", f"most {severity} findings") for severity in SEVERITIES}
"""Findings allowed, by severity."""
SUPPRESSION = {
    "finding": Key('"cold-load:Sharpen*"', "CHECK or CHECK:MODEL, as the output names it"),
    "reason": Key('"smaller model in the next release"', "why it does not count"),
    "expires": Key("2027-01-31", "counts again from this date, and this entry fails"),
}
"""A finding that does not count, for a time."""
CHECK_KEYS = {
    "baseline": Key('"perf/iphone.json"', "a baseline to compare with; a path from here"),
    "history": Key('"perf/history.jsonl"', "a history to be the newest build of; a path from here, or git notes"),
    "compiled": Key("0", "most models that may be compiled for the device in a recording"),
    "late-frames": Key('"10ms/s"', "most lateness of frames per second of animation"),
}
"""What `tracekit check` takes beside tables."""
_KEYS = (*CHECK_KEYS, "findings", "limits", "suppress")


@dataclass(frozen=True, slots=True)
class Floor:
    """Smaller changes do not count. Both must be exceeded."""

    ratio: float = 0.05
    absolute_ns: float = 50_000.0
    """Below a millisecond, recordings of one build differ by more than 5%."""
    allow: float = 0.10
    """How much slower than a baseline a build may be."""

    def log(self, before_ns: float, after_ns: float) -> float:
        """The floor as a difference of logarithms; the same in both directions."""
        smaller = max(min(before_ns, after_ns), 1.0)
        return max(math.log1p(self.ratio), math.log1p(self.absolute_ns / smaller))

    def log_allowed(self, before_ns: float) -> float:
        """By how much a latency may grow, as a difference of logarithms."""
        return math.log1p(max(self.allow, self.absolute_ns / max(before_ns, 1.0)))


@dataclass(frozen=True, slots=True)
class Floors:
    """The floor of each model: where several patterns set the same, a later one wins."""

    settings: tuple[tuple[str, Mapping[str, float]], ...] = ()
    """Shell patterns of names, each with fields of `Floor`."""

    def of(self, model: str) -> Floor:
        """The floor of a model by its name."""
        set_for_it = (values for pattern, values in self.settings if matches(model, pattern))
        return Floor(**{name: value for values in set_for_it for name, value in values.items()})


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that models matching a pattern must keep."""

    pattern: str
    name: str
    """One of `NAMES`."""
    value: float
    """In ns, a count or a share."""

    @property
    def setting(self) -> tuple[str, ...]:
        """Keys below the table `check` that lead to it."""
        return ("limits", self.pattern, self.name)


@dataclass(frozen=True, slots=True)
class Suppression:
    """A finding that does not count, for a time."""

    finding: str
    """`CHECK`, or `CHECK:MODEL` with a shell pattern."""
    reason: str
    expires: date

    def covers(self, check: str, model: str | None) -> bool:
        """Whether it is about this finding."""
        check_id, colon, pattern = self.finding.partition(":")
        return check_id == check and (not colon or matches(model or "", pattern))


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What is checked. Empty: nothing is set."""

    baseline: str | None = None
    history: str | None = None
    findings: Mapping[str, int] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    late_frames: float | None = None
    """Most lateness of frames per second of animation, in ns; None where there is no limit."""
    compiled: float | None = None
    """Most models that may be compiled in a recording; None where there is no limit."""

    def suppresses(self, check: str, model: str | None, today: date) -> bool:
        """Whether a finding does not count today."""
        return any(entry.expires >= today and entry.covers(check, model) for entry in self.suppressions)


def parse_floor(table: Mapping[str, Any], where: str) -> dict[str, float]:
    """Fields of `Floor` that a table of settings sets. Raises `UsageError` with the key."""
    values = {}
    for key, field_name in _FLOOR_SHARES.items():
        if (share := table.get(key)) is not None:
            if not (_is_number(share) and share <= 1):
                raise UsageError(f"'{where}{key}': must be a share from 0 to 1, as {FLOOR_KEYS[key].example}")
            values[field_name] = float(share)
    if (time := table.get("min-change-time")) is not None:
        if (time_ns := _time_ns(time)) is None:
            raise UsageError(f"'{where}min-change-time': must be a time with its unit, as \"50us\"")
        values["absolute_ns"] = float(time_ns)
    return values


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value < 1e9


def _time_ns(value: object) -> int | None:
    return parse_duration(value) if isinstance(value, str) else None


def parse_check(table: object, checks: frozenset[str]) -> CheckSettings:
    """The table `check` of a file of settings; `checks` are the ids there are. Raises `UsageError` with the key."""
    settings = _table(table, "check")
    check_keys(settings, _KEYS, "check.")
    for key in ("baseline", "history"):
        if not isinstance(settings.get(key, ""), str):
            raise UsageError(f"'check.{key}': must be the path of a file")
    late = settings.get("late-frames", "0ms/s")
    if not isinstance(late, str) or not late.endswith("/s") or (late_ns := _time_ns(late[:-2])) is None:
        raise UsageError("'check.late-frames': must be a time per second, as \"10ms/s\"")
    compiled = settings.get("compiled")
    if compiled is not None and (type(compiled) is not int or compiled < 0):
        raise UsageError("'check.compiled': must be a whole number from 0 on")
    limits = []
    for pattern, entries in _table(settings.get("limits", {}), "check.limits").items():
        if not isinstance(entries, dict):
            raise UsageError(
                f"'check.limits.{pattern}': write limits below a pattern of models, as [check.limits.\"*\"]"
            )
        limits += [_limit(pattern, name, value) for name, value in entries.items()]
    suppressed = settings.get("suppress", [])
    if not isinstance(suppressed, list):
        raise UsageError("'check.suppress': write [[check.suppress]] before each")
    table = _table(settings.get("findings", {}), "check.findings")
    check_keys(table, SEVERITIES, "check.findings.")
    for name, value in table.items():
        if type(value) is not int or value < 0:
            raise UsageError(f"'check.findings.{name}': must be a whole number from 0 on")
    return CheckSettings(
        settings.get("baseline"),
        settings.get("history"),
        table,
        tuple(limits),
        tuple(_suppression(entry, checks) for entry in suppressed),
        late_ns if "late-frames" in settings else None,
        compiled,
    )


def _limit(pattern: str, name: str, value: Any) -> Limit:
    where = f"'check.limits.\"{pattern}\".{name}'"
    name = compute_unit(name) or name
    if name not in NAMES:
        raise UsageError(f"{where}: {unknown('limit', name, NAMES)}")
    if name in TIMES:
        if not (time_ns := _time_ns(value)):
            raise UsageError(f'{where}: must be a time above 0 with its unit, as "16ms"')
        return Limit(pattern, name, time_ns)
    if not _is_number(value):
        raise UsageError(f"{where}: must be a number from 0 on")
    if name in SHARES and value > 1:
        raise UsageError(f"{where}: must be a share from 0 to 1")
    return Limit(pattern, name, float(value))


def _suppression(entry: object, checks: frozenset[str]) -> Suppression:
    settings = _table(entry, "check.suppress")
    check_keys(settings, SUPPRESSION, "check.suppress.")
    finding, reason, expires = settings.get("finding"), settings.get("reason"), settings.get("expires")
    if not isinstance(finding, str) or not isinstance(reason, str) or not reason.strip():
        raise UsageError("'check.suppress': needs finding and reason, each a text")
    if type(expires) is not date:
        raise UsageError("'check.suppress.expires': must be a date, as 2027-01-31")
    if finding.partition(":")[0] not in checks:
        raise UsageError(f"'check.suppress.finding': {unknown('check', finding.partition(':')[0], sorted(checks))}")
    return Suppression(finding, reason.strip(), expires)


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"'{where}': must be a table")
    return value


def check_keys(table: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    """Raise `UsageError` for a key of a table of settings that is none of these; `where` stands before it."""
    for key in table:
        if key not in keys:
            raise UsageError(f"'{where}{key}': {unknown('setting', key, keys)}")


_PREFIXES = (("check",), ("tool", "tracekit", "check"))
"""Where the table `check` is, in `tracekit.toml` and in `pyproject.toml`."""


def line_of(path: Path, setting: Sequence[str | int]) -> int:
    """Line of a setting, from 1, by its keys below the table `check`; 1 where it is not in the file.

    It is the last line of the shortest beginning of the file that is valid TOML and has the setting, so every way to
    write it is found. O(log lines) parses, more only where one value spans many lines.
    """
    try:
        lines = read_file(path, 1 << 20).decode().splitlines(keepends=True)
    except (OSError, ValueError):
        return 1
    low, high = 1, len(lines)
    if not setting or not _holds(lines, high, setting):
        return 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _holds(lines, middle, setting) else (middle + 1, high)
    return low


def _holds(lines: Sequence[str], count: int, setting: Sequence[str | int]) -> bool:
    """Whether the first lines hold a setting; a value that they cut off belongs to them."""
    # Only what a gate says of a setting looks for its line.
    import tomllib

    for end in range(count, len(lines) + 1):
        try:
            document = tomllib.loads("".join(lines[:end]))
        except ValueError:
            continue
        for prefix in _PREFIXES:
            with suppress(KeyError, IndexError, TypeError):
                reduce(getitem, (*prefix, *setting), document)
                return True
        break
    return False
