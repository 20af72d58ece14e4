"""The compute plan of coremltools in the one form. Reads it by the names of its attributes, so nothing is imported."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracekit.model_files.performance.facts import PlannedOperation
from tracekit.model_files.performance.values import DEEPEST, bare, counted, is_constant, unit_of, units_of, with_unit

if TYPE_CHECKING:
    from collections.abc import Iterator


def operations_of(plan: Any, median_ns: float | None) -> tuple[PlannedOperation, ...]:
    """Operations and layers of a `MLComputePlan`; times are cost × median. O(operations)."""
    operations: list[PlannedOperation] = []
    for operation in _structure(plan, plan.model_structure, "main", 0):
        counted(len(operations))
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
        yield _operation(name, bare(operation.operator_name), usage, cost, function)
        if depth < DEEPEST:
            for inner in operation.blocks:
                yield from _block(plan, inner, function, depth + 1)


def _operation(name: str, kind: str, usage: Any, cost: Any, function: str) -> PlannedOperation:
    """All is None where the deployment target of the model is too old for a plan."""
    unit = None if usage is None else unit_of(type(usage.preferred_compute_device).__name__)
    supported = None if usage is None else units_of([type(each).__name__ for each in usage.supported_compute_devices])
    weight = None if cost is None else float(cost.weight)
    return PlannedOperation(0, name, kind, unit, with_unit(supported, unit), weight, function=function)
