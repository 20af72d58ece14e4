"""What `tracekit fix` does and says: a model written again, step by step, each judged by the check that found it.

Keys are those of the JSON. The model that was given is only read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tracekit.detectors.model_runner import run_model_detectors
from tracekit.detectors.options import Settings
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.pages import rule
from tracekit.errors import TracekitError
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing import programs, remedies
from tracekit.model_files.read import read_model
from tracekit.model_files.versions import release_of
from tracekit.report.formatting import word_list
from tracekit.report.model_words import feature_shape, feature_type
from tracekit.units import format_bytes


@dataclass(frozen=True, slots=True)
class Offer:
    """A finding of a model, and what can be done about it in the file."""

    finding: str
    title: str
    summary: str
    command: str
    """Empty where nothing can."""
    reason: str
    """Why nothing can; else empty."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done about a finding."""

    finding: str
    """`functions` where models were put together."""
    title: str
    changed: tuple[str, ...]
    left: str = ""
    """What the check still finds; empty where it finds nothing."""
    app: str = ""
    """What must change in the app."""


SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFix:
    """What can be changed, or was; then what that means for the app."""

    schema_version: int = SCHEMA_VERSION
    source: str
    offers: tuple[Offer, ...]
    """Empty where something was changed."""
    changes: tuple[Change, ...] = ()
    new_findings: tuple[str, ...] = ()
    app: tuple[str, ...] = ()
    """What must change in the app."""
    differences: dict[str, float] | None = None
    """Largest absolute difference of each output, where both models ran."""
    not_compared: str = ""
    """Why the outputs were not compared."""


def offers_of(model: ModelFile, path: str, settings: Settings) -> tuple[Offer, ...]:
    """What can be done about each finding of the model at a path. O(operations)."""
    return tuple(
        Offer(name, rule("model_rules", name).page.finding_title, summary, command, remedies.problem_of(name, model))
        for name, summary in findings_of(model, settings).items()
        for command in [remedies.fix_command(name, model, path)]
    )


def findings_of(model: ModelFile, settings: Settings) -> dict[str, str]:
    """What each check found in a model."""
    judgments = run_model_detectors(model, settings=settings)
    return {
        judgment.detector.id: judgment.outcome.summary
        for judgment in judgments
        if isinstance(judgment.outcome, Finding)
    }


def join(
    functions: Mapping[str, Path], models: Mapping[str, ModelFile], target: Path, tools: Any
) -> tuple[Change, ModelFile]:
    """Put models into one package, each as a function; `tools` is coremltools. Raises `TracekitError`."""
    programs.write_joined(functions, target, tools)
    joined = read_model(target)
    if {function.name: function.features for function in joined.functions} != {
        n: m.main.features for n, m in models.items()
    }:
        raise TracekitError("the models cannot be put together: coremltools would change an interface")
    sizes = sum(model.weights.bytes or 0 for model in models.values()), joined.weights.bytes or 0
    names, app = word_list(f"`{name}`" for name in models), f"without it, `{joined.main.name}` is loaded."
    app = f"Load each function with `functionName` of `MLModelConfiguration`; {app}"
    return Change("functions", names, (_arrow("weights", *sizes),), app=app), joined


def apply(
    finding: str, model: ModelFile, path: Path, target: Path, wanted: programs.Wanted, settings: Settings, tools: Any
) -> tuple[Change, ModelFile]:
    """Do what is to be done about a finding of the model at a path. Raises `TracekitError` where that cannot be, where
    the model does not have it, and where more would change than was asked for."""
    if finding not in findings_of(model, settings):
        raise TracekitError(f"{model.source} has no finding '{finding}'; `tracekit inspect` lists what it has")
    problem, after = remedies.problem_of(finding, model), model
    if not problem:
        programs.write_fixed(finding, model, path, target, wanted, tools)
        after = replace(read_model(target), source=model.source)
        beside = remedies.changes_beside(model, after, remedies.REMEDIES[finding].may_change)
        problem = f"coremltools would change {word_list(beside)} too" if beside else _moved(finding, model, after)
    changed = () if problem else tuple(_changed(model, after))
    if problem or not changed:
        kinds = ", ".join(name for name, _ in model.counts[:4])
        raise remedies.refusal(finding, model, problem or f"coremltools changes nothing ({kinds})")
    title, app = remedies.words_of(finding, after, wanted.shapes, wanted.weights)
    return Change(finding, title, changed, findings_of(after, settings).get(finding, ""), app), after


def _moved(finding: str, *models: ModelFile) -> str:
    """Why an interface in Float16 makes nothing better: as much is converted as before; else empty."""
    old, new = (
        [conversion.feature for function in model.functions for conversion in function.conversions or ()]
        for model in models
    )
    names = word_list(dict.fromkeys(f"`{name}`" for name in new))
    moved = finding == remedies.INTERFACE and len(new) >= len(old)
    return f"coremltools would only move the conversion of {names} inside the model" if moved else ""


def _changed(before: ModelFile, after: ModelFile) -> Iterator[str]:
    for old, new in zip(before.functions, after.functions, strict=True):
        where = f" of {old.name}" if len(before.functions) > 1 else ""
        for one, other in zip(old.features, new.features, strict=True):
            for words in (feature_type, feature_shape):
                if words(one) != words(other):
                    yield f"`{one.name}`{where}: {words(one)} → {words(other)}"
        if old.precision != new.precision:
            types = (word_list(precision or ("no floats",)) for precision in (old.precision, new.precision))
            yield f"computes{where} in {' → '.join(types)}"
    counts, other_counts = dict(before.counts), dict(after.counts)
    for name in sorted(counts.keys() | other_counts.keys()):
        if counts.get(name) != other_counts.get(name):
            yield f"`{name}` operations: {counts.get(name, 0):,} → {other_counts.get(name, 0):,}"
    if before.weights.bytes != after.weights.bytes:
        yield _arrow("weights", before.weights.bytes or 0, after.weights.bytes or 0)


def _arrow(what: str, *sizes: int) -> str:
    return f"{what}: {' → '.join(map(format_bytes, sizes))}"


def model_fix(
    before: ModelFile,
    after: ModelFile,
    changes: tuple[Change, ...],
    found: Collection[str],
    settings: Settings,
    compared: tuple[dict[str, float], str],
) -> ModelFix:
    """The report on what was done; `found` are the findings of all models that were given. O(operations)."""
    ids = {*found, *(change.finding for change in changes)}
    version = after.specification_version or 0
    release = release_of(version) if version > (before.specification_version or 0) else None
    return ModelFix(
        source=before.source,
        offers=(),
        changes=changes,
        new_findings=tuple(name for name in findings_of(after, settings) if name not in ids),
        app=(
            *(change.app for change in changes if change.app),
            *([f"Deployment target: {release.words} or later."] if release else []),
        ),
        differences=compared[0],
        not_compared=compared[1],
    )
