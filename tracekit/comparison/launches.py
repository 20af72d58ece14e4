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
    """What launches are compared by, of a recording that is not measured."""

    source: str
    environment: Environment
    started: str | None
    commit: str | None
    specializations: Specializations | None


class Fact(NamedTuple):
    """Something on which the cache may depend, and what follows where it differs."""

    words: str
    fix: str | None = ""
    """None where compiling again is as it should be."""


SYSTEM, OPERATIONS, INSTALLATION, BUILD = "system", "operations of the model", "installation", "build"
UNITS: Final = "compute units"
FACTS: Final = {
    SYSTEM: Fact("each system update empties the cache", None),
    OPERATIONS: Fact("another model under the same name", None),
    INSTALLATION: Fact("an update, a reinstall or a run from Xcode gives the app a new container", None),
    "path of the app": Fact("the cache is kept by path", "load the compiled model from one path that stays"),
    UNITS: Fact("the cache is kept by configuration", "load it with one configuration"),
    "command line": Fact(
        "it may name another model file or configuration", "load the same file with the same configuration"
    ),
    BUILD: Fact(
        "an ad-hoc signature is a new one for each build; compare `codesign -dv APP` of both",
        "sign builds with one certificate",
    ),
}
"""The surest cause first."""
_UNSEEN: Final = (
    "what no recording shows: another signature (compare `codesign -dv APP`), a model recompiled to the same path "
    "(compare the dates of its .mlmodelc), or an emptied cache (as when storage runs low: `df -h`)"
)
_FIX: Final = (
    "keep the compiled model at one path, sign builds with one certificate, and load it in the background before it is "
    "needed"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InLaunch(Specialization):
    """One model in one launch."""

    recording: str
    started: str | None
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
        return [one for one in self.launches if one.again and all(FACTS[name].fix is not None for name in one.causes)]


def launch_of(report: Report) -> Launched:
    """A report as one of several launches."""
    facts = report.recording
    environment = environment_of(asdict(facts), None)
    return Launched(facts.source, environment, facts.start_date, facts.commit, report.specializations)


def launches_of(recordings: Sequence[Measurements | Launched]) -> tuple[Launches, ...]:
    """The models that several recordings hold, in order of the first. A recording and its copies count once. They are
    in order of time; in the order in which they are given, where a date is unknown. O(models × recordings)."""
    every = list({held.launch.identity or id(one): one for one in recordings if (held := one.specializations)}.values())
    dates = [utc(one.started) for one in every]
    if None not in dates:
        every = [one for _, _, one in sorted(zip(dates, range(len(every)), every, strict=True), key=lambda at: at[:2])]
    # Bundles may lack the device that exports name, and histories keep no target.
    device, target = (
        known.pop() if len(known := {getattr(one.environment, name) for one in every} - {None}) == 1 else None
        for name in ("device", "target")
    )
    of_model = grouped(
        (
            (model.model, at.target or target, at.device or device, (at.system or "").partition(" ")[0]),
            (one, held, model),
        )
        for one in every
        if not (at := one.environment).simulated and (held := one.specializations)
        for model in held.models
    )
    return tuple(_series(*key[:3], of) for key, of in of_model.items() if len(of) > 1)


_Of = tuple[Measurements | Launched, Specializations, Specialization]
"""A model in a launch."""


def _facts(one: Measurements | Launched, held: Specializations, model: Specialization) -> dict[str, str | None]:
    """By the names of `FACTS`; None: not recorded."""
    launch = held.launch
    units = ", ".join(sorted(model.units)) or None
    # Another system, or another unit, executes one model in other operations.
    content = model.content and f"{one.environment.system} {units} {model.content}"
    values = (one.environment.system, content, launch.container, launch.path, units, launch.arguments, one.commit)
    return dict(zip(FACTS, values, strict=True))


def _differs(name: str, before: str | None, after: str | None) -> bool | None:
    """Whether a fact differs; None where that is not known."""
    if not before or not after:
        return None
    if name == SYSTEM:
        # Bundles do not state the build.
        one, two = (each.partition(" (") for each in (before, after))
        return one[0] != two[0] or (bool(one[2] and two[2]) and one != two)
    if name == OPERATIONS and before.rpartition(" ")[0] != after.rpartition(" ")[0]:
        return None
    return before != after


def _series(name: str, target: str | None, device: str | None, of: Sequence[_Of]) -> Launches:
    facts = [_facts(*each) for each in of]
    loaded = [at for at, (_, _, model) in enumerate(of) if model.answer in (Answer.COMPILED, Answer.CACHED)]
    told: list[dict[str, bool | None]] = [{} for _ in of]
    values: list[dict[str, str]] = [{} for _ in of]
    harmless: set[str] = set()
    for before, at in pairwise(loaded):
        told[at] = {fact: _differs(fact, facts[before][fact], facts[at][fact]) for fact in FACTS}
        changed = [fact for fact, differs in told[at].items() if differs]
        shown = {fact: f"{facts[before][fact]} → {facts[at][fact]}" for fact in (SYSTEM, UNITS, BUILD)}
        values[at] = {fact: shown.get(fact, "") for fact in changed}
        if of[at][2].answer == Answer.CACHED:
            # New, and still cached: the cache does not depend on it.
            seen = [facts[earlier] for earlier in loaded if earlier < at]
            harmless.update(fact for fact in changed if all(one[fact] != facts[at][fact] for one in seen))
    launches = tuple(
        InLaunch(
            **asdict(model),
            recording=one.source,
            started=one.started,
            again=(again := model.answer == Answer.COMPILED and at > loaded[0]),
            differs=values[at],
            equal=tuple(fact for fact, differs in told[at].items() if differs is False),
            causes=tuple(fact for fact in values[at] if again and fact not in harmless),
        )
        for at, (one, _, model) in enumerate(of)
    )
    series = Launches(name, target, device, str(_pattern(launches)), launches, of[-1][1].launch.hint)
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


def _lines(series: Launches) -> Iterator[str]:
    compiled, cached = (series.of(answer) for answer in (Answer.COMPILED, Answer.CACHED))
    launches = format_count(len(series.launches), "launch", "launches")
    launches += f" on {series.device}" if series.device else ""
    if not compiled and not cached:
        yield f"unknown whether it was compiled in any of {launches}: {series.launches[-1].why}"
        return
    if len(series.launches) == 2:
        yield "; ".join(
            f"{nth} launch ({one.recording}): {one.answer.replace('_', ' ')}" + (f", {_time([one])}" if one.ns else "")
            for nth, one in zip(("first", "second"), series.launches, strict=True)
        )
    elif series.pattern == Pattern.ONCE:
        yield f"compiled at the first launch ({_time(compiled)}), cached in the other {len(cached)} ({_time(cached)})"
    else:
        many, parts = "each" if series.pattern == Pattern.EACH else len(compiled), list[str]()
        if compiled:
            total = format_time(sum(one.ns or 0 for one in compiled))
            parts.append(f"compiled in {many} of {launches}, {_time(compiled)} each, {total} in all")
        if cached:
            parts.append(f"cached in {len(cached)}{'' if compiled else f' of {launches}'} ({_time(cached)})")
        rest = {Answer.NOT_LOADED: "loaded before the recording", Answer.UNKNOWN: "unknown"}
        parts += [f"{len(series.of(answer))} {words}" for answer, words in rest.items() if series.of(answer)]
        yield "; ".join(parts)
    changed = [one.recording for one in series.launches if OPERATIONS in one.differs and not one.again]
    if changed:
        yield f"other operations ran in {word_list(changed)}: likely {FACTS[OPERATIONS].words}"
    yield from _why(series)
    if series.hint and any(one.again for one in series.launches):
        yield series.hint
    if series.severity:
        waits = [one.wait_ns for one in series.unexplained if one.wait_ns]
        fixes = dict.fromkeys(FACTS[name].fix for one in series.unexplained for name in one.causes)
        if waits:
            yield f"from the launch to its first prediction, the user waits {format_time(max(waits))}"
        yield f"fix: {'; '.join(filter(None, fixes)) or _FIX}"
    elif len(compiled) == 1 and series.pattern == Pattern.UNCLEAR:
        yield "record another launch to see whether it comes again"


def _why(series: Launches) -> Iterator[str]:
    """Why it was compiled again, for launches with the same reasons together."""
    again = [one for one in series.launches if one.again]
    for causes, of in grouped((one.causes, one) for one in again).items():
        where = "" if len(of) == len(again) else f"{word_list(one.recording for one in of)}: "
        if causes:
            values = {name: ", ".join(dict.fromkeys(one.differs[name] for one in of)) for name in causes}
            changed = (f"the {name} changed{f' ({values[name]})' * bool(values[name])}" for name in causes)
            parts = (f"{part}: {FACTS[name].words}" for part, name in zip(changed, causes, strict=True))
            yield f"{where}likely because {'; or '.join(parts)}"
            continue
        known = [name for name in FACTS if all(name in one.equal for one in of)]
        equal = f"{word_list(known)} equal to the launch before; " if known else ""
        # Without random folders in its path, an app has no container; another signature stands for another build.
        open_facts = [name for name in FACTS if name not in (*known, INSTALLATION, BUILD)]
        unknown = f"{word_list(open_facts)} not recorded; likely because of one of these, or of " if open_facts else ""
        yield f"{where}{equal}{unknown or 'likely because of '}{_UNSEEN}"
