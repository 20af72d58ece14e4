"""Values as every readable format of the report shows them. None is `–`: not enough values, or not recorded."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import TYPE_CHECKING

from tracekit.characters import lower_first as lower_first, shorten as shorten, visible as visible
from tracekit.units import format_bytes, format_rate, format_share, format_time

if TYPE_CHECKING:
    from tracekit.detectors.outcomes import Evidence, Metric
    from tracekit.model_files.facts import ModelFile
    from tracekit.model_files.performance.facts import PerformanceReport
    from tracekit.recording.contents import TableEntry
    from tracekit.report.report import ModelFileInfo, PerformanceReportInfo, RecordingInfo, TableInfo
    from tracekit.trace.trace import Coverage, Joined
from collections.abc import Iterator

from tracekit.trace.events import Calls, Origin
from tracekit.units import format_error

ABSENT = "–"
"""Stands for None."""

ABSENT_NOTE = f"{ABSENT}: not recorded, or too few values"
"""Explains `ABSENT` wherever it is shown."""

OUTCOMES = {
    "finding": "finding",
    "passed": "passed",
    "not_applicable": "not applicable",
    "not_evaluated": "not evaluated",
    "error": "error",
}
"""Outcomes of checks in words."""

STATE_WORDS = {
    "rows": "recorded",
    "empty": "recorded, no events",
    "missing": "not recorded",
    "unreadable": "unreadable",
}
"""States of instruments in words; `coverage_state` is more exact."""

RELATIONS = {"possible_cause": "may be caused by", "possible_effect": "may cause"}
"""What another finding may be to one, in words."""

END_REASONS = {
    "user pressed stop": "stopped by user",
    "target app exited": "target app exited",
    "time limit reached": "time limit reached",
}
"""How recordings end normally, in words."""


def pid_suffix(recording: RecordingInfo) -> str:
    """` (pid 7)` behind the name of the target; empty where its pid is not known, and where it is all that is known."""
    pid = recording.target_pid
    return "" if pid is None or recording.target == f"pid {pid}" else f" (pid {pid})"


def duration(ns: float | None, resolution_ns: int = 0) -> str:
    """A duration in ns, known to its resolution, or `–`."""
    return ABSENT if ns is None else format_time(ns, resolution_ns)


def evidence_size(entry: Evidence, resolution_ns: int = 0) -> str:
    """How much an interval weighs: of memory in bytes, else its length."""
    return duration(entry.duration_ns, resolution_ns) if entry.bytes is None else format_bytes(entry.bytes)


def count(value: int | None) -> str:
    """A whole number with thousands separators, or `–`."""
    return ABSENT if value is None else f"{value:,}"


def extreme_word(evidence: Sequence[Evidence]) -> str:
    """How intervals are called that weigh most: `largest` of memory, else `longest`."""
    return "largest" if evidence and evidence[0].bytes is not None else "longest"


def moment(time_ns: int, resolution_ns: int = 1_000_000) -> str:
    """Time since the start of the run: `2.896 s`, from a minute on `01:07.457` or `1:02:03.004`; truncated to
    milliseconds, as Instruments does, or with groups of three more digits until they tell times `resolution_ns` apart:
    `12.345 678 s`."""
    seconds, nanos = divmod(abs(time_ns), 1_000_000_000)
    millis, micros, nanos = nanos // 1_000_000, nanos // 1_000 % 1_000, nanos % 1_000
    groups = [f"{micros:03d}"] * (resolution_ns < 1_000_000) + [f"{nanos:03d}"] * (resolution_ns < 1_000)
    fraction = " ".join([f"{millis:03d}", *groups])
    sign = "-" if time_ns < 0 else ""
    if seconds < 60:
        return f"{sign}{seconds}.{fraction} s"
    lead = f"{seconds // 3600}:" if seconds >= 3600 else ""
    return f"{sign}{lead}{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction}"


def explain_commands(checks: Iterable[str]) -> tuple[str, ...]:
    """The command that prints the page of a check; of any, where there are several, and none where there is none."""
    names = set(checks)
    return (f"tracekit explain {names.pop() if len(names) == 1 else 'ID'}",) if names else ()


def start_words(date: str) -> str:
    """An ISO 8601 date to the minute, on the Mac's clock; bundles do not hold its time zone, so theirs says UTC."""
    return date[:16].replace("T", " ") + (" UTC" if date.endswith(("+00:00", "Z")) else "")


def end_reason(reason: str) -> str:
    """How a recording ended; a reason that is not known stays as it is."""
    return END_REASONS.get(reason.casefold(), reason)


def coverage_state(entry: Coverage) -> str:
    """The state in words: what was not exported may be sound; without table of contents nothing is known missing."""
    if entry.state == "missing" and not entry.conclusion.endswith("not recorded."):
        return "unknown"
    if entry.state == "unreadable" and entry.conclusion.endswith("not exported."):
        return "not exported"
    return STATE_WORDS[entry.state]


