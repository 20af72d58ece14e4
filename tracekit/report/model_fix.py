"""What `tracekit fix` does and says: a model written again, step by step, each step judged by the check that found it.

Keys are those of the JSON. Nothing here touches the model that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit._version import __version__
from tracekit.detectors.model_runner import run_model_detectors
from tracekit.detectors.outcomes import Finding, Outcome
from tracekit.errors import TracekitError
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.fixing.kept import changes_beside
from tracekit.model_files.fixing.remedies import HALF, REMEDIES, check_fixable, fix_command, problem_of
from tracekit.model_files.read import read_model
from tracekit.model_files.versions import release_of
from tracekit.report.formatting import word_list
from tracekit.report.model_words import feature_shape, feature_type, systems
from tracekit.report.report import ToolInfo
from tracekit.units import format_bytes, format_count

if TYPE_CHECKING:
    from tracekit.detectors.options import Settings
    from tracekit.model_files.fixing.programs import Wanted

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Offer:
    """A finding of the model, and what can be done about it in the file."""

    finding: str
    summary: str
    command: str
    """Empty where nothing can."""
    reason: str
    """Why nothing can; else empty."""


@dataclass(frozen=True, slots=True)
class Change:
    """What was done about a finding."""

    finding: str
    """Empty where models were put together."""
    title: str
    fixed: bool
    """Whether the check finds nothing in the model that was written."""
    changed: tuple[str, ...]
    left: str
    """What the check still finds."""


@dataclass(frozen=True, slots=True)
class Side:
    """The model before or after."""

    source: str
    systems: str
    bytes: int | None
    weight_bytes: int | None
    operations: dict[str, int]
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelFix:
    """What was changed, what it means for the app, and how to check it."""

    schema_version: int
    tool: ToolInfo
    changes: tuple[Change, ...]
    app: tuple[str, ...]
    """What must change in the app."""
    before: Side
    after: Side
    differences: dict[str, float]
    """Largest absolute difference of each output, where both models ran."""
    not_compared: str
    """Why the outputs were not compared."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The findings of a model."""

    schema_version: int
    tool: ToolInfo
    source: str
    offers: tuple[Offer, ...]


def offers_of(model: ModelFile, path: str, settings: Settings) -> Offers:
    """What can be done about each finding of the model at a path. O(operations)."""
    return Offers(
        SCHEMA_VERSION,
        ToolInfo("tracekit", __version__, None),
        model.source,
        tuple(
            Offer(name, found.summary, fix_command(name, model, path), problem_of(name, model))
            for name, found in _findings(model, settings).items()
        ),
    )


def _findings(model: ModelFile, settings: Settings) -> dict[str, Finding]:
    judgments = run_model_detectors(model, settings=settings)
    return {each.detector.id: each.outcome for each in judgments if isinstance(each.outcome, Finding)}


def _outcome(finding: str, model: ModelFile, settings: Settings) -> Outcome:
    (judgment,) = run_model_detectors(model, only=[finding], settings=settings)
    return judgment.outcome


@dataclass(slots=True)
class Fixing:
    """A model on its way: each step writes it into a folder of its own."""

    folder: Path
    """For what lies between the first and the last model; it is empty at first."""
    path: Path
    model: ModelFile
    tools: Any
    """coremltools."""
    settings: Settings
    changes: list[Change]

    def join(self, functions: Mapping[str, Path]) -> None:
        """Put models into one package, each as a function. Raises `TracekitError`."""
        from tracekit.model_files.fixing.programs import write_joined

        models = {name: read_model(path) for name, path in functions.items()}
        for model in models.values():
            check_fixable(model)
        target = self._target()
        write_joined(functions, target, self.tools)
        joined = read_model(target)
        kept = {function.name: function for function in joined.functions}
        for name, model in models.items():
            if name not in kept or kept[name].features != model.main.features:
                raise TracekitError(f"coremltools changed the interface of {model.source}; nothing was written")
        separate = sum(model.weights.bytes or 0 for model in models.values())
        title = f"one package with the functions {word_list(models)}"
        weights = f"weights {format_bytes(separate)} → {format_bytes(joined.weights.bytes or 0)}"
        self.changes.append(Change("", title, True, (weights,), ""))
        self.path, self.model = target, joined

    def apply(self, finding: str, wanted: Wanted) -> None:
        """Do what is to be done about a finding. Raises `TracekitError` where that cannot be, where the model does not
        have it, and where more would change than was asked for."""
        from tracekit.model_files.fixing.programs import write_fixed

        found = _outcome(finding, self.model, self.settings)
        if not isinstance(found, Finding):
            why = getattr(found, "summary", "") or getattr(found, "reason", "")
            raise TracekitError(f"{self.model.source} has no finding '{finding}': {why.rstrip('.')}")
        problem = problem_of(finding, self.model)
        if not problem and finding == HALF and any(each.technique for each in self.model.weights.tensors or ()):
            problem = "its weights are compressed for Float32; compress them after this, not before"
        if problem:
            raise TracekitError(f"'{finding}' cannot be fixed in {self.model.source}: {problem}")
        target = self._target()
        write_fixed(finding, self.model, self.path, target, wanted, self.tools)
        after = read_model(target)
        beside = changes_beside(self.model, after, REMEDIES[finding].may_change)
        if beside:
            raise TracekitError(
                f"'{finding}' cannot be fixed in {self.model.source}: coremltools would change {word_list(beside)} too"
            )
        changed = tuple(_changed(self.model, after))
        still = _outcome(finding, after, self.settings)
        if not changed:
            raise TracekitError(
                f"'{finding}' cannot be fixed in {self.model.source}: coremltools leaves it as it is "
                f"({_operation_words(after)})"
            )
        left = still.summary if isinstance(still, Finding) else ""
        self.changes.append(Change(finding, REMEDIES[finding].title, not left, changed, left))
        self.path, self.model = target, after

    def _target(self) -> Path:
        folder = self.folder / f"{len(self.changes)}"
        folder.mkdir()
        suffix = ".mlpackage" if self.path.is_dir() else self.path.suffix
        return folder / f"{self.path.stem}{suffix}"


