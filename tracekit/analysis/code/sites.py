"""Places of the app's code that call Core ML: how often, on which thread, and what the calls were busy with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from tracekit.analysis.code.call_sites import call_sites, core_ml_stacks, enclosing_phases, of_calls
from tracekit.analysis.code.phases import LEVELS, phase_times
from tracekit.arrays import AnyArray, BoolArray, IndexArray, IntArray, ObjectArray
from tracekit.intervals import Intervals
from tracekit.trace.calls.sites import Sites, place_of
from tracekit.trace.calls.stacks import Api, LoadPhase, Unit, app_frames
from tracekit.trace.samples import SampleRows
from tracekit.trace.trace import Trace

MAIN, OTHER, MIXED, UNKNOWN = "main", "other", "mixed", "unknown"
"""Threads that a place calls on: the main one, others, both; or it is not known."""
_BUSY: Final = {Api.LOAD: tuple(LoadPhase), Api.PREDICTION: (*Unit, LoadPhase.SPECIALIZING)}
_PHASES: Final = tuple(dict.fromkeys(phase for phases in _BUSY.values() for phase in phases))
_REPORTED_APIS: Final = (Api.LOAD, Api.COMPILE, Api.PREDICTION, Api.ELEMENT)
"""Calls that are reported, in this order. Unloading is no call of the app."""
_PLACE: Final = ("caller", "file", "line")
MAX_CALLERS: Final = 4
"""Most functions that a call site is shown to be called by."""


@dataclass(frozen=True, slots=True)
class Busy:
    """What samples of a call were in."""

    what: str
    """A phase of a load; or of a prediction the compute unit for whose segment code ran: CPU time, not time of the
    unit."""
    samples: int
    """Number of samples in it."""
    share: float
    """Of the time of the calls where only call stacks show them; of their samples where Core ML recorded them."""
    within: str | None = None
    """The phase that all of them lie in; None where there is none."""


@dataclass(frozen=True, slots=True)
class Place:
    """A function of the app, and the place in it where its file and line are known."""

    function: str
    """Name of the function."""
    file: str | None
    """Its source file, without the path."""
    line: int | None
    """Line in the file."""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A place of the app's code that calls Core ML."""

    api: str
    """What is called. `reload`: a load of what was loaded before; `element access`: reading or writing an
    `MLMultiArray` element by element; `between calls`: no call, but what the app does from one to the next."""
    model: str | None
    """None where it is not known, and where several were called."""
    function: str | None
    """None where no function of the app is on the stack, as where Core ML calls itself later."""
    file: str | None
    """Its source file, without the path."""
    line: int | None
    """Line of the call."""
    called_by: tuple[Place, ...]
    """Functions of the app that led there in the first call, the nearest first; at most four."""
    thread: str
    """`main`, `other`, `mixed`, `unknown`."""
    calls: int | None
    """At least so many where they are inferred; None for element access, whose calls are too short to count."""
    of: int
    """Such calls, from all places that are known; samples for element access."""
    share: float
    """`calls` divided by `of`."""
    inferred: bool
    """Whether only samples show these calls, and not Core ML's own rows."""
    samples: int
    """Samples that show the calls."""
    ambiguous: int
    """Calls during which other threads were in such calls too: they may be theirs."""
    first_ns: int
    """Start of the first call."""
    last_ns: int
    """End of the last one."""
    median_ns: int
    """Duration of a call; from the first to the last sample where it is inferred, which is up to 2 ms less."""
    longest_ns: int
    """Longest call."""
    busy: tuple[Busy, ...]
    """What its samples were in."""
    resolution_ns: int = 0
    """How exactly the calls are known: the time between two samples, where only call stacks show them."""


def sites_of(trace: Trace, events: Sequence[int] | IntArray | pd.Index[int]) -> tuple[CallSite, ...]:
    """Places that made the calls of these rows of `Trace.activity`, most rows first; none without samples."""
    sites = call_sites(trace)
    if sites is None:
        return ()
    return _places(trace, _called(trace, sites, np.flatnonzero(np.isin(sites.id, events))))


def all_sites(trace: Trace, models: frozenset[str] | None = None) -> tuple[CallSite, ...]:
    """Every place that calls Core ML, with its calls of these models (None: of all) or of one that is not known. None
    without samples. In the order of what they call, then by calls."""
    sites = call_sites(trace)
    if sites is None:
        return ()
    chosen = np.arange(len(sites))
    if models is not None:
        model = trace.activity.model.take(sites.id)
        chosen = np.flatnonzero(model.passing(models.__contains__) | ~model.known)
    order = [str(api) for api in _REPORTED_APIS]
    places = (*_places(trace, _called(trace, sites, chosen)), *_places(trace, _elements(trace)))
    return tuple(sorted(places, key=lambda site: order.index(site.api)))


