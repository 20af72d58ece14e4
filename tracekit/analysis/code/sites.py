"""Places of the app's code that call Core ML: how often, on which thread, and what the calls were busy with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tracekit.analysis.code.call_sites import call_sites, core_ml_stacks, enclosing_phases, of_calls
from tracekit.analysis.code.phases import LEVELS, phase_times
from tracekit.arrays import BoolArray, CodeArray, IndexArray, IntArray
from tracekit.columns import Flags, Keyed, Numbers, Texts, all_known, column, constant
from tracekit.intervals import Intervals
from tracekit.rows import group_ids
from tracekit.sorting import equal_groups
from tracekit.trace.calls.sites import CodePlaces, Sites, place_of
from tracekit.trace.calls.stacks import Api, LoadPhase, Unit, app_frames
from tracekit.trace.samples import SampleRows
from tracekit.trace.trace import Trace

MAIN, OTHER, MIXED, UNKNOWN = "main", "other", "mixed", "unknown"
"""Threads that a place calls on: the main one, others, both; or it is not known."""
_BUSY: Final = {Api.LOAD: tuple(LoadPhase), Api.PREDICTION: (*Unit, LoadPhase.SPECIALIZING)}
_REPORTED_APIS: Final = (Api.LOAD, Api.COMPILE, Api.PREDICTION, Api.ELEMENT)
"""Calls that are reported, in this order. Unloading is no call of the app."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _Calls(CodePlaces):
    """Calls, and samples that stand for some."""

    call: Numbers = column("row of `Trace.activity`; null where it is none")
    api: Texts = column("what is called")
    model: Texts = column("model; null where it is not known")
    main_thread: Flags = column("whether it is on the main thread")
    start_ns: IntArray = column("start")
    end_ns: IntArray = column("end")
    resolution_ns: IntArray = column("time between two samples where only these show it, else 0")
    samples: IntArray = column("samples of it")
    ambiguous: BoolArray = column("whether they may be of another thread's call")
    busy: Keyed = column("those of the samples in each phase and unit")


def sites_of(trace: Trace, calls: IntArray) -> tuple[CallSite, ...]:
    """Places that made the calls of these rows of `Trace.activity`, most rows first; none without samples."""
    sites = call_sites(trace)
    if sites is None:
        return ()
    return _places(trace, _called(trace, sites.where(np.isin(sites.id, calls))))


def all_sites(trace: Trace, models: frozenset[str] | None = None) -> tuple[CallSite, ...]:
    """Every place that calls Core ML, with its calls of these models (None: of all) or of one that is not known. None
    without samples. In the order of what they call, then by calls."""
    sites = call_sites(trace)
    if sites is None:
        return ()
    if models is not None:
        model = trace.activity.model.take(sites.id)
        sites = sites.where(model.passing(models.__contains__) | ~model.known)
    order = [str(api) for api in _REPORTED_APIS]
    places = (*_places(trace, _called(trace, sites)), *_places(trace, _elements(trace)))
    return tuple(sorted(places, key=lambda site: order.index(site.api)))


def site_of(trace: Trace, call: int) -> CallSite | None:
    """The place that made the call of a row of `Trace.activity`; None where it is not known."""
    return next(iter(sites_of(trace, np.array([call]))), None)


def of_sites(trace: Trace, sites: Sequence[CallSite], spans: Intervals) -> BoolArray:
    """Shape (samples,): samples in these spans that belong to the sites: in calls of Core ML, or in code of the app
    where the sites lie between calls. Without spans, those of the sites; without sites, code of the app."""
    if not len(spans):
        starts, ends = ([getattr(site, name) for site in sites] for name in ("first_ns", "last_ns"))
        spans = Intervals(np.array(starts, np.int64) - 1, np.array(ends, np.int64)).union()
    # On the stack, a reload is a load.
    apis = {Api.LOAD if site.api == Api.RELOAD else site.api for site in sites}
    return of_calls(trace, spans, apis - {Api.BETWEEN})


def between_sites(
    trace: Trace, samples: SampleRows, frame: IndexArray, api: Api = Api.BETWEEN, *, by_line: bool = False
) -> tuple[CallSite, ...]:
    """Functions of the app at rows of `Trace.stacks`, one a sample: most samples first, each with its most frequent
    line, or once for each of its lines."""
    if trace.stacks is None or not len(samples):
        return ()
    calls = replace(
        _Calls.blank(len(samples)),
        **place_of(trace.stacks, frame).columns(),
        api=constant(str(api), len(samples)),
        main_thread=samples.main_thread,
        start_ns=samples.time_ns,
        end_ns=samples.time_ns,
        samples=np.ones(len(samples), np.int64),
    )
    sites = []
    for at in _by_place(calls, *([calls.line.filled()] if by_line else [])):
        site, line = _call_site(trace, calls.take(at), len(calls), inferred=True), calls.line.take(at)
        lines, times = np.unique(line.values[line.known], return_counts=True)
        sites.append(replace(site, line=int(lines[times.argmax()]) if len(lines) else None))
    return tuple(sorted(sites, key=lambda site: (-site.samples, site.first_ns)))


