"""Whether a recording shows that a model was compiled for the device, or came from the cache, and on what the cache may
depend. What the cache's key holds, and what a recording shows of it, is in public reports only; a signature, the free
storage and what the cache held before are in none."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Final

import numpy as np

from tracekit.analysis.loads import cold_loads, preparations
from tracekit.analysis.statistics import top_calls
from tracekit.analysis.where.evidence import EXECUTED
from tracekit.analysis.where.verdict import Answer as Worked, whereabouts
from tracekit.intervals import Intervals
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import LOAD_KINDS, Attribution, Calls, Kind, Level, Origin
from tracekit.trace.trace import Trace, identity_of
from tracekit.units import format_time


class Answer(StrEnum):
    """What a recording shows of a model."""

    COMPILED = "compiled"
    CACHED = "cached"
    NOT_LOADED = "not_loaded"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Specialization:
    """One model in one recording."""

    model: str
    """Base name of the model."""
    answer: str
    """`compiled`, `cached`, `not_loaded` or `unknown`."""
    times: int
    """Loads that compiled it. Rows of the Neural Engine without a load are of one."""
    ns: int | None
    """Time that the loads that compiled it cover, of several together; else the longest load; of rows of the Neural
    Engine without a load what they cover. None without either."""
    evidence: tuple[str, ...] = ()
    """What shows it, strongest first."""
    why: str = ""
    """Why it is unknown, or not loaded; else empty."""
    units: tuple[str, ...] = ()
    """Compute units that are proven to have worked for it: all that is known of its configuration."""
    content: str | None = None
    """Hash of the operations that hardware executed for it; None where rows name none."""
    wait_ns: int | None = None
    """From the launch to its first prediction; None where the recording did not begin with the launch."""


@dataclass(frozen=True, slots=True)
class Launch:
    """On what the cache may depend beside the system, to see whether it differs. Hashes of 16 bits, to which too many
    texts lead to guess one; None: not recorded."""

    path: str | None
    """Of the app's path, less the container."""
    container: str | None
    """Of the random folders in the path, as iOS makes one for each installation."""
    arguments: str | None
    """Of the command line."""
    identity: str | None
    """Which recording it is, in copies alike."""
    hint: str
    """What path and name say of the build, in a clause; empty for nothing."""


@dataclass(frozen=True, slots=True)
class Specializations:
    """All that a recording shows of them."""

    launch: Launch
    """What may differ between launches."""
    models: tuple[Specialization, ...]
    """Those that the app called or loaded; where Core ML recorded nothing, also those that the engine compiled."""


_RANDOM: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_PLACES: Final = {
    "/DerivedData/": "the app is a development build: at a user's, its signature and its container stay",
    "/AppTranslocation/": "Gatekeeper runs the app from a random folder each time: move it to /Applications",
}
_PYTHON: Final = 'Python compiles `MLModel("x.mlpackage")` to a new folder each time: load a `CompiledMLModel`'
COMPILERS: Final = {
    "ANECompilerService": "the system's compiler for the Neural Engine",
    "ANELargeModelCompilerService": "the system's compiler of large models for the Neural Engine",
    "E5CompilerService": "the system's compiler of Core ML",
    "aned": "the system's service for the Neural Engine",
}
"""What processes that compile for apps are called: reports name no process but the target."""
COMPILER_SHARE: Final = 0.5
"""Least part of a load in which one of them runs, from which on it compiled the model: public reports have nearly all
of it, and none in a load from the cache (heuristic)."""


def _hash(text: str | None) -> str | None:
    return None if not text or text == "Unknown" else sha256(text.encode()).hexdigest()[:4]


def _launch_of(trace: Trace) -> Launch:
    target = trace.run.target
    place = target.path or ""
    # Without any, what launched it wrote none.
    arguments = target.arguments or ("none" if target.kind == "launched" else None)
    python = target.process is not None and target.process.name.casefold().startswith("python")
    hint = next((words for part, words in _PLACES.items() if part in place), _PYTHON if python else "")
    path, container, said = map(_hash, (_RANDOM.sub("", place), "".join(_RANDOM.findall(place)), arguments))
    return Launch(path, container, said, identity_of(trace), hint)


def compilers(trace: Trace) -> dict[str, Intervals]:
    """When each process that compiles for apps was sampled; only recordings of all processes show any. O(samples)."""
    sampled = trace.sampled
    if sampled is None:
        return {}
    rows, found = sampled.samples, dict[str, Intervals]()
    for name in COMPILERS:
        times = rows.time_ns[rows.process.is_any(name)]
        if len(times):
            found[COMPILERS[name]] = Intervals(times - sampled.period_ns, times)
    return found


def compiler_notes(trace: Trace) -> list[str]:
    """A sentence on each process that compiled for apps, where it was recorded."""
    return [
        f"{name[0].upper()}{name[1:]} ran for {format_time(busy.covered_ns)}, for this app or another."
        for name, busy in compilers(trace).items()
    ]