def site_of(trace: Trace, event: int) -> CallSite | None:
    """The place that made the call of a row of `Trace.activity`; None where it is not known."""
    return next(iter(sites_of(trace, [event])), None)


def of_sites(trace: Trace, sites: Sequence[CallSite], spans: Intervals) -> BoolArray:
    """Shape (samples,): samples in these spans that belong to the sites: in calls of Core ML, or in code of the app
    where the sites lie between calls. Without spans, those of the sites; without sites, code of the app."""
    if not len(spans):
        starts, ends = ([getattr(site, name) for site in sites] for name in ("first_ns", "last_ns"))
        spans = Intervals(np.array(starts, np.int64) - 1, np.array(ends, np.int64)).union()
    # On the stack, a reload is a load.
    apis = {Api.LOAD if site.api == Api.RELOAD else site.api for site in sites}
    return of_calls(trace, spans, apis - {Api.BETWEEN})


def between_sites(trace: Trace, samples: SampleRows, frame: IndexArray, api: Api = Api.BETWEEN) -> tuple[CallSite, ...]:
    """Functions of the app at rows of `Trace.stacks`, one a sample: most samples first, with the most frequent line."""
    if trace.stacks is None or not len(samples):
        return ()
    time, count = samples.time_ns, len(samples)
    calls = _arrays(place_of(trace.stacks, frame).columns() | {"main_thread": samples.main_thread}) | {
        "api": np.full(count, str(api), object),
        "model": np.full(count, None, object),
        "start": time,
        "end": time,
        "samples": np.ones(count, np.int64),
        "ambiguous": np.zeros(count, np.bool_),
    }
    sites = []
    for rows in _split(_numbered(calls["caller"], calls["file"])):
        site = _call_site(trace, _at(calls, rows), count, inferred=True)
        lines = [line for line in calls["line"][rows].tolist() if isinstance(line, int)]
        distinct, times = np.unique(np.array(lines, np.int64), return_counts=True)
        sites.append(replace(site, line=int(distinct[times.argmax()]) if lines else None))
    return tuple(sorted(sites, key=lambda site: (-site.samples, site.first_ns)))


_Columns = dict[str, AnyArray]
"""Of calls, shape (calls,) each: a frame of many types is slow to cut into the few calls of each place."""


def _arrays(columns: Mapping[str, Any]) -> _Columns:
    """Places and what is called as texts and numbers; of `main_thread` whether it is, as 1 or 0, and -1 for unknown."""
    found = {name: columns[name].as_objects() for name in ("api", "caller", "file") if name in columns}
    line, main_thread = columns["line"], columns["main_thread"]
    found["line"] = np.where(line.known, line.values.astype(object), None)
    numbers = ("frame_row", "samples", "ambiguous", "start", "end", *_PHASES)
    found |= {name: np.asarray(columns[name]) for name in numbers if name in columns}
    return found | {"main_thread": np.where(main_thread.known, main_thread.values, -1)}


def _at(calls: _Columns, rows: IndexArray) -> _Columns:
    return {name: values[rows] for name, values in calls.items()}


