"""`attached-late`: the recording began when the app had loaded its models already."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.statistics import top_calls

_LAUNCHING = "initializing"
"""Beginning of the life cycle periods that a recorded launch leaves; real recordings of Xcode 16 begin with one."""


def detect(view: tk.RecordingView, _options: tk.NoOptions) -> tk.Outcome:
    """Looks for predictions of models whose load is not in the recording."""
    trace = view.trace
    calls = top_calls(trace, tk.Kind.PREDICTION)
    if not len(calls):
        return view.not_applicable("No prediction was recorded.")
    loads, named = top_calls(trace, *tk.LOAD_KINDS), calls.model
    model, index = np.unique(named.codes, return_index=True)
    loaded, load = np.unique(loads.model.codes, return_index=True)
    first_load = np.full(len(named.values) + 1, np.iinfo(np.int64).max)
    first_load[loaded] = loads.start_ns[load]
    # The first prediction of each model that no load of it precedes.
    firsts = np.sort(index[(model >= 0) & (first_load[model] > calls.start_ns[index])])
    unnamed = tk.unnamed_predictions(trace)
    metrics = (
        tk.above("unloaded-models", "models whose load was not recorded", len(firsts), "count", 1),
        tk.above("unnamed-predictions", "predictions without a model name", unnamed, "count", 1),
        tk.Metric("predictions", "predictions", len(calls), "count"),
    )
    if not any(metric.reached for metric in metrics):
        return view.passed("Every model that made predictions was loaded during the recording.", metrics)
    if (trace.run.recording_mode or "").casefold().startswith("window"):
        return view.not_applicable(
            f"Only the last part of the recording was kept ({trace.run.recording_mode}), so loads may be missing."
        )
    names = list(named.take(firsts).as_objects())
    parts = []
    if names:
        parts.append(f"no load of {tk.format_names(names)} was recorded")
    if unnamed:
        verb = "has" if unnamed == 1 else "have"
        parts.append(
            f"{tk.format_count(unnamed, 'prediction')} {verb} no model name (Core ML emits names only at load time)"
        )
    was_launched, missing = _was_launched(trace), ", and ".join(parts)
    advice = "Record with `--launch`, so the recording starts before the app loads its models."
    if was_launched is None:
        late = "it is unknown whether the recording started after the app's launch."
        return view.unknown(f"{missing[0].upper()}{missing[1:]}; {late}", advice)
    if was_launched:
        return view.unknown(
            f"The app's launch was recorded, but {missing}; why these rows are missing is unknown.", advice
        )
    return view.finding(
        f"The app was already running when the recording started: {missing}. Earlier loads are not in the recording.",
        metrics,
        rows=calls.take(np.append(firsts, np.flatnonzero(~named.known)[:1])),
    )


def _was_launched(trace: tk.Trace) -> bool | None:
    """Whether the launch of the target was recorded; None where nothing shows it."""
    target = trace.run.target
    if target.kind is not None:
        return target.kind == "launched"
    periods = trace.table(tk.LifeCycle)
    if periods is None:
        return None
    if target.process is not None:
        periods = periods.where(~periods.process.known | periods.process.is_any(target.process.name))
    if not len(periods):
        return None
    return bool(periods.period.passing(lambda period: period.casefold().startswith(_LAUNCHING)).any())


DETECTOR = tk.RecordingDetector(needs=("Core ML",), uses=("App Life Cycle",), options=tk.NoOptions, detect=detect)
