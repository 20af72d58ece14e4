"""Compute plans without times of their own: those of CoreMLProfiler and of coremltools, the latter also as the object
that coremltools gives. That is read by the names of its attributes, so nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tracekit.model_files.performance.facts import PerformanceReport, PlannedOperation, ReportForm, Timing
from tracekit.model_files.performance.values import DEEPEST, amount, check_count, is_constant, planned_operation
from tracekit.model_files.untrusted import entries, mapping, words

_MS = 1e6
_WORKED_OUT = "The median prediction is worked out from the estimated time and cost of an operation."
_NOT_NAMED = "The file does not name the model, the device, the system or the compute units that were asked for."


def is_profiler(document: object) -> bool:
    """Whether the JSON is CoreMLProfiler's `compute_plan.json` or `compute_plan_operation_table.json`."""
    if isinstance(document, list):
        entry = mapping(document[0] if document else None)
        return {"operatorName", "preferred_device"} <= set(entry) and isinstance(entry.get("supported_devices"), str)
    return any("operations" in mapping(mapping(value).get("block")) for value in mapping(document).values())


def profiler_plan(document: object, stem: str, source: str) -> PerformanceReport:
    """CoreMLProfiler's plan. Raises `UnreadableModel`. O(operations)."""
    if isinstance(document, list):
        calls = [("main", entry) for entry in document]
    else:
        calls = [
            (function, entry)
            for function, value in mapping(document).items()
            for entry in _all_operations(mapping(mapping(value).get("block")))
        ]
    check_count(len(calls))
    operations = tuple(
        _profile_operation(mapping(entry), function, number) for number, (function, entry) in enumerate(calls)
    )
    timed = max(
        (entry for entry in operations if entry.cost and entry.estimated_ns),
        key=lambda entry: entry.cost or 0,
        default=None,
    )
    prediction, notes = None, [_NOT_NAMED]
    if timed and timed.cost and timed.estimated_ns:
        prediction = Timing(None, timed.estimated_ns / timed.cost)
        notes.append(_WORKED_OUT)
    return PerformanceReport(
        stem, source, ReportForm.PROFILER, prediction=prediction, operations=operations, notes=tuple(notes)
    )


def _all_operations(block: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    for entry in entries(block.get("operations")):
        yield entry
        if depth < DEEPEST:
            for inner in entries(mapping(entry).get("blocks")):
                yield from _all_operations(mapping(inner), depth + 1)


def _profile_operation(entry: Mapping[str, Any], function: str, number: int) -> PlannedOperation:
    listed = entry.get("supported_devices")
    time = amount(entry.get("op_time"), "the time of an operation", 1e12)
    outputs = entries(entry.get("outputs"))
    return planned_operation(
        number,
        words(mapping(outputs[0]).get("name")) if outputs else words(entry.get("operator_id")),
        words(entry.get("operatorName")),
        entry.get("preferred_device"),
        listed.split(",") if isinstance(listed, str) else None,
        entry.get("cost"),
        # Without a full profile it multiplies by a median of zero.
        estimated_ns=time * _MS if time else None,
        function=function,
    )


def is_coremltools(document: object) -> bool:
    """Whether the JSON is a plan that coremltools got from a device: `infos`, or the list in it."""
    infos = mapping(document).get("infos", document)
    if isinstance(infos, Mapping):
        infos = list(infos.values())
    return isinstance(infos, list) and bool(infos) and {"deviceUsage", "path"} <= set(mapping(infos[0]))


def coremltools_plan(document: object, stem: str, source: str) -> PerformanceReport:
    """The plan. Its entries name operations by their output, and no types. Raises `UnreadableModel`. O(operations)."""
    infos = mapping(document).get("infos", document)
    listed = list(infos.values()) if isinstance(infos, Mapping) else entries(infos)
    check_count(len(listed))
    operations = (_plan_operation(mapping(entry), number) for number, entry in enumerate(listed))
    planned = tuple(entry for entry in operations if not is_constant(entry.type))
    return PerformanceReport(stem, source, ReportForm.COREMLTOOLS, operations=planned, notes=(_NOT_NAMED,))


def _plan_operation(entry: Mapping[str, Any], number: int) -> PlannedOperation:
    usage = mapping(entry.get("deviceUsage"))
    names = {
        key: words(data.get("outputName")) or words(data.get("name"))
        for component in entries(mapping(entry.get("path")).get("components"))
        for key, value in mapping(component).items()
        for data in [mapping(mapping(value).get("data"))]
    }
    name = names.get("programOperation") or names.get("neuralNetworkLayer") or ""
    function, cost = names.get("programFunction") or "main", entry.get("estimatedCost")
    return planned_operation(number, name, "", usage.get("preferred"), usage.get("supported"), cost, function=function)


def operations_of(plan: Any, median_ns: float | None) -> tuple[PlannedOperation, ...]:
    """Operations and layers of a `MLComputePlan`; times are cost × median. O(operations)."""
    operations: list[PlannedOperation] = []
    for operation in _structure(plan, plan.model_structure, "main", 0):
        check_count(len(operations))
        time = None if median_ns is None or operation.cost is None else operation.cost * median_ns
        operations.append(replace(operation, number=len(operations), estimated_ns=time))
    return tuple(operations)


def _structure(plan: Any, structure: Any, name: str, depth: int) -> Iterator[PlannedOperation]:
    if structure.program is not None:
        for function, held in structure.program.functions.items():
            yield from _block(plan, held.block, function if name == "main" else name, depth)
    elif structure.neuralnetwork is not None:
        for layer in structure.neuralnetwork.layers:
            usage = plan.get_compute_device_usage_for_neuralnetwork_layer(layer)
            yield _operation(layer.name, layer.type, usage, None, name)
    elif structure.pipeline is not None and depth < DEEPEST:
        for stage, held in dict(structure.pipeline.sub_models).items():
            yield from _structure(plan, held, stage, depth + 1)


def _block(plan: Any, block: Any, function: str, depth: int) -> Iterator[PlannedOperation]:
    for operation in block.operations:
        if is_constant(operation.operator_name):
            continue
        usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
        cost = plan.get_estimated_cost_for_mlprogram_operation(operation)
        name = operation.outputs[0].name if operation.outputs else ""
        yield _operation(name, operation.operator_name, usage, cost, function)
        if depth < DEEPEST:
            for inner in operation.blocks:
                yield from _block(plan, inner, function, depth + 1)


def _operation(name: str, kind: str, usage: Any, cost: Any, function: str) -> PlannedOperation:
    """All is None where the deployment target of the model is too old for a plan."""
    preferred = None if usage is None else type(usage.preferred_compute_device).__name__
    supported = None if usage is None else [type(each).__name__ for each in usage.supported_compute_devices]
    return planned_operation(
        0, name, kind, preferred, supported, None if cost is None else float(cost.weight), function=function
    )