def _called(trace: Trace, sites: Sites) -> _Calls:
    """The calls of some sites."""
    activity, spans = trace.activity, Intervals.from_rows(trace.activity).where(sites.id)
    return _Calls(
        *(sites.caller, sites.image, sites.file, sites.line, sites.frame_row),
        call=all_known(sites.id),
        api=sites.api,
        model=activity.model.take(sites.id),
        main_thread=sites.main_thread,
        start_ns=spans.starts,
        end_ns=spans.ends,
        resolution_ns=activity.resolution_ns[sites.id],
        samples=sites.samples,
        ambiguous=sites.ambiguous,
        busy=sites.busy,
    )


def _by_place(calls: _Calls, *more: CodeArray) -> list[IndexArray]:
    """Positions of the calls from each function and file, that are alike in `more` too, in order of appearance."""
    return equal_groups(group_ids([calls.caller.codes, calls.file.codes, *more], len(calls)))


def _elements(trace: Trace) -> _Calls:
    """Runs of samples of one thread that one place makes access elements."""
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None or trace.stacks is None:
        return _Calls.none()
    rows = sampled.samples.where(sampled.samples.stack.known)
    if not len(rows):
        return _Calls.none()
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
    return replace(
        _Calls.blank(len(begins)),
        **place_of(trace.stacks, caller[begins]).columns(),
        api=constant(str(Api.ELEMENT), len(begins)),
        main_thread=rows.main_thread.take(begins),
        start_ns=time[begins],
        end_ns=time[ends],
        samples=ends - begins + 1,
    )


def _places(trace: Trace, calls: _Calls) -> tuple[CallSite, ...]:
    """Calls by what they call and from where."""
    code, sites = calls.api.codes, []
    total = np.bincount(code, np.where(calls.api.is_any(Api.ELEMENT), calls.samples, 1))
    for at in _by_place(calls, code, calls.line.filled()):
        own = calls.take(at)
        inferred = trace.inferred or own.api.item(0) == Api.ELEMENT
        sites.append(_call_site(trace, own, int(total[code[at[0]]]), inferred=inferred))
    return tuple(sorted(sites, key=lambda site: (-site.share, site.first_ns)))


def _call_site(trace: Trace, calls: _Calls, of: int, *, inferred: bool) -> CallSite:
    api, samples = Api(str(calls.api.item(0))), int(calls.samples.sum())
    count = None if api in (Api.ELEMENT, Api.BETWEEN) else len(calls)
    durations = calls.end_ns - calls.start_ns
    models = [*calls.model.held()]
    found = ((str(name), calls.busy.cells.get(name)) for name in _BUSY.get(api, ()))
    busy = [(name, int(cells.sum())) for name, cells in found if isinstance(cells, np.ndarray)]
    enclosing, total = enclosing_phases(trace), samples
    inside: dict[str, float] = dict(busy)
    if calls.call.known.all() and trace.sites is not None and api in LEVELS:
        # As in the phases of these calls: the same time has one share.
        total, inside = int(durations.sum()), dict.fromkeys(inside, 0.0)
        for path, ns in phase_times(trace, api, calls.call.values)[0]:
            inside[path[-1]] = inside.get(path[-1], 0) + ns
    main_thread = calls.main_thread
    if not main_thread.known.all():
        thread = UNKNOWN
    elif main_thread.values.all():
        thread = MAIN
    else:
        thread = MIXED if main_thread.values.any() else OTHER
    return CallSite(
        api=str(api),
        model=models[0] if len(models) == 1 else None,
        function=calls.caller.item(0),
        file=calls.file.item(0),
        line=calls.line.item(0),
        called_by=_callers(trace, int(calls.frame_row[0])),
        thread=thread,
        calls=count,
        of=of,
        share=(samples if count is None else count) / of,
        inferred=inferred,
        samples=samples,
        ambiguous=int(calls.ambiguous.sum()),
        first_ns=int(calls.start_ns.min()),
        last_ns=int(calls.end_ns.max()),
        median_ns=int(np.median(durations)),
        longest_ns=int(durations.max()),
        busy=tuple(
            Busy(what, count, inside[what] / max(total, 1), enclosing.get(what)) for what, count in busy if count
        ),
        resolution_ns=int(calls.resolution_ns.max()),
    )


def _callers(trace: Trace, row: int) -> tuple[Place, ...]:
    """Functions of the app outside of the one in a row of `Trace.stacks`; none for row -1."""
    if row < 0 or trace.stacks is None:
        return ()
    stack = trace.stacks.stack
    outer = trace.stacks.take(slice(row + 1, int(np.searchsorted(stack, stack[row], "right"))))
    named = np.flatnonzero(app_frames(outer) & outer.function.known)[:MAX_CALLERS].tolist()
    return tuple(Place(str(outer.function.item(at)), outer.file.item(at), outer.line.item(at)) for at in named)