def _operation_words(model: ModelFile) -> str:
    """`2 conv, 1 relu`: operations that may be what could not be changed."""
    return ", ".join(f"{count} {name}" for name, count in model.counts[:4]) or "no operations"


def _changed(before: ModelFile, after: ModelFile) -> Iterator[str]:
    """What differs, in words."""
    for old, new in zip(before.functions, after.functions, strict=True):
        where = f" of {old.name}" if len(before.functions) > 1 else ""
        for role, was, now in (("input", old.inputs, new.inputs), ("output", old.outputs, new.outputs)):
            for one, other in zip(was, now, strict=True):
                for words in (feature_type, feature_shape):
                    if words(one) != words(other):
                        yield f"{role} `{one.name}`{where}: {words(one)} → {words(other)}"
        if old.precision != new.precision:
            types = (word_list(each or ("no floats",)) for each in (old.precision, new.precision))
            yield f"computes{where} in {' → '.join(types)}"
    counts, now_counts = dict(before.counts), dict(after.counts)
    for name in sorted(counts.keys() | now_counts.keys()):
        if counts.get(name, 0) != now_counts.get(name, 0):
            yield f"`{name}` operations: {counts.get(name, 0):,} → {now_counts.get(name, 0):,}"
    sizes = before.weights.bytes, after.weights.bytes
    if None not in sizes and sizes[0] != sizes[1]:
        yield f"weights: {' → '.join(format_bytes(size or 0) for size in sizes)}"


def model_fix(
    before: ModelFile, fixing: Fixing, output: str, settings: Settings, compared: tuple[dict[str, float], str]
) -> ModelFix:
    """The report on what was done. O(operations)."""
    after = replace(fixing.model, source=output)
    old, new = before.specification_version or 0, after.specification_version or 0
    release = release_of(new)
    raised = [f"Deployment target: {release.words} or later."] if release is not None and new > old else []
    names = [each.name for each in after.functions]
    functions = f"Load each with `configuration.functionName`; without one, `{names[0]}` is loaded."
    joined = [functions] if len(names) > len(before.functions) else []
    done = [REMEDIES[change.finding].app for change in fixing.changes if change.finding]
    return ModelFix(
        schema_version=SCHEMA_VERSION,
        tool=ToolInfo("tracekit", __version__, None),
        changes=tuple(fixing.changes),
        app=(*joined, *done, *raised),
        before=_side(before, settings),
        after=_side(after, settings),
        differences=compared[0],
        not_compared=compared[1],
    )


def _side(model: ModelFile, settings: Settings) -> Side:
    return Side(
        source=model.source,
        systems=systems(model),
        bytes=model.bytes,
        weight_bytes=model.weights.bytes,
        operations=dict(model.counts),
        findings=tuple(_findings(model, settings)),
    )


def fix_summary(fix: ModelFix) -> str:
    """One line: what is fixed, and what is not."""
    fixed = [change.finding or "functions" for change in fix.changes if change.fixed]
    partly = [change.finding for change in fix.changes if not change.fixed]
    new = [name for name in fix.after.findings if name not in fix.before.findings]
    parts = (
        f"{word_list(fixed)} fixed" if fixed else "",
        f"{word_list(partly)} fixed in part" if partly else "",
        f"new: {word_list(new)}" if new else "",
    )
    return " · ".join(filter(None, parts))


def offers_summary(offers: Offers) -> str:
    """One line: how many findings the file has, and how many can be mended in it."""
    mendable = sum(bool(offer.command) for offer in offers.offers)
    return f"{format_count(len(offers.offers), 'finding')} · {mendable} can be fixed in the file; nothing was changed"
