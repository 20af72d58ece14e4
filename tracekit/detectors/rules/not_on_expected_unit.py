"""`not-on-expected-unit`: the model's work runs on another unit than its author expects."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, UNITS, device_runs_of
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.where.verdict import whereabouts
from tracekit.analysis.where.words import where_words
from tracekit.detectors.shared.not_there import why_not
from tracekit.detectors.shared.planned import of_units
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
        0.5, "share of compute", "Heuristic: from here on, most of the work runs elsewhere."
    )
    min_predictions: int = tk.option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Compares where the model ran with the unit that is expected."""
    where = whereabouts(view.trace, view.name)
    ran = where_words(where)
    if not options.expected_unit:
        return view.not_applicable(
            "No expected compute unit given; set one with --expect, for example --expect gpu. Recorded: "
            f"{ran}.{of_units(view)}"
        )
    expected = UNITS[options.expected_unit - 1]
    use, unit = where.of(expected), tk.DEVICE_NAMES[expected]
    if where.predictions < options.min_predictions:
        return view.too_few_predictions(where.predictions, options.min_predictions, "with a duration")
    least, most = use.least_share or 0.0, 1.0 if use.most_share is None else use.most_share
    shares, named = where.shares(), tk.DEVICE_NAMES.items()

    def metrics(share: float) -> tuple[tk.Metric, ...]:
        return (
            tk.above("elsewhere", "work elsewhere", 1 - share, "share", options.elsewhere_share),
            *(tk.Metric(f"on-{one}", f"work on the {name}", shares.get(one, 0.0), "share") for one, name in named),
        )

    if 1 - most >= options.elsewhere_share:
        return _finding(view, expected, f"{tk.format_share(1 - most)} of the work", ran, metrics(most))
    if 1 - least < options.elsewhere_share:
        count = f"{use.predictions:,} of {tk.format_count(where.predictions, 'prediction')}"
        at_least = "" if tk.format_share(least) == tk.format_share(most) else "at least "
        words = f"Ran on the {unit} in {count}, {at_least}{tk.format_share(least)} of the work.{of_units(view)}"
        return view.passed(words, metrics(least))
    bounds = f"{tk.format_share(least)} to {tk.format_share(most)} of the work may have run on the {unit}"
    reason = f"{ran[0].upper()}{ran[1:]}: {bounds}."
    not_recorded = view.missing_units_answer(before=f"{reason} ", after=of_units(view))
    apart = "" if tk.Intervals.from_rows(view.predictions).alone().all() else ", without overlapping predictions"
    return not_recorded or view.unknown(
        f"{reason}{of_units(view)}", f"Record this model alone{apart}, with Time Profiler, and nothing else running."
    )


def _finding(
    view: tk.ModelView, expected: tk.Device, share: str, ran: str, metrics: tuple[tk.Metric, ...]
) -> tk.Outcome:
    """The finding. It has no cost: no recording shows how fast the expected unit would be."""
    others = [_rows(view, device) for device in UNITS if device != expected]
    rows = tk.Shown.of(*others) if any(map(len, others)) else view.predictions
    usual_order = device_runs_of(view.compute, view.hardware, view.predictions.id, SHORT_CPU_NS).usual_order()
    order = f" The usual order is {order_words(usual_order)}." if len(usual_order) > 1 else ""
    by_time = view.hardware.attribution.is_any(tk.Attribution.CONTAINED).any()
    doubt = " Possible but not certain: some rows do not name a model." if by_time else ""
    least = "" if tk.value_of(metrics, "elsewhere") >= 1 else "at least "
    return view.finding(
        f"Expected on the {tk.DEVICE_NAMES[expected]}, but {least}{share} ran elsewhere: {ran}."
        f"{order}{doubt}{why_not(view, expected)}",
        metrics,
        rows=rows,
        missed=tk.value_of(metrics, "elsewhere"),
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
