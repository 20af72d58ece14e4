"""What `tracekit inspect` says of a model: one object that every renderer reads.

Keys are those of the JSON (`schema_version` 2). None means that the file does not say it. Checks are those of a report
on a recording, without times: `severity`, `cost` and `evidence` are empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace

from tracekit._version import __version__
from tracekit.characters import map_strings
from tracekit.detectors.model_runner import judged_placements, run_model_detectors
from tracekit.detectors.options import Settings
from tracekit.grouping import grouped
from tracekit.model_files.engine import Placement, verdict
from tracekit.model_files.engine_limits import Limit, parse_chip
from tracekit.model_files.facts import Conversion, Feature, Function, Metadata, ModelFile, Weight, is_constant
from tracekit.model_files.performance.facts import ComputeUnit, PerformanceReport
from tracekit.model_files.versions import NEWEST, parse_target, release_of
from tracekit.model_files.weights import Saving, savings_of
from tracekit.report.groups import count_checks, result_of
from tracekit.report.redact import public_attributes, without_private
from tracekit.report.report import Result, Rule, ToolInfo, rules_of
from tracekit.units import format_names

SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """One function: its interface, and what it computes."""

    name: str
    inputs: tuple[Feature, ...]
    outputs: tuple[Feature, ...]
    states: tuple[Feature, ...]
    opset: str | None
    compute_precision: tuple[str, ...] | None
    """Float types, the one of most operations first."""
    operations: dict[str, int]
    """Operations or layers by type without constants, the most frequent first."""
    conversions: tuple[Conversion, ...] | None
    backends: tuple[str, ...]
    """Compute units that the file itself asks for, operation by operation."""


@dataclass(frozen=True, slots=True)
class WeightGroup:
    """Tensors that are stored alike."""

    technique: tuple[str, ...]
    """Empty without compression."""
    stored: str | None
    bits: int | None
    granularity: str | None
    vector: int
    """Elements that one index of a palette stands for; 1 without vectors."""
    tensors: int
    parameters: int
    bytes: int


@dataclass(frozen=True, slots=True)
class WeightsInfo:
    """All weights."""

    state: str
    reason: str
    bytes: int | None
    parameters: int | None
    storage_precision: str | None
    """In the words of the compiler, where only these are known."""
    groups: tuple[WeightGroup, ...] | None
    """The largest first; None where the file does not list the weights."""
    savings: tuple[Saving, ...]
    """What each technique would still save: estimates."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The model, or a stage of a pipeline."""

    name: str
    source: str
    form: str
    kind: str
    specification_version: int | None
    loads_on: dict[str, str]
    """System to its first version; empty where the specification version is not known."""
    newer_than_known: bool
    bytes: int | None
    functions: tuple[FunctionInfo, ...]
    weights: WeightsInfo
    custom_layers: tuple[str, ...]
    updatable: bool
    metadata: Metadata
    stages: tuple[ModelInfo, ...]


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """The system that was asked about."""

    system: str
    loads: bool | None
    """None where the model names no specification version."""


@dataclass(frozen=True, slots=True)
class EngineObstacle:
    """An operation, or a function as a whole, that the Neural Engine may not run."""

    number: int | None
    """Place of the operation among those of the function without constants, from 1 on; None for the function."""
    operation: str
    name: str
    limit: Limit
    chips: str
    """Chips that have the limit: the newest, and older ones; empty for all."""


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Whether a function will run on the Neural Engine, as far as the file says."""

    function: str
    verdict: str
    operations: int
    pieces: int
    """Parts on alternating compute units; 0 where the file does not list the operations."""
    obstacles: tuple[EngineObstacle, ...]
    """Those of the function as a whole first."""
    by_file: str = ""
    """The verdict of the file alone, where a compute plan or a performance report overrules it."""
    differences: tuple[str, ...] = ()
    """Where the plan and the file differ, a sentence each."""


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """The verdict in numbers."""

    findings: int
    passed: int
    not_evaluated: int
    not_applicable: int
    errors: int


@dataclass(frozen=True, slots=True)
class ModelReport:
    """Everything that leaves an inspection."""

    schema_version: int
    tool: ToolInfo
    model: ModelInfo
    target: TargetInfo | None
    neural_engine: tuple[EngineInfo, ...]
    """One for each function, also of the stages of a pipeline."""
    rules: tuple[Rule, ...] = field(init=False)
    """What is written about each check in `results`, once."""
    results: tuple[Result, ...]
    """Findings first, what keeps the model from loading before what makes it slow."""
    summary: ModelSummary
    redacted: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", rules_of(self.results))

    @property
    def found(self) -> list[str]:
        """Ids of the checks that found something."""
        return [each.id for each in self.results if each.outcome == "finding"]


def model_report(
    model: ModelFile,
    system: str | None = None,
    chip: str | None = None,
    *,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
    redact: bool = True,
) -> ModelReport:
    """The report on a model: its facts, whether it will run on the Neural Engine, and the answers of its checks. Names
    of the model stay; users in paths, mail addresses and ids are taken out of texts unless `redact` is false.
    O(operations). Raises `UsageError` for a system, chip, id, option or value that does not exist."""
    target, generation = parse_target(system) if system else None, parse_chip(chip) if chip else None
    judgments = run_model_detectors(model, target, chip=generation, only=only, skip=skip, settings=settings)
    placements = judged_placements(model, target, generation, settings)
    results = tuple(map(result_of, judgments))
    totals = count_checks(results)
    version = model.specification_version
    report = ModelReport(
        schema_version=SCHEMA_VERSION,
        tool=ToolInfo("tracekit", __version__, None),
        model=model_info(model, redact=redact),
        target=TargetInfo(target.words, None if version is None else version <= target.version) if target else None,
        neural_engine=tuple(map(_engine, placements)),
        results=results,
        summary=ModelSummary(*(getattr(totals, each.name) for each in fields(ModelSummary))),
        redacted=redact,
    )
    return map_strings(report, lambda _, text: without_private(text)) if redact else report


def model_info(model: ModelFile, *, redact: bool = False) -> ModelInfo:
    """The facts of a model in the form of a report; with `redact`, without values of the author's own metadata whose
    key says that they are private. O(operations)."""
    metadata = model.metadata
    if redact:
        metadata = replace(metadata, user_defined=public_attributes(metadata.user_defined))
    version = model.specification_version
    release = None if version is None else release_of(version)
    systems = {}
    if release is not None:
        systems = {"iOS": release.ios, "macOS": release.macos, "tvOS": release.ios, "watchOS": release.watchos}
        systems |= {"visionOS": release.visionos} if release.visionos else {}
    weights = model.weights
    tensors = weights.tensors
    return ModelInfo(
        name=model.name,
        source=model.source,
        form=str(model.form),
        kind=str(model.kind),
        specification_version=version,
        loads_on=systems | dict(model.availability),
        newer_than_known=version is not None and version > NEWEST,
        bytes=model.bytes,
        functions=tuple(map(_function, model.functions)),
        weights=WeightsInfo(
            state=str(weights.state),
            reason=weights.reason,
            bytes=weights.bytes,
            parameters=None if tensors is None else sum(weight.count for weight in tensors),
            storage_precision=weights.precision,
            groups=None if tensors is None else _groups(tensors),
            savings=savings_of(tensors or (), network=model.is_network),
        ),
        custom_layers=model.custom_layers,
        updatable=model.updatable,
        metadata=metadata,
        stages=tuple(model_info(stage, redact=redact) for stage in model.stages),
    )


@dataclass(frozen=True, slots=True)
class InspectedModels:
    """Several models."""

    models: tuple[ModelReport, ...]


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A fact that two models do not share."""

    fact: str
    before: str
    """Empty where the first has none."""
    after: str