def _numbered(*columns: ObjectArray) -> IndexArray:
    """Rows numbered by what stands in the columns, null too, in order of appearance: shape (rows,)."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, distinct = pd.factorize(column)
        number = pd.factorize(number * (len(distinct) + 1) + values)[0]
    return number


def _split(number: IndexArray) -> list[IndexArray]:
    """The rows of each number."""
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _called(trace: Trace, sites: Sites, chosen: IndexArray) -> _Columns:
    """Call sites of rows, those at some positions, with their model and times."""
    rows, activity = sites.id[chosen], trace.activity
    spans = Intervals.from_rows(activity).where(rows)
    return _arrays(sites.take(chosen).columns()) | {
        "model": activity.model.take(rows).as_objects(),
        "start": spans.starts,
        "end": spans.ends,
        "resolution": activity.resolution_ns[rows],
        "event": rows,
    }


def _elements(trace: Trace) -> _Columns:
    """Runs of samples of one thread that one place makes access elements."""
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None or trace.stacks is None:
        return {}
    rows = sampled.samples.where(sampled.samples.stack.known)
    if not len(rows):
        return {}
    rows = rows.take(np.lexsort((rows.time_ns, rows.thread.codes)))
    stack = rows.stack.values
    accesses = kinds.api.is_any(Api.ELEMENT)[stack]
    entry, caller = kinds.entry[stack], kinds.caller[stack]
    keys = (
        rows.thread.codes,
        np.where(accesses, np.append(trace.stacks.function.codes, -1)[entry], -2),
        np.where(caller < 0, -1, trace.stacks.offset.filled()[caller]),
        np.where(caller < 0, -1, trace.stacks.image.codes[caller]),
    )
    begins = np.flatnonzero(np.logical_or.reduce([np.diff(key, prepend=-3) != 0 for key in keys]))
    ends = np.append(begins[1:], len(rows)) - 1
    begins, ends = begins[accesses[begins]], ends[accesses[begins]]
    time = rows.time_ns
    by_start = np.argsort(time[begins], kind="stable")
    begins, ends = begins[by_start], ends[by_start]
    place = place_of(trace.stacks, caller[begins])
    return _arrays(place.columns() | {"main_thread": rows.main_thread.take(begins)}) | {
        "api": np.full(len(begins), str(Api.ELEMENT), object),
        "model": np.full(len(begins), None, object),
        "samples": ends - begins + 1,
        "ambiguous": np.zeros(len(begins), np.bool_),
        "start": time[begins],
        "end": time[ends],
    }


def _places(trace: Trace, calls: _Columns) -> tuple[CallSite, ...]:
    """Calls by what they call and from where."""
    if not calls or not len(calls["api"]):
        return ()
    code, apis = pd.factorize(calls["api"])
    weight = np.where(calls["api"] == Api.ELEMENT, calls["samples"], 1)
    total = np.bincount(code, weight)
    sites = []
    for rows in _split(_numbered(*(calls[name] for name in ("api", *_PLACE)))):
        api = code[rows[0]]
        inferred = trace.inferred or apis[api] == Api.ELEMENT
        sites.append(_call_site(trace, _at(calls, rows), int(total[api]), inferred=inferred))
    return tuple(sorted(sites, key=lambda site: (-site.share, site.first_ns)))


def _call_site(trace: Trace, calls: _Columns, of: int, *, inferred: bool) -> CallSite:
    api, samples = str(calls["api"][0]), int(calls["samples"].sum())
    count = None if api in (Api.ELEMENT, Api.BETWEEN) else len(calls["api"])
    durations = calls["end"] - calls["start"]
    models = {name for name in calls["model"].tolist() if isinstance(name, str)}
    busy = [(str(name), int(calls[name].sum())) for name in _BUSY.get(Api(api), ()) if name in calls]
    enclosing, total = enclosing_phases(trace), samples
    inside: dict[str, float] = dict(busy)
    if "event" in calls and trace.sites is not None and Api(api) in LEVELS:
        # As in the phases of these calls: the same time has one share.
        total, inside = int(durations.sum()), dict.fromkeys(inside, 0.0)
        for path, ns in phase_times(trace, Api(api), pd.Index(calls["event"]))[0]:
            inside[path[-1]] = inside.get(path[-1], 0) + ns
    main_thread = calls["main_thread"]
    if (main_thread < 0).any():
        thread = UNKNOWN
    elif main_thread.all():
        thread = MAIN
    else:
        thread = MIXED if main_thread.any() else OTHER
    return CallSite(
        api=api,
        model=models.pop() if len(models) == 1 else None,
        function=_text(calls["caller"][0]),
        file=_text(calls["file"][0]),
        line=_line(calls["line"][0]),
        called_by=_callers(trace, int(calls["frame_row"][0])),
        thread=thread,
        calls=count,
        of=of,
        share=(samples if count is None else count) / of,
        inferred=inferred,
        samples=samples,
        ambiguous=int(calls["ambiguous"].sum()),
        first_ns=int(calls["start"].min()),
        last_ns=int(calls["end"].max()),
        median_ns=int(np.median(durations)),
        longest_ns=int(durations.max()),
        busy=tuple(
            Busy(what, count, inside[what] / max(total, 1), enclosing.get(what)) for what, count in busy if count
        ),
        resolution_ns=int(calls["resolution"].max()) if "resolution" in calls else 0,
    )


def _callers(trace: Trace, row: int) -> tuple[Place, ...]:
    """Functions of the app outside of the one in a row of `Trace.stacks`; none for row -1."""
    if row < 0 or trace.stacks is None:
        return ()
    stack = trace.stacks.stack
    outer = trace.stacks.take(slice(row + 1, int(np.searchsorted(stack, stack[row], "right"))))
    named = np.flatnonzero(app_frames(outer) & outer.function.known)[:MAX_CALLERS].tolist()
    return tuple(Place(str(outer.function.item(at)), outer.file.item(at), outer.line.item(at)) for at in named)


def _line(value: object) -> int | None:
    return int(value) if isinstance(value, int) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
