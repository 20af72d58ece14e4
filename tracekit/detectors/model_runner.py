"""All checks of model files, and running them. One that fails never ends the others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tracekit.detectors.framework import InspectedModel, Judgment, ModelFileDetector
from tracekit.detectors.options import Settings, choose, configure
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable, Outcome
from tracekit.detectors.pages import Pattern, rule
from tracekit.errors import words_of
from tracekit.model_files.facts import Form, ModelFile
from tracekit.model_files.versions import Target

MODEL_RULES = (
    "load-failure",
    "deployment-target",
    "custom-layers",
    "interface-conversion",
    "state-in-interface",
    "float32-compute",
    "unsupported-dimensions",
    "sequential-operations",
    "flexible-shapes",
    "uncompressed-weights",
    "per-block-weights",
)
"""Ids, in the order in which they are listed: what keeps a model from loading comes first."""

MODEL_DETECTORS: tuple[ModelFileDetector[Any], ...] = tuple(rule("model_rules", name) for name in MODEL_RULES)


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

    def place(entry: Judgment) -> tuple[bool, int]:
        return not isinstance(entry.outcome, Finding), order.index(entry.detector.page.pattern)

    return tuple(sorted(judgments, key=place))


def _detect(detector: ModelFileDetector[Any], view: InspectedModel, options: Any) -> Outcome:
    if view.model.form is Form.CORE_AI:
        return NotApplicable(view.model.name, "Checks of model files are about Core ML; this is a Core AI model.")
    try:
        return detector.detect(view, options)
    except Exception as error:
        return DetectorFailed(view.model.name, words_of(error))
