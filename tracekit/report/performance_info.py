"""What a report says of a performance report that came with the recording: planned and timed beside recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.breakdown import Part
from tracekit.detectors.shared import planned
from tracekit.report.columns import is_inferred
from tracekit.report.report import PerformanceReportInfo
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_duration, format_share

if TYPE_CHECKING:
    from tracekit.analysis.models import ModelSummary
    from tracekit.model_files.performance import PerformanceReport
    from tracekit.recording import contents
    from tracekit.trace.model_file import JoinedReport

_PARTS = {
    Device.ANE: (Part.ANE, Part.ANE_REQUESTED),
    Device.GPU: (Part.GPU, Part.GPU_REQUESTED),
    Device.CPU: (Part.CPU,),
}
"""Parts of a prediction in which a unit works. Requests stand for work that no row shows."""


def performance_report_info(
    entry: JoinedReport, model: ModelSummary | None, device: contents.Device
) -> PerformanceReportInfo:
    """The report beside what was recorded of its model, on this device. O(operations)."""
    report = entry.report
    if report is None or entry.model is None:
        return PerformanceReportInfo(None, entry.source, None, entry.problem)
    return PerformanceReportInfo(
        model=entry.model,
        source=entry.source,
        match=str(entry.match),
        problem=entry.problem,
        form=str(report.form),
        made_on=planned.made_on(report, device),
        same_device=planned.same_device(report, device),
        median_ns=report.prediction.median_ns if report.prediction else None,
        load_ns=report.load.median_ns if report.load else None,
        operations=None if report.operations is None else len(report.operations),
        units=planned.units(report),
        timed=_times_sentence(report, model),
        planned=_plan_sentence(report, model),
    )


def _times_sentence(report: PerformanceReport, model: ModelSummary | None) -> str:
    """The time of a prediction alone, and in the app."""
    alone = report.prediction.median_ns if report.prediction else None
    if alone is None:
        return ""
    recorded = model.prediction.p50_ns if model is not None and model.prediction is not None else None
    if recorded is None:
        return f"Prediction of the model alone: {format_duration(alone)} (median)."
    lower_bound = "at least " if model is not None and is_inferred(model) else ""
    in_app = f"{lower_bound}{format_duration(recorded)}"
    return f"Prediction of the model alone: {format_duration(alone)}; recorded: {in_app} (medians)."


def _plan_sentence(report: PerformanceReport, model: ModelSummary | None) -> str:
    """Where operations are planned, and where work was recorded."""
    plan = planned.placed(report)
    if not plan:
        return ""
    parts = model.breakdown.parts if model is not None and model.breakdown is not None else ()
    total = {part.part: part.total_ns or 0 for part in parts}
    work = {device: sum(total.get(part, 0) for part in working) for device, working in _PARTS.items()}
    shares = ", ".join(
        f"{DEVICE_NAMES[device]} {format_share(work[device] / sum(work.values()))}"
        for device in sorted(work, key=lambda device: -work[device])
        if work[device]
    )
    return f"Planned: {plan}; recorded work: {shares or 'none of a compute unit'}."