def incomplete_tables(tables: Iterable[TableEntry | TableInfo]) -> tuple[str, ...]:
    """A sentence for each table that has rows and lacks columns."""
    return tuple(
        f"the table {entry.schema} is incomplete: {entry.reason}"
        for entry in tables
        if entry.state == "rows" and entry.reason
    )


def file_problems(
    model_files: Iterable[Joined[ModelFile] | ModelFileInfo],
    performance_reports: Iterable[Joined[PerformanceReport] | PerformanceReportInfo],
) -> tuple[str, ...]:
    """A clause for each file that is not used, or of which that is in doubt."""
    files = (("Model file", model_files), ("Performance report", performance_reports))
    return tuple(
        f"{what} {file.source}: {lower_first(file.problem)}" for what, group in files for file in group if file.problem
    )


def frames(rate: float | None) -> str:
    """Frames per second, rounded down, with two digits below 10; `–` where they are not known."""
    if rate is None:
        return ABSENT
    digits = max(1 - floor(log10(rate)), 0) if rate else 0
    return f"{floor(rate * 10**digits) / 10**digits:,.{digits}f}"


def quantity(value: float | None, unit: str, resolution_ns: int = 0) -> str:
    """A value in its unit: `ns` (to its resolution), `share`, `fps`, `count`, `ratio` or another, written behind it."""
    if value is None:
        return ABSENT
    if unit == "ns":
        return format_time(value, resolution_ns)
    if unit == "share":
        return format_share(value)
    if unit == "bytes":
        return format_bytes(round(value))
    if unit == "fps":
        return f"{frames(value)} fps"
    if unit == "/s" and 0 < value < 1:
        return f"{format_rate(value, '')}/s"
    number = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"
    if unit == "count":
        return number
    number = number.rstrip("0").rstrip(".") if "." in number else number
    return number if unit == "ratio" else f"{number}{unit}" if unit[:1] == "/" else f"{number} {unit}"


def condition(metric: Metric) -> str:
    """The limit at which a metric is a problem, for example `≥ 0.5`; empty where it has none."""
    if metric.threshold is None or metric.direction is None:
        return ""
    sign = "≥" if metric.direction == "above" else "≤"
    return f"{sign} {quantity(metric.threshold, metric.unit)}"


_PLAIN_OPENERS = frozenset(
    """
    A Add All An Analyze Cannot Check Compiled Each Export For If It Keep Latency Loaded Most Nearly Needs No None
    Not Nothing Only Output Predictions Press Record Several Sign Some Something Start Table Tables The There This Up
    Use Whether
    """.split()  # noqa: SIM905 - one string is easier to read
)
"""Words that lose their capital inside a sentence; any other first word may be a name."""


def clause(sentence: str) -> str:
    """A sentence as a part of another one."""
    return f"{sentence[0].lower()}{sentence[1:]}" if sentence.split(" ")[0] in _PLAIN_OPENERS else sentence


def word_list(words: Iterable[str]) -> str:
    """Words as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    *head, last = list(words) or [""]
    return f"{', '.join(head)} and {last}" if head else last


def command(name: str, *paths: str) -> str:
    """A command line of tracekit that a shell takes as it is."""
    dashes = ("--",) if any(path.startswith("-") for path in paths) else ()
    return shlex.join(("tracekit", name, *dashes, *paths))


def fix_line(fix: str) -> str:
    """The first sentence of a fix, without the code that follows."""
    paragraph = " ".join(fix.partition("```")[0].partition("\n\n")[0].split())
    sentence = paragraph.partition(". ")[0].rstrip(".:")
    return lower_first(sentence)


INFERRED_FROM = {Origin.CALL_STACKS: "call stacks", Origin.HARDWARE: "hardware rows"}
RECORDED_AS = ("recorded as", "Core ML's signpost")


def inferred_facts(calls: Calls) -> Iterator[tuple[tuple[str, str], ...]]:
    """Names and words for each of these rows of the Activity lane; none for one that Core ML recorded. O(rows)."""
    cells = (calls.origin.as_objects(), calls.resolution_ns, calls.single, *calls.bounds)
    columns = (cell.tolist() for cell in cells)
    for origin, resolution, single, start_min, start_max, end_min, end_max in zip(*columns, strict=True):
        if origin == Origin.CORE_ML:
            yield ()
            continue
        if origin == Origin.SIGNPOSTS:
            yield (RECORDED_AS,)
            continue
        began, latest, earliest, over = (moment(ns, 1_000) for ns in (start_min, start_max, end_min, end_max))
        facts = [("inferred from", INFERRED_FROM[Origin(origin)])]
        if origin == Origin.HARDWARE:
            facts += [("started", f"at {latest} or before"), ("ended", f"at {earliest} or later")]
        else:
            facts += [("resolution", format_error(resolution))]
            facts += [("started", f"{began} to {latest}"), ("ended", f"{earliest} to {over}")]
        if not single:
            facts += [("calls", "one or more")]
        yield tuple(facts)
