"""Launches of an app side by side: in which of them each model was compiled for the device, what differed from the
launch before, and what follows. A cause is likely at most: no recording holds a signature, the cache or its key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from tracekit.analysis.specialization import Answer, Specialization, Specializations
from tracekit.comparison.measurements import Environment, Measurements, utc
from tracekit.comparison.measuring import environment_of
from tracekit.detectors.outcomes import SEVERITY_FLOORS
from tracekit.grouping import grouped
from tracekit.report.formatting import word_list
from tracekit.report.report import Report
from tracekit.units import format_count, format_time

CHECK: Final = "compiled-again"
"""The finding, as in one recording."""


class Pattern(StrEnum):
    """When a model is compiled, of the launches that loaded it."""

    NEVER = "never"
    ONCE = "once"
    """At the first launch, and cached in all others."""
    EACH = "each"
    SOME = "some"
    UNCLEAR = "unclear"
    """Of one launch alone, or with launches that do not show it."""


class Launched(NamedTuple):
    """One recording of an app."""

    source: str
    environment: Environment
    started: str | None
    commit: str | None
    shown: Specializations


class Fact(NamedTuple):
    """Something on which the cache may depend, and what follows where it differs."""

    name: str
    expected: bool
    """Whether compiling again is as it should be then."""
    words: str
    fix: str = ""


_CONTENT: Final = "operations of the model"
FACTS: Final = (
    Fact("system", True, "each system update empties the cache"),
    Fact(_CONTENT, True, "another model under the same name"),
    Fact("installation", True, "an update, a reinstall or a run from Xcode gives the app a new container"),
    Fact("path of the app", False, "the cache is kept by path", "load the compiled model from one path that stays"),
    Fact("compute units", False, "the cache is kept by configuration", "load it with one configuration"),
    Fact(
        "command line",
        False,
        "it may name another model file or configuration",
        "load the same file with the same configuration",
    ),
    Fact(
        "build",
        False,
        "an ad-hoc signature is a new one for each build; compare `codesign -dv APP` of both",
        "sign builds with one certificate",
    ),
)
"""The surest cause first."""
_BY_NAME: Final = {fact.name: fact for fact in FACTS}
_SHOWN: Final = ("system", "compute units", "build")
"""Facts of which the values are said."""
UNSEEN: Final = (
    "likely because of what no recording shows: another signature (compare `codesign -dv APP`), a model recompiled "
    "to the same path (compare the dates of its .mlmodelc), or an emptied cache (as when storage runs low: `df -h`)"
)
_FIX: Final = (
    "keep the compiled model at one path, sign builds with one certificate, and load it in the background before it is "
    "needed"
)


@dataclass(frozen=True, slots=True)
class InLaunch:
    """One model in one launch."""

    recording: str
    started: str | None
    answer: str
    """`compiled`, `cached`, `not_loaded` or `unknown`."""
    ns: int | None
    wait_ns: int | None
    """From the launch to the first prediction; None: not recorded."""
    evidence: tuple[str, ...]
    why: str
    again: bool
    """Compiled, although it was in the cache of an earlier launch."""
    differs: dict[str, str]
    """What differs from the launch before that loaded it, with both values where they may be said."""
    equal: tuple[str, ...]
    """What is known to be equal."""
    causes: tuple[str, ...]
    """Of what differs, what may be why it was compiled again, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Launches:
    """One model of one app on one device, in order of time."""

    model: str
    target: str | None
    device: str | None
    pattern: str
    launches: tuple[InLaunch, ...]
    hint: str
    """What path and name of the app say of the build, in a clause; empty for nothing."""
    severity: str | None = None
    """Of the finding `compiled-again`; None without it."""
    lines: tuple[str, ...] = ()
    """What it says: when it was compiled, likely causes, and the fix."""

    def of(self, answer: str) -> list[InLaunch]:
        """Launches with an answer."""
        return [one for one in self.launches if one.answer == answer]

    @property
    def unexplained(self) -> list[InLaunch]:
        """Those in which it was compiled again, and not as it should be."""
        return [one for one in self.launches if one.again and not any(_BY_NAME[name].expected for name in one.causes)]


def _launched(one: Measurements | Report | Launched) -> Launched | None:
    """A recording by what is known of it; None without a model."""
    if isinstance(one, Launched):
        return one
    if isinstance(one, Report):
        facts, shown = one.recording, one.specializations
        environment = environment_of(asdict(facts), None)
        return None if shown is None else Launched(facts.source, environment, facts.start_date, facts.commit, shown)
    shown = one.specializations
    return None if shown is None else Launched(one.source, one.environment, one.started, one.commit, shown)


