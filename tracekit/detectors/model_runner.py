"""Runs the checks of model files. Never lets one failure end the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.detectors.framework import InspectedModel, Judgment
from tracekit.detectors.model_registry import MODEL_DETECTORS
from tracekit.detectors.options import configure
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.selection import choose
from tracekit.errors import words_of
from tracekit.model_files import Form

if TYPE_CHECKING:
    from collections.abc import Collection

    from tracekit.detectors.framework import ModelFileDetector
    from tracekit.detectors.options import Settings
    from tracekit.detectors.outcomes import Outcome
    from tracekit.model_files import ModelFile, Target


def run_model_detectors(
    model: ModelFile,
    target: Target | None = None,
    *,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
) -> tuple[Judgment, ...]:
    """Every chosen check's answer about a model file: findings first, in the order of the diagnostic tree, in which
    what keeps a model from loading comes before what makes it slow.

    Raises `UsageError` for an unknown id, option or value.
    """
    options = configure(MODEL_DETECTORS, settings or {})
    view = InspectedModel(model, target)
    judgments = [
        Judgment(detector, _detect(detector, view, options[detector.id]))
        for detector in choose(MODEL_DETECTORS, only, skip)
    ]
    order = list(Pattern)
    return tuple(
        sorted(
            judgments,
            key=lambda entry: (not isinstance(entry.outcome, Finding), order.index(entry.detector.pattern)),
        )
    )


def _detect(detector: ModelFileDetector[Any], view: InspectedModel, options: Any) -> Outcome:
    if view.model.form is Form.CORE_AI:
        return NotApplicable(view.model.name, "Checks of model files are about Core ML; this is a Core AI model.")
    try:
        return detector.detect(view, options)
    except Exception as error:
        return DetectorFailed(view.model.name, words_of(error))
