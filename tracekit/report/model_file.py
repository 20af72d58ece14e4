"""What a report says of a model file that came with the recording."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from tracekit.detectors.model_rules import deployment_target, interface_conversion
from tracekit.detectors.model_runner import MODEL_DETECTORS, run_model_detectors
from tracekit.detectors.selection import ModelChecks
from tracekit.errors import UsageError
from tracekit.model_files import parse_target
from tracekit.report.model_report import model_info
from tracekit.report.model_words import card, context, systems
from tracekit.report.report import ModelFact, ModelFileInfo, ModelFileResult
from tracekit.report.results import result_of

if TYPE_CHECKING:
    from tracekit.model_files import ModelFile, Target
    from tracekit.report.report import Result
    from tracekit.trace.model_file import JoinedFile


def model_file_info(entry: JoinedFile, system: str, checks: ModelChecks | None) -> ModelFileInfo:
    """The file with what its checks say; `system` is what the recording was made on, such as `iOS 18.5`, and `checks`
    what the project sets for them."""
    model = entry.file
    if model is None or entry.model is None:
        return ModelFileInfo(None, entry.source, None, entry.problem, "", "", None, "", None, (), ())
    # Findings are about the model as the recording calls it.
    target, version = _target(system), model.specification_version
    # Which system the app supports is not known: only where it ran.
    answers = _answers(replace(model, name=entry.model), checks or ModelChecks())
    return ModelFileInfo(
        model=entry.model,
        source=entry.source,
        match=str(entry.match),
        problem=entry.problem,
        summary=context(model).removeprefix(f"{model.source} · "),
        systems=systems(model),
        loads=None if target is None or version is None else version <= target.version,
        interface=next((check.summary for check in answers if check.id == interface_conversion.DETECTOR.id), ""),
        compression=_compression(model),
        facts=tuple(ModelFact(*fact) for fact in card(model_info(model))),
        results=answers,
    )


def _answers(model: ModelFile, checks: ModelChecks) -> tuple[ModelFileResult, ...]:
    """Every check that the project did not switch off, without the one that asks for the systems of the app."""
    skip = (*checks.skipped(model.name), deployment_target.DETECTOR.id)
    if all(detector.id in skip or (checks.only and detector.id not in checks.only) for detector in MODEL_DETECTORS):
        return ()
    judgments = run_model_detectors(model, only=checks.only, skip=skip, settings=checks.settings_of(model.name))
    return tuple(_check(result_of(judgment)) for judgment in judgments)


def _check(check: Result) -> ModelFileResult:
    return ModelFileResult(*(getattr(check, field.name) for field in fields(ModelFileResult)))


def _target(system: str) -> Target | None:
    """The system of a recording; None where it says none, or one that is not known."""
    # A build may follow: `18.5 (22F76)`.
    try:
        return parse_target(system.partition(" (")[0])
    except UsageError:
        return None


def _compression(model: ModelFile) -> tuple[str, ...] | None:
    """Techniques of any of its weights; None where one part does not list them."""
    techniques: dict[str, None] = {}
    for part in model.parts:
        if part.weights.tensors is None:
            return None
        techniques |= dict.fromkeys(technique for weight in part.weights.tensors for technique in weight.technique)
    return tuple(techniques)
