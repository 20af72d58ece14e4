"""All checks of model files, and running them. One that fails never ends the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from tracekit.detectors.framework import InspectedModel, Judgment, ModelFileDetector
from tracekit.detectors.options import Settings, choose, configure
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable, Outcome
from tracekit.detectors.pages import Pattern, rule
from tracekit.errors import words_of
from tracekit.model_files.engine import Placement, placements_of
from tracekit.model_files.engine_limits import Bounds
from tracekit.model_files.facts import Form, Kind, ModelFile
from tracekit.model_files.versions import Target

MODEL_RULES = (
    "load-failure",
    "deployment-target",
    "custom-layers",
    "interface-conversion",
    "state-in-interface",
    "float32-compute",
    "weight-file-size",
    "state-shapes",
    "unsupported-dimensions",
    "unsupported-operations",
    "sequential-operations",
    "engine-pieces",
    "flexible-shapes",
    "uncompressed-weights",
    "per-block-weights",
    "converter-faults",
)
"""Ids, in the order in which they are listed: what keeps a model from loading comes first."""

MODEL_DETECTORS: tuple[ModelFileDetector[Any], ...] = tuple(rule("model_rules", name) for name in MODEL_RULES)


def judged_placements(
    model: ModelFile, target: Target | None = None, chip: int | None = None, settings: Settings | None = None
) -> tuple[Placement, ...]:
    """Whether each function will run on the Neural Engine, with the limits that are set for the checks."""
    return placements_of(model, chip, target, _bounds(configure(MODEL_DETECTORS, settings or {})))


def _bounds(options: Mapping[str, Any]) -> Bounds:
    """The options of all checks that have the name of a limit."""
    known = {entry.name for entry in fields(Bounds)}
    return Bounds(
        **{
            name: getattr(chosen, name)
            for chosen in options.values()
            for name in known.intersection(entry.name for entry in fields(chosen))
        }
    )


def run_model_detectors(
    model: ModelFile,
    target: Target | None = None,
    *,
    chip: int | None = None,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
) -> tuple[Judgment, ...]:
    """Every chosen check's answer about a model file: findings first, in the order of the diagnostic tree, in which
    what keeps a model from loading comes before what makes it slow.

    Raises `UsageError` for an unknown id, option or value.
    """
    options = configure(MODEL_DETECTORS, settings or {})
    view = InspectedModel(model, target, placements_of(model, chip, target, _bounds(options)))
    judgments = [
        Judgment(detector, _detect(detector, view, options[detector.id]))
        for detector in choose(MODEL_DETECTORS, only, skip)
    ]
    order = list(Pattern)

    def place(entry: Judgment) -> tuple[bool, int]:
        return not isinstance(entry.outcome, Finding), order.index(entry.detector.page.pattern)

    return tuple(sorted(judgments, key=place))


def _detect(detector: ModelFileDetector[Any], view: InspectedModel, options: Any) -> Outcome:
    of_files = detector.id == "load-failure" and view.model.form is not Form.CORE_AI
    if view.model.kind == Kind.CORE_AI and not of_files:
        return NotApplicable(view.model.name, "Checks of model files are about Core ML; this is a Core AI model.")
    try:
        return detector.detect(view, options)
    except Exception as error:
        return DetectorFailed(view.model.name, words_of(error))