def launches_of(recordings: Sequence[Measurements | Report | Launched | None]) -> tuple[Launches, ...]:
    """The models that several recordings hold, in order of the first. A recording and its copies count once. They are
    in order of time; in the order in which they are given, where a date is unknown. O(models × recordings)."""
    told = [entry for one in recordings if one is not None and (entry := _launched(one)) is not None]
    every = list({one.shown.launch.identity or id(one): one for one in told}.values())
    dates = [utc(one.started) for one in every]
    if None not in dates:
        every = [one for _, _, one in sorted(zip(dates, range(len(every)), every, strict=True), key=lambda at: at[:2])]
    # Bundles may lack the device that exports name, and histories keep no target.
    device, target = (
        known.pop() if len(known := {getattr(one.environment, name) for one in every} - {None}) == 1 else None
        for name in ("device", "target")
    )
    pairs = grouped(
        (
            (model.model, one.environment.target or target, one.environment.device or device, _platform(one)),
            (one, model),
        )
        for one in every
        if not one.environment.simulated
        for model in one.shown.models
    )
    return tuple(_series(name, target, device, of) for (name, target, device, _), of in pairs.items() if len(of) > 1)


def _platform(one: Launched) -> str:
    return (one.environment.system or "").partition(" ")[0]


def _facts(one: Launched, model: Specialization) -> dict[str, str | None]:
    """By the names of `FACTS`; None: not recorded."""
    launch = one.shown.launch
    units = ", ".join(sorted(model.units)) or None
    # Another system, or another unit, executes one model in other operations.
    content = model.content and f"{one.environment.system} {units} {model.content}"
    return dict(
        zip(
            _BY_NAME,
            (one.environment.system, content, launch.container, launch.path, units, launch.arguments, one.commit),
            strict=True,
        )
    )


def _same_kind(name: str, before: str, after: str) -> bool:
    """Whether two values tell a difference."""
    if name == "system":
        # Bundles do not state the build.
        return not (before.startswith(after) or after.startswith(before))
    return name != _CONTENT or before.rpartition(" ")[0] == after.rpartition(" ")[0]


def _series(
    name: str, target: str | None, device: str | None, of: Sequence[tuple[Launched, Specialization]]
) -> Launches:
    facts = [_facts(*pair) for pair in of]
    loaded = [at for at, (_, model) in enumerate(of) if model.answer in (Answer.COMPILED, Answer.CACHED)]
    differs = [dict[str, str]() for _ in of]
    equal: list[tuple[str, ...]] = [() for _ in of]
    harmless: set[str] = set()
    for before, at in pairwise(loaded):
        pairs = {fact: (facts[before][fact], facts[at][fact]) for fact in _BY_NAME}
        told = {fact: (one, two) for fact, (one, two) in pairs.items() if one and two}
        changed = [fact for fact, (one, two) in told.items() if one != two and _same_kind(fact, one, two)]
        differs[at] = {fact: " → ".join(told[fact]) if fact in _SHOWN else "" for fact in changed}
        equal[at] = tuple(fact for fact in told if fact not in changed)
        if of[at][1].answer == Answer.CACHED:
            # New, and still cached: the cache does not depend on it.
            seen = [facts[earlier] for earlier in loaded if earlier < at]
            harmless.update(fact for fact in changed if all(one[fact] != facts[at][fact] for one in seen))
    launches = tuple(
        InLaunch(
            *(one.source, one.started, str(model.answer), model.ns, model.wait_ns, model.evidence, model.why),
            again=(again := model.answer == Answer.COMPILED and bool(loaded) and at > loaded[0]),
            differs=differs[at],
            equal=equal[at],
            causes=tuple(fact for fact in differs[at] if again and fact not in harmless),
        )
        for at, (one, model) in enumerate(of)
    )
    series = Launches(name, target, device, str(_pattern(launches)), launches, of[-1][0].shown.launch.hint)
    worst_ns = max((one.ns or 0 for one in series.unexplained), default=-1)
    found = (str(severity) for severity, _, shortest in SEVERITY_FLOORS if worst_ns >= shortest)
    series = replace(series, severity=next(found, None))
    return replace(series, lines=tuple(_lines(series)))


