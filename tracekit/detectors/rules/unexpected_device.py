"""`unexpected-device`: the model's work runs on another unit than its author expects."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, UNITS, device_runs_of
from tracekit.analysis.code.sites import sites_of
from tracekit.detectors.shared.planned import of_units
from tracekit.detectors.shared.unit_work import Work, known_work, unit_suggestion
from tracekit.detectors.shared.wording import order_words


class Options(tk.Options):
    expected_unit: int = tk.option(
        0,
        "1 Neural Engine, 2 GPU, 3 CPU",
        "Only you know the expected unit: set it with --expect neural-engine, gpu or cpu. 0 means that none is set.",
        minimum=0,
        maximum=3,
    )
    elsewhere_share: float = tk.option(
        0.5, "share of the work", "Heuristic: from here on, most of the work runs elsewhere."
    )
    shown_share: float = tk.option(
        0.2,
        "share of prediction time",
        "Heuristic: if rows show less, most of the work may have left none; rows of a model on the CPU "
        "cover 35% in a public recording.",
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares the units that worked for the model with the one that is expected to."""
    count, work, planned = int((view.durations > 0).sum()), known_work(view), of_units(view)
    recorded = f"Recorded work: {work.words}" if work.words else "No compute unit work was recorded"
    if not options.expected_unit:
        return view.not_applicable(
            f"No expected compute unit given; set one with --expect, for example --expect gpu. "
            f"{recorded}.{unit_suggestion(view)}{planned}"
        )
    expected = UNITS[options.expected_unit - 1]
    if count < options.min_predictions:
        return view.too_few_predictions(count, options.min_predictions, "with a duration")
    on_ns, max_on_ns = work.known_ns[expected], work.known_ns[expected] + work.open_ns[expected]
    elsewhere_ns = work.shown_ns - on_ns
    max_elsewhere_ns = elsewhere_ns + max(work.open_ns[device] for device in work.known_ns if device != expected)
    metrics = (
        tk.above("elsewhere", "work elsewhere", 1 - work.share(expected), "share", options.elsewhere_share),
        tk.Metric("mostly-elsewhere", "predictions mostly elsewhere", work.mostly_elsewhere(expected), "share"),
        *(
            tk.Metric(f"on-{device}", f"work on the {tk.DEVICE_NAMES[device]}", work.share(device), "share")
            for device in work.known_ns
        ),
    )
    shown = work.shown_ns >= options.shown_share * work.predicted_ns
    if shown and elsewhere_ns and elsewhere_ns >= options.elsewhere_share * (max_on_ns + elsewhere_ns):
        return _finding(view, expected, work, metrics)
    if shown and max_elsewhere_ns < options.elsewhere_share * (on_ns + max_elsewhere_ns):
        return view.passed(
            f"{tk.format_share(work.share(expected))} of the work ran on the {tk.DEVICE_NAMES[expected]}.{planned}",
            metrics,
        )
    part = f", in {tk.format_share(work.shown_ns / work.predicted_ns)} of prediction time" if work.words else ""
    reason = f"{recorded}{part}."
    not_recorded = view.missing_units_answer(before=f"{reason} ", after=f"{unit_suggestion(view)}{planned}")
    apart = "" if tk.Intervals.from_rows(view.predictions).alone().all() else ", without overlapping predictions"
    return not_recorded or view.unknown(
        f"{reason} It is unknown which model the units' other work belongs to, or where the rest of the time went."
        f"{planned}",
        f"Record this model alone{apart}, and check the performance report in Xcode.",
    )


def _finding(view: tk.ModelView, expected: tk.Device, work: Work, metrics: tuple[tk.Metric, ...]) -> tk.Outcome:
    """The finding. It has no cost: no recording shows how fast the expected unit would be."""
    unit, count = tk.DEVICE_NAMES[expected], tk.format_count(len(view.predictions), "prediction")
    others = [_rows(view, device) for device in work.known_ns if device != expected and work.known_ns[device]]
    rows = tk.Shown.of(*others) if any(map(len, others)) else view.predictions
    usual_order = device_runs_of(view.compute, view.hardware, view.predictions.id, SHORT_CPU_NS).usual_order()
    order = f" The usual order is {order_words(usual_order)}." if len(usual_order) > 1 else ""
    by_time = view.hardware.attribution.is_any(tk.Attribution.CONTAINED).any()
    doubt = " Possible but not certain: some rows do not name a model." if by_time else ""
    return view.finding(
        f"Expected on the {unit}, but {tk.format_share(1 - work.share(expected))} of the recorded work of {count} "
        f"ran elsewhere: {work.words}.{order}{doubt}{unit_suggestion(view)}{of_units(view, unit)}",
        metrics,
        rows=rows,
        missed=tk.value_of(metrics, "mostly-elsewhere"),
        call_sites=sites_of(view.trace, view.predictions.id),
    )


def _rows(view: tk.ModelView, device: tk.Device) -> tk.Events:
    """The rows that show work of a unit: its execution, or requests to it where none was recorded."""
    linked, requested = (
        rows.where(rows.device.is_any(device) & rows.prediction.known) for rows in (view.hardware, view.compute)
    )
    executed = linked.where(linked.kind.is_any(tk.Kind.ANE_EXEC, tk.Kind.GPU_EXEC))
    return executed if len(executed) else requested


DETECTOR = tk.Detector(
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Call Stacks"),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=Options,
    caused_by=("compute-unit-ping-pong",),
    causes=(tk.Cause.UNIT,),
    detect=detect,
)
