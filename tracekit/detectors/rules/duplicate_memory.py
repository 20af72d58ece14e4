"""`duplicate-memory`: instances of one model that take turns hold its memory several times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.instances import instances_by_kind
from tracekit.analysis.memory import LoadMemory, Sureness, load_memory
from tracekit.detectors.shared.instances import ALIKE, MIN_SWITCHES, PARALLEL_SHARE, Turns, before_comparing, traits_of
from tracekit.detectors.shared.memory import MB, engine_memory, held, min_mb_option, unsampled
from tracekit.detectors.shared.wording import RECORD_APP


class Options(tk.Options):
    min_mb: float = min_mb_option()
    copy_ratio: float = tk.option(
        0.5,
        "times what the first load adds",
        "Heuristic: instances that share their weights add little; a copy adds about as much again.",
    )
    min_predictions: int = tk.option(10, "predictions", "As in duplicate-instances.")
    min_switches: int = tk.option(MIN_SWITCHES, "switches between instances", "As in duplicate-instances.")
    parallel_share: float = tk.option(PARALLEL_SHARE, "share of busy time", "As in duplicate-instances.")
    alike: float = tk.option(ALIKE, "times", "As in duplicate-instances.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares what the loads of instances added of which one would do."""
    if (answer := before_comparing(view, options.min_predictions)) is not None:
        return answer
    known, turns = traits_of(view), Turns(options.min_switches, options.parallel_share, options.alike)
    parts = instances_by_kind(view.loads, view.predictions, known, options.min_predictions // 2)
    part = next((each for each in parts if turns.one_suffices(each)), None)
    if part is None:
        return view.passed("No instance of the model takes turns with another that could stand for it.")
    if view.trace.run.target.kind == "all-processes" and (known.pid < 0).any():
        return view.unknown(
            "All processes were recorded, and the rows do not show which process each instance belongs to.", RECORD_APP
        )
    if (answer := unsampled(view)) is not None:
        return answer
    by_start = {each.start_ns: each for each in load_memory(view.trace) if each.model == view.name}
    of_load = [by_start.get(start) for start in view.loads.start_ns.tolist()]
    extra = [of_load[position] for position in part.together.tolist()]
    first = next((each for at, each in enumerate(of_load) if at not in part.together), None)
    return _judge(view, first, extra, options)


def _judge(
    view: tk.ModelView, first: LoadMemory | None, extra: list[LoadMemory | None], options: Options
) -> tk.Outcome:
    steps = [each.step_bytes for each in extra if each is not None and each.step_bytes is not None]
    if first is None or first.together_bytes is None or len(steps) < len(extra) or not steps:
        return _unknown(view, (first, *extra))
    added = sum(max(step, 0) for step in steps)
    each_adds = added / len(steps)
    ratio = each_adds / first.together_bytes if first.together_bytes > 0 else None
    metrics = (
        tk.Metric("instances", "instances beyond the first", len(steps), "count"),
        tk.Metric("first-load", "what the first load adds", first.together_bytes, "bytes"),
        tk.above("further-load", "what a further load adds", each_adds, "bytes", options.min_mb * MB),
        tk.above("ratio", "further load to the first", ratio, "ratio", options.copy_ratio),
    )
    at_most = "at most " if first.step_bytes is None else ""
    words = (
        f"Its first load adds {at_most}{tk.format_bytes(first.together_bytes)} to the footprint, and "
        f"{tk.format_count(len(steps), 'further one')} {tk.format_bytes(round(each_adds))}"
        f"{' each' if len(steps) > 1 else ''}"
    )
    if at_most and not tk.reached(metrics, "ratio"):
        return _unknown(view, (first, *extra))
    if not tk.all_reached(metrics):
        return view.passed(f"{words}: hardly any memory is held twice. {engine_memory(view)}", metrics)
    by_start = {each.start_ns: each.step_bytes for each in extra if each is not None}
    rows = view.loads.where(np.isin(view.loads.start_ns, [*by_start]))
    return view.finding(
        f"{words}, although the instances take turns and one would do.",
        metrics,
        rows=rows,
        call_sites=sites_of(view.trace, rows.id),
        held=held(added, view.trace),
        sizes=np.array([by_start[start] for start in rows.start_ns.tolist()], np.int64),
    )


def _unknown(view: tk.ModelView, loads: Iterable[LoadMemory | None]) -> tk.NotEvaluated:
    together = any(load is not None and load.sure == Sureness.SHARED for load in loads)
    why = "several loads lie between two samples" if together else "not all of their loads were sampled"
    return view.unknown(
        f"Several instances take turns, but {why}, so what each of them holds is not known.",
        "Start recording before the app loads the model, with a second or more between its loads.",
    )


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Activity Monitor", "Neural Engine", "GPU", "Call Stacks"),
    caused_by=("duplicate-instances",),
    options=Options,
    detect=detect,
)
