"""What a report says of model files and performance reports beside the recording: planned and timed, and recorded."""

from __future__ import annotations

from dataclasses import fields, replace
from operator import attrgetter

from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.models import ModelSummary, is_hardware_alone
from tracekit.detectors.model_rules import deployment_target, interface_conversion
from tracekit.detectors.model_runner import MODEL_DETECTORS, run_model_detectors
from tracekit.detectors.options import ChosenChecks
from tracekit.detectors.shared import planned
from tracekit.model_files.engine_limits import chip_of
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.remedies import fix_command
from tracekit.model_files.performance.facts import PerformanceReport
from tracekit.model_files.versions import Target, recorded_target
from tracekit.recording import contents
from tracekit.report.groups import result_of
from tracekit.report.model_report import model_info
from tracekit.report.model_words import card, context, systems
from tracekit.report.report import ModelFact, ModelFileInfo, ModelFileResult, PerformanceReportInfo
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.trace.trace import Joined
from tracekit.units import format_share, format_time


def model_file_info(entry: Joined[ModelFile], device: contents.Device, checks: ChosenChecks | None) -> ModelFileInfo:
    """The file with what its checks say of the device of the recording; `checks`: the project's settings."""
    model = entry.facts
    if model is None or entry.model is None:
        return ModelFileInfo(None, entry.source, None, entry.problem, "", "", None, "", None, (), ())
    # Findings are about the model as the recording calls it.
    target, version = recorded_target(device.platform, device.os_version), model.specification_version
    # What compresses any of its weights is unknown where one part does not list them.
    tensors = [part.weights.tensors for part in model.parts]
    techniques = (technique for listed in tensors for weight in listed or () for technique in weight.technique)
    # Which system the app supports is not known: only where it ran.
    answers = _answers(replace(model, name=entry.model), checks or ChosenChecks(), target, chip_of(device.model))
    return ModelFileInfo(
        model=entry.model,
        source=entry.source,
        match=str(entry.match),
        problem=entry.problem,
        summary=context(model).removeprefix(f"{model.source} · "),
        systems=systems(model),
        loads=None if target is None or version is None else version <= target.version,
        interface=next((check.summary for check in answers if check.id == interface_conversion.DETECTOR.id), ""),
        compression=None if None in tensors else tuple(dict.fromkeys(techniques)),
        facts=tuple(ModelFact(*fact) for fact in card(model_info(model))),
        results=answers,
        commands={
            check.id: command
            for check in answers
            if check.outcome == "finding" and (command := fix_command(check.id, model, model.source))
        },
    )


def _answers(
    model: ModelFile, checks: ChosenChecks, target: Target | None, chip: int | None
) -> tuple[ModelFileResult, ...]:
    """Every check that the project did not switch off, without the one that asks for the systems of the app."""
    skip = (*checks.skipped_checks(model.name), deployment_target.DETECTOR.id)
    if all(detector.id in skip or (checks.only and detector.id not in checks.only) for detector in MODEL_DETECTORS):
        return ()
    judgments = run_model_detectors(
        model, target, chip=chip, only=checks.only, skip=skip, settings=checks.settings_of(model.name)
    )
    fields_of = attrgetter(*(field.name for field in fields(ModelFileResult)))
    return tuple(ModelFileResult(*fields_of(result_of(judgment))) for judgment in judgments)


_PARTS = {
    Device.ANE: (Part.ANE, Part.ANE_REQUESTED),
    Device.GPU: (Part.GPU, Part.GPU_REQUESTED),
    Device.CPU: (Part.CPU,),
}
"""Parts of a prediction in which a unit works. Requests stand for work that no row shows."""


def performance_report_info(
    entry: Joined[PerformanceReport], model: ModelSummary | None, device: contents.Device
) -> PerformanceReportInfo:
    """The report beside what was recorded of its model, on this device. O(operations)."""
    report = entry.facts
    if report is None or entry.model is None:
        return PerformanceReportInfo(None, entry.source, None, entry.problem)
    plan = planned.placement(report)
    if not plan:
        plan_sentence = ""
    else:
        parts = model.breakdown.parts if model is not None and model.breakdown is not None else ()
        total = {part.part: part.total_ns or 0 for part in parts}
        work = {device: sum(total.get(part, 0) for part in working) for device, working in _PARTS.items()}
        ran = [device for device in sorted(work, key=lambda device: -work[device]) if work[device]]
        shares = ", ".join(
            f"{DEVICE_NAMES[device]} {format_share(work[device] / sum(work.values()))}" for device in ran
        )
        plan_sentence = f"Planned: {plan}; recorded work: {shares or 'none of a compute unit'}."
    alone = report.prediction.median_ns if report.prediction else None
    if alone is None:
        times_sentence = ""
    else:
        recorded = model.prediction.p50_ns if model is not None and model.prediction is not None else None
        if recorded is None:
            times_sentence = f"Prediction of the model alone: {format_time(alone)} (median)."
        else:
            lower_bound = "at least " if model is not None and is_hardware_alone(model) else ""
            in_app = f"{lower_bound}{format_time(recorded)}"
            times_sentence = f"Prediction of the model alone: {format_time(alone)}; recorded: {in_app} (medians)."
    return PerformanceReportInfo(
        model=entry.model,
        source=entry.source,
        match=str(entry.match),
        problem=entry.problem,
        form=str(report.form),
        made_on=planned.report_origin(report, device),
        same_device=planned.same_device(report, device),
        median_ns=report.prediction.median_ns if report.prediction else None,
        load_ns=report.load.median_ns if report.load else None,
        operations=None if report.operations is None else len(report.operations),
        units=planned.units(report),
        timed=times_sentence,
        planned=plan_sentence,
    )
