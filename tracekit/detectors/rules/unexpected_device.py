"""`unexpected-device`: the model's work runs on another unit than its author expects."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tracekit.analysis.breakdown.device_runs import SHORT_CPU_NS, device_runs_of
from tracekit.analysis.code.sites import sites_of
from tracekit.detectors import (
    DEVICE_NAMES,
    UNIT_NUMBERS,
    Attribution,
    Detector,
    Device,
    Intervals,
    Kind,
    Metric,
    ModelView,
    Outcome,
    above,
    format_count,
    format_share,
    option,
    page_beside,
    value_of,
)
from tracekit.detectors.shared.planned import of_units
from tracekit.detectors.shared.unit_work import Work, known_work, unit_suggestion
from tracekit.detectors.shared.wording import order_words

_NO_WORK = "No compute unit work was recorded."
_MISSED = "predictions mostly elsewhere"


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    expected_unit: int = option(
        0,
        "1 Neural Engine, 2 GPU, 3 CPU",
        "Only you know the expected unit: set it with --expect ane, gpu or cpu. 0 means that none is set.",
        minimum=0,
        maximum=3,
    )
    elsewhere_share: float = option(
        0.5, "share of the work", "Heuristic: from here on, most of the work runs elsewhere.", maximum=1
    )
    shown_share: float = option(
        0.2,
        "share of prediction time",
        "Heuristic: if rows show less, most of the work may have left none; rows of a model on the CPU "
        "cover 35% in a public recording.",
        maximum=1,
    )
    min_predictions: int = option(5, "predictions", "Heuristic: among fewer predictions, a single one would decide.")


_DEVICES = {UNIT_NUMBERS["ane"]: Device.ANE, UNIT_NUMBERS["gpu"]: Device.GPU, UNIT_NUMBERS["cpu"]: Device.CPU}


def detect(view: ModelView, options: Options) -> Outcome:
    """Compares the units that worked for the model with the one that is expected to."""
    judged = (view.predictions["duration_ns"] > 0).to_numpy(dtype=bool)
    work = known_work(view)
    if not options.expected_unit:
        recorded = f"Recorded work: {work.words}." if work.words else _NO_WORK
        return view.not_applicable(
            f"No expected compute unit given; set one with --expect, for example --expect ane. "
            f"{recorded}{unit_suggestion(view)}{of_units(view)}"
        )
    expected = _DEVICES[options.expected_unit]
    if int(judged.sum()) < options.min_predictions:
        return view.too_few_predictions(int(judged.sum()), options.min_predictions, "with a duration")
    on_ns, max_on_ns = work.known_ns[expected], work.known_ns[expected] + work.open_ns[expected]
    elsewhere_ns = work.shown_ns - on_ns
    max_elsewhere_ns = elsewhere_ns + max(work.open_ns[device] for device in work.known_ns if device != expected)
    metrics = (
        above("work elsewhere", 1 - work.share(expected), "share", options.elsewhere_share),
        Metric(_MISSED, work.mostly_elsewhere(expected), "share"),
        *(Metric(f"work on the {DEVICE_NAMES[device]}", work.share(device), "share") for device in work.known_ns),
    )
    shown = work.shown_ns >= options.shown_share * work.predicted_ns
    if shown and elsewhere_ns and elsewhere_ns >= options.elsewhere_share * (max_on_ns + elsewhere_ns):
        return _finding(view, expected, work, metrics)
    if shown and max_elsewhere_ns < options.elsewhere_share * (on_ns + max_elsewhere_ns):
        return view.passed(
            f"{format_share(work.share(expected))} of the work ran on the {DEVICE_NAMES[expected]}.{of_units(view)}",
            metrics,
        )
    return _unclear(view, work)


def _unclear(view: ModelView, work: Work) -> Outcome:
    """What to say where rows show too little of where the work ran."""
    reason = _NO_WORK
    if work.words:
        share = format_share(work.shown_ns / work.predicted_ns)
        reason = f"Recorded work: {work.words}, in {share} of prediction time."
    not_recorded = view.units_not_recorded(before=f"{reason} ", after=f"{unit_suggestion(view)}{of_units(view)}")
    return not_recorded or view.unknown(
        f"{reason} It is unknown which model the units' other work belongs to, or where the rest of the time went."
        f"{of_units(view)}",
        f"Record this model alone{_apart(view)}, and check the performance report in Xcode.",
    )


def _apart(view: ModelView) -> str:
    return "" if Intervals.from_rows(view.predictions).alone().all() else ", without overlapping predictions"


def _finding(view: ModelView, expected: Device, work: Work, metrics: tuple[Metric, ...]) -> Outcome:
    """The finding. It has no cost: no recording shows how fast the expected unit would be."""
    unit, count = DEVICE_NAMES[expected], format_count(len(view.predictions), "prediction")
    others = [_rows(view, device) for device in work.known_ns if device != expected and work.known_ns[device]]
    rows = pd.concat([frame for frame in others if len(frame)])
    usual_order = device_runs_of(view.compute, view.hardware, view.predictions.index, SHORT_CPU_NS).usual_order()
    order = f" The usual order is {order_words(usual_order)}." if len(usual_order) > 1 else ""
    by_time = view.hardware["attribution"].eq(Attribution.CONTAINED).any()
    doubt = " Possible but not certain: some rows do not name a model." if by_time else ""
    return view.finding(
        summary=(
            f"Expected on the {unit}, but {format_share(1 - work.share(expected))} of the recorded work of {count} ran "
            f"elsewhere: {work.words}.{order}{doubt}{unit_suggestion(view)}{of_units(view, unit)}"
        ),
        metrics=metrics,
        rows=rows,
        missed=value_of(metrics, _MISSED),
        call_sites=sites_of(view.trace, view.predictions.index),
    )


def _rows(view: ModelView, device: Device) -> pd.DataFrame:
    """The rows that show work of a unit: its execution, or requests to it where none was recorded."""
    linked = view.hardware[view.hardware["prediction"].notna().to_numpy()]
    executed = linked[
        ((linked["device"] == device) & linked["kind"].isin((Kind.ANE_EXEC, Kind.GPU_EXEC))).to_numpy(dtype=bool)
    ]
    if len(executed):
        return executed
    return view.compute[((view.compute["device"] == device) & view.compute["prediction"].notna()).to_numpy(dtype=bool)]


DETECTOR = Detector(
    id="unexpected-device",
    page=page_beside(__file__),
    needs=("Core ML",),
    uses=("Neural Engine", "GPU", "Call Stacks"),
    on_inferred=True,
    options=Options,
    detect=detect,
)