@dataclass(frozen=True, slots=True)
class ComparedModels:
    """Two models, such as one before and after a conversion."""

    before: ModelReport
    after: ModelReport
    changes: tuple[ModelChange, ...]


def with_plan(report: ModelReport, plan: PerformanceReport) -> ModelReport:
    """The report with what a compute plan or a performance report says, which overrules the file. O(operations)."""
    if not plan.counts:
        return report
    where = " ".join(filter(None, (plan.device, plan.system))) or "an unknown device"
    return replace(report, neural_engine=tuple(_planned(info, plan, where) for info in report.neural_engine))


def _planned(info: EngineInfo, plan: PerformanceReport, where: str) -> EngineInfo:
    placed = [each for each in plan.operations or () if each.unit and each.function in (info.function, "main")]
    if not placed or (plan.asked is not None and ComputeUnit.NEURAL_ENGINE not in plan.asked):
        return info
    there = {each.name for each in placed if each.unit == ComputeUnit.NEURAL_ENGINE}
    known = {each.name for each in info.obstacles if each.number}
    runs = sorted(each.operation for each in info.obstacles if each.name in there)
    away = sorted(each.type or each.name for each in placed if each.name not in there | known)
    differences = [f"the plan has {words} on the Neural Engine" for words in format_counts(runs)]
    differences += [f"the plan has {words} on another unit, which no limit explains" for words in format_counts(away)]
    on = "all" if len(there) == len(placed) else f"{len(there):,} of {len(placed):,} operations"
    verdict = f"{on} by the compute plan ({where})" if there else f"no, by the compute plan ({where})"
    return replace(info, verdict=verdict, by_file=info.verdict, differences=tuple(differences))


def format_counts(names: Sequence[str]) -> list[str]:
    """`2 gather, topk` as one entry; none for no names."""
    counted = (f"{count:,} {name}" if count > 1 else name for name, count in Counter(names).most_common())
    return [format_names(list(counted), noun="type")] if names else []


def _engine(placement: Placement) -> EngineInfo:
    # Plans name operations by what they give.
    named = ((each, next((value.name for value in each.operation.outputs), "")) for each in placement.obstacles)
    return EngineInfo(
        placement.function,
        verdict(placement),
        placement.operations,
        placement.pieces,
        (
            *(EngineObstacle(None, "", "", limit, limit.chips) for limit in placement.whole),
            *(
                EngineObstacle(
                    each.number, each.operation.type, name or each.operation.name, each.limit, each.limit.chips
                )
                for each, name in named
            ),
        ),
    )


def _function(function: Function) -> FunctionInfo:
    backends = (
        operation.backend for operation in function.operations or () if operation.backend and not is_constant(operation)
    )
    return FunctionInfo(
        name=function.name,
        inputs=function.inputs,
        outputs=function.outputs,
        states=function.states,
        opset=function.opset,
        compute_precision=function.precision,
        operations=dict(function.counts),
        conversions=function.conversions,
        backends=tuple(dict.fromkeys(backends)),
    )


def _groups(tensors: Sequence[Weight]) -> tuple[WeightGroup, ...]:
    """Tensors by how they are stored, the largest group first."""
    alike = grouped(
        ((tensor.technique, tensor.stored, tensor.bits, tensor.granularity, tensor.vector), tensor)
        for tensor in tensors
    )
    groups = [
        WeightGroup(*key, len(own), sum(weight.count for weight in own), sum(weight.bytes for weight in own))
        for key, own in sorted(alike.items(), key=lambda pair: str(pair[0]))
    ]
    return tuple(sorted(groups, key=lambda group: -group.bytes))