def specializations(trace: Trace, models: Collection[str] | None = None) -> Specializations:
    """Of all models of a recording, or of some. O(models × n log n) in the rows of the trace."""
    called = trace.activity.model.take(trace.activity.level.is_any(Level.TOP)).held()
    names = dict.fromkeys((*called, *preparations(trace).model.held()) if trace.inferred or not called else called)
    chosen = (name for name in names if models is None or name in models)
    return Specializations(_launch_of(trace), tuple(_specialization(trace, name) for name in chosen))


def _specialization(trace: Trace, name: str) -> Specialization:
    activity = trace.activity
    own = activity.level.is_any(Level.TOP) & activity.model.is_any(name)
    loads = activity.where(own & activity.kind.is_any(*LOAD_KINDS))
    predicted = np.flatnonzero(own & activity.kind.is_any(Kind.PREDICTION))
    found = _of_loads(trace, name, loads) if len(loads) else _without_loads(trace, name)
    launched = trace.run.target.kind == "launched" and len(predicted) > 0
    where = whereabouts(trace, name, ids=activity.id[predicted]) if len(predicted) else None
    return replace(
        found,
        wait_ns=int(activity.start_ns[predicted].min()) if launched else None,
        units=() if where is None else tuple(each.unit for each in where.units if each.answer == Worked.PROVEN),
        # Of several functions, a launch may run any.
        content=None if where is None or where.functions else _content(trace, name),
    )


_SAID: Final = {
    Origin.CORE_ML: "Core ML's load rows",
    Origin.SIGNPOSTS: "Core ML's signposts",
    Origin.CALL_STACKS: "call stacks",
    Origin.HARDWARE: "rows of the Neural Engine",
}
"""What shows a load, by its origin."""


def _of_loads(trace: Trace, name: str, loads: Calls) -> Specialization:
    known, times = cold_loads(loads, trace), Intervals.from_rows(loads)
    cold, by_row = known.cold.copy(), known.cold & ~known.by_time & ~known.compared
    evidence = [_SAID[Origin(each)] for each in loads.where(by_row).origin.held()]
    evidence += ["rows of the Neural Engine at the time of the load"] * bool(known.by_time.any())
    evidence += ["many times longer than its other loads"] * bool(known.compared.any())
    every = top_calls(trace, *LOAD_KINDS)
    others = Intervals.from_rows(every.where(~every.model.is_any(name)))
    # Of loads of several models at once, a compiler may have compiled any.
    alone = others.covered_within(times) == 0
    for process, busy in compilers(trace).items():
        share = busy.covered_within(times) / np.maximum(times.durations, 1)
        busy_in = (share >= COMPILER_SHARE) & (known.unknown | known.cold) & alone
        cold |= busy_in
        evidence += [f"{process} was busy"] * bool(busy_in.any())
    if cold.any():
        return Specialization(name, Answer.COMPILED, int(cold.sum()), times.where(cold).covered_ns, tuple(evidence))
    longest_ns = int(times.durations.max())
    if known.unknown.any():
        return Specialization(name, Answer.UNKNOWN, 0, longest_ns, why="its load rows do not tell cold from cached")
    said = tuple(_SAID[Origin(each)] for each in loads.origin.held())
    return Specialization(name, Answer.CACHED, 0, longest_ns, said)


def _without_loads(trace: Trace, name: str) -> Specialization:
    """Of a model of which no load was recorded."""
    engine = trace.hardware
    loaded = engine.where(engine.kind.is_any(Kind.ANE_LOAD))
    for answer, rows in ((Answer.COMPILED, preparations(trace)), (Answer.CACHED, loaded)):
        times = Intervals.from_rows(rows.where(rows.model.is_any(name)))
        if len(times):
            loads = int(answer is Answer.COMPILED)
            return Specialization(name, answer, loads, times.covered_ns, (_SAID[Origin.HARDWARE],))
    unseen = "Core ML recorded no events, and no load of it was seen"
    answer, why = (
        (Answer.UNKNOWN, unseen) if trace.inferred else (Answer.NOT_LOADED, "loaded before the recording began")
    )
    return Specialization(name, answer, 0, None, why=why)


def _content(trace: Trace, name: str) -> str | None:
    hardware = trace.hardware
    named = hardware.model.is_any(name) & hardware.attribution.is_any(Attribution.LABEL, Attribution.EXACT)
    executed = np.flatnonzero(named & hardware.operation.known & hardware.kind.is_any(*EXECUTED.values()))
    operation, device = hardware.operation.values[executed], hardware.device.take(executed)
    # Labels hold addresses and counters too.
    parts = (f"{unit}{distinct_numbers(operation[device.is_any(unit)]).tolist()}" for unit in sorted(device.held()))
    return _hash(" ".join(parts))