def _pattern(launches: Sequence[InLaunch]) -> Pattern:
    answers = [one.answer for one in launches if one.answer != Answer.NOT_LOADED]
    compiled = [answer == Answer.COMPILED for answer in answers]
    if len(answers) < 2 or Answer.UNKNOWN in answers:
        return Pattern.UNCLEAR
    if all(compiled) or not any(compiled):
        return Pattern.EACH if compiled[0] else Pattern.NEVER
    return Pattern.ONCE if compiled[0] and not any(compiled[1:]) else Pattern.SOME


def newest_word(series: Launches) -> str:
    """`compiled again (3.2 s)`, `cached (0.2 s)` behind a launch that compiled it; empty for nothing of the kind."""
    before, newest = series.launches[-2:]
    cached = (before.answer, newest.answer) == (Answer.COMPILED, Answer.CACHED)
    word = "compiled again" if newest.again else "cached" if cached else ""
    return f"{word} ({_time([newest])})" if word else ""


def _time(launches: Sequence[InLaunch]) -> str:
    """`3.2 s`, `3.2 to 4.1 s`."""
    times = [one.ns for one in launches if one.ns is not None]
    low, high = (format_time(value) for value in (min(times, default=0), max(times, default=0)))
    return low if low == high else f"{low} to {high}"


_ORDINALS: Final = ("first", "second")


def _lines(series: Launches) -> Iterator[str]:
    compiled, cached = (series.of(answer) for answer in (Answer.COMPILED, Answer.CACHED))
    count, launches = len(series.launches), format_count(len(series.launches), "launch", "launches")
    launches += f" on {series.device}" if series.device else ""
    total = format_time(sum(one.ns or 0 for one in compiled))
    rest = [f"{len(series.of(answer))} {words}" for answer, words in _REST.items() if series.of(answer)]
    if not compiled and not cached:
        yield f"unknown whether it was compiled in any of {launches}: {series.launches[-1].why}"
        return
    if count == len(_ORDINALS):
        yield "; ".join(
            f"{nth} launch ({one.recording}): {one.answer.replace('_', ' ')}" + (f", {_time([one])}" if one.ns else "")
            for nth, one in zip(_ORDINALS, series.launches, strict=True)
        )
    elif series.pattern == Pattern.EACH:
        yield f"compiled in each of {launches}, {_time(compiled)} each, {total} in all"
    elif series.pattern == Pattern.ONCE:
        yield f"compiled at the first launch ({_time(compiled)}), cached in the other {len(cached)} ({_time(cached)})"
    elif not compiled:
        yield "; ".join((f"cached in {len(cached)} of {launches} ({_time(cached)})", *rest))
    else:
        said = f"compiled in {len(compiled)} of {launches}, {_time(compiled)} each, {total} in all"
        yield "; ".join((said, *([f"cached in {len(cached)} ({_time(cached)})"] if cached else []), *rest))
    changed = [one.recording for one in series.launches if _CONTENT in one.differs and not one.again]
    if changed:
        yield f"other operations ran in {word_list(changed)}: likely {_BY_NAME[_CONTENT].words}"
    yield from _why(series)
    if series.hint and any(one.again for one in series.launches):
        yield series.hint
    if series.severity:
        waits = [one.wait_ns for one in series.unexplained if one.wait_ns]
        fixes = dict.fromkeys(_BY_NAME[name].fix for one in series.unexplained for name in one.causes)
        if waits:
            yield f"from the launch to its first prediction, the user waits {format_time(max(waits))}"
        yield f"fix: {'; '.join(fixes) or _FIX}"
    elif count > 1 and len(compiled) == 1 and series.pattern == Pattern.UNCLEAR:
        yield "record another launch to see whether it comes again"


_REST: Final = {Answer.NOT_LOADED: "loaded before the recording", Answer.UNKNOWN: "unknown"}


def _why(series: Launches) -> Iterator[str]:
    """Why it was compiled again, for launches with the same reasons together."""
    again = [one for one in series.launches if one.again]
    for causes, of in grouped((one.causes, one) for one in again).items():
        where = "" if len(again) == 1 or len(of) == len(again) else f"{word_list(one.recording for one in of)}: "
        parts = []
        for name in causes:
            values = ", ".join(dict.fromkeys(filter(None, (one.differs[name] for one in of))))
            parts.append(f"another {name}{f' ({values})' if values else ''}: {_BY_NAME[name].words}")
        if parts:
            yield f"{where}likely because of {'; or '.join(parts)}"
        else:
            equal = [name for name in _BY_NAME if all(name in one.equal for one in of)]
            yield f"{where}{f'{word_list(equal)} equal to the launch before; ' if equal else ''}{UNSEEN}"
