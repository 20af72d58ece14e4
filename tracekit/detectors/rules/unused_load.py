"""`unused-load`: models are loaded and never used."""

from __future__ import annotations

from collections.abc import Set
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.load_waits import awaited
from tracekit.analysis.statistics import top_calls
from tracekit.detectors.shared.wording import NO_LOAD

_MAX_NAMES = 5
"""Models that a sentence names before it only counts the rest."""


class Options(tk.Options):
    unused_s: float = tk.option(
        60.0, "s", "Heuristic: a model may be loaded well before the user opens its feature, but a minute is long."
    )
    min_predictions: int = tk.option(
        10,
        "predictions of other models",
        "Heuristic: without predictions of other models, the recording does not show the app in use.",
    )


class Unused(NamedTuple):
    """A model that was loaded and not used."""

    name: str
    since_ns: int
    """From the end of its first load to the end of the recording."""
    calls: int
    """Predictions of other models after that."""


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for models without any prediction long after their load."""
    trace = view.trace
    loads = top_calls(trace, *tk.LOAD_KINDS)
    if not len(loads):
        return view.not_applicable(NO_LOAD)
    unnamed = tk.unnamed_predictions(trace) + int((~loads.model.known).sum())
    if unnamed:
        return view.unknown(
            f"{tk.format_count(unnamed, 'load or prediction has', 'loads and predictions have')} no model name, so it "
            "is unknown which models were used.",
            tk.RECORD_EARLIER,
        )
    unused = _unused_models(trace, loads, top_calls(trace, tk.Kind.PREDICTION))
    if not unused:
        return view.passed(f"Every loaded model was used ({tk.format_count(len([*loads.model.held()]), 'model')}).")
    sure = [
        entry for entry in unused if entry.since_ns >= options.unused_s * 1e9 and entry.calls >= options.min_predictions
    ]
    if not sure:
        calls_of_others = max(entry.calls for entry in unused)
        others = f"with {tk.format_count(calls_of_others, 'prediction')}" if calls_of_others else "without predictions"
        listed = tk.format_names([entry.name for entry in unused], _MAX_NAMES)
        return view.unknown(
            f"Loaded but not used so far: {listed}; the recording continues for only "
            f"{view.time(max(entry.since_ns for entry in unused))} after that, {others} of other models. They may "
            "be loaded for later use.",
            f"Record for a minute or longer ({options.unused_s:g} s after the load), and use the app's features.",
        )
    if alike := [entry.name for entry in sure if _may_be_used(loads, entry.name, {entry.name for entry in unused})]:
        return view.unknown(
            f"{tk.format_names(alike, _MAX_NAMES)} took as long to load as a model that is used: it may be the same "
            "one, loaded at another place.",
            tk.RECORD_CORE_ML,
        )
    names = [entry.name for entry in sure]
    since_ns, calls = min(entry.since_ns for entry in sure), min(entry.calls for entry in sure)
    rows = loads.where(loads.model.is_any(*names))
    waited = tk.Intervals.from_rows(rows).where(awaited(rows, trace)).union()
    took = f"{view.time(tk.covered_ns(rows))}{'' if len(waited) else ', which no prediction waited for'}"
    return view.finding(
        f"{tk.format_count(len(names), 'model was', 'models were')} loaded and never used: "
        f"{tk.format_names(names, _MAX_NAMES)}. Loading took {took}, and the recording continues for "
        f"{view.time(since_ns)} or more after that. How much memory that holds is not recorded.",
        (
            tk.above("models", "unused models", len(names), "count", 1),
            tk.above("since-load", "recorded after the load", since_ns, "ns", round(options.unused_s * 1e9)),
            tk.above("calls", "predictions of other models after the load", calls, "count", options.min_predictions),
            tk.Metric("loads", "loads", len(rows), "count"),
        ),
        rows=rows,
        cost=view.cost(waited.covered_ns, "Time of these loads that something waited for") if len(waited) else None,
        affected=waited,
    )


def _may_be_used(loads: tk.Calls, name: str, unused: Set[str]) -> bool:
    """Whether a place of which call stacks alone show that it loads may load a model that is used: one that takes as
    long elsewhere."""
    own, others = loads.model.is_any(name), ~loads.model.is_any(*unused)
    if not loads.attribution.take(own).is_any(tk.Attribution.INFERRED).all() or not others.any():
        return False
    mine, theirs = (loads.duration_ns[chosen] for chosen in (own, others))
    return bool(((theirs <= _ALIKE * mine.max()) & (_ALIKE * theirs >= mine.min())).any())


_ALIKE = 2.0
"""Times as long from which on a load is of another model (heuristic)."""


def _unused_models(trace: tk.Trace, loads: tk.Calls, calls: tk.Calls) -> list[Unused]:
    """Models of the loads that no prediction and no work of the hardware belongs to, by name."""
    # Used are those with a prediction, also as a stage or of one, and those that the hardware names.
    predicted = trace.activity.kind.is_any(tk.Kind.PREDICTION)
    hardware = trace.hardware
    named = hardware.attribution.is_any(tk.Attribution.LABEL, tk.Attribution.EXACT)
    ran = named & ~hardware.kind.is_any(tk.Kind.ANE_LOAD, tk.Kind.ANE_COMPILE)
    used: set[str] = set()
    for rows, chosen in ((trace.activity, predicted), (hardware, ran)):
        used |= {name for column in (rows.model, rows.parent_model) for name in column.take(chosen).held()}
    starts, ends = calls.start_ns, tk.Intervals.from_rows(loads).ends
    # Where the run does not say how long it was, its last row ends it.
    duration_ns = trace.run.duration_ns or int(tk.Intervals.from_rows(trace.activity, trace.hardware).ends.max())
    unused = []
    for name in sorted({*loads.model.held()} - used):
        first_end = int(ends[loads.model.is_any(name)].min())
        later = len(starts) - int(np.searchsorted(starts, first_end))
        unused.append(Unused(name, max(duration_ns - first_end, 0), later))
    return unused


DETECTOR = tk.RecordingDetector(
    needs=("Core ML",), origins=(tk.Origin.CALL_STACKS,), joins=True, counts=True, options=Options, detect=detect
)
