"""Compute plans without times of their own: those of CoreMLProfiler, of coremltools, and those that apps dump.

The object that coremltools gives is read by the names of its attributes, so nothing is imported.

What apps and scripts dump themselves, an entry of JSON for each operation of an `MLComputePlan`, has no common form.
The keys are those of eight public tools in Swift and Python, read in their source, as no dump itself was seen; that
others spell theirs alike is a guess. `preferredDevice`, `preferred_compute_device` and `preferred` mean the same, and
so on. A key with another meaning under one of these names would be misread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any

from tracekit.model_files.performance import values
from tracekit.model_files.performance.facts import ALL_UNITS, PerformanceReport, PlannedOperation, ReportForm, Timing
from tracekit.model_files.untrusted import UnreadableModel, entries, mapping, words

_MS = 1e6
_WORKED_OUT = "The median prediction is worked out from the estimated time and cost of an operation."
_NOT_NAMED = "The file does not name the model, the device, the system or the compute units that were asked for."


def profiler_plan(document: object, path: Path) -> PerformanceReport | None:
    """CoreMLProfiler's `compute_plan(_operation_table).json`; None for other JSON. Raises `UnreadableModel`. O(n)."""
    if isinstance(document, list):
        first = mapping(document[0] if document else None)
        if not ({"operatorName", "preferred_device"} <= set(first) and isinstance(first.get("supported_devices"), str)):
            return None
        calls = [("main", entry) for entry in document]
    else:
        blocks = {function: mapping(mapping(value).get("block")) for function, value in mapping(document).items()}
        if not any("operations" in block for block in blocks.values()):
            return None
        calls = [(function, entry) for function, block in blocks.items() for entry in _all_operations(block)]
    values.check_count(len(calls))
    operations = tuple(
        _profile_operation(mapping(entry), function, number) for number, (function, entry) in enumerate(calls)
    )
    timed = [(entry.cost, entry.estimated_ns) for entry in operations if entry.cost and entry.estimated_ns]
    report = PerformanceReport(path.stem, path.name, ReportForm.PROFILER, operations=operations, notes=(_NOT_NAMED,))
    if not timed:
        return report
    cost, time_ns = max(timed, key=itemgetter(0))
    return replace(report, prediction=Timing(None, time_ns / cost), notes=(_NOT_NAMED, _WORKED_OUT))


def _all_operations(block: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    for entry in entries(block.get("operations")):
        yield entry
        if depth < values.DEEPEST:
            for inner in entries(mapping(entry).get("blocks")):
                yield from _all_operations(mapping(inner), depth + 1)


def _profile_operation(entry: Mapping[str, Any], function: str, number: int) -> PlannedOperation:
    listed = entry.get("supported_devices")
    time = values.amount(entry.get("op_time"), "the time of an operation", 1e12)
    outputs = entries(entry.get("outputs"))
    return values.planned_operation(
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


def coremltools_plan(document: object, path: Path) -> PerformanceReport | None:
    """A plan that coremltools got from a device, `infos` or the list in it; None for other JSON. Its entries name
    operations by their output, and no types. Raises `UnreadableModel`. O(operations)."""
    infos = mapping(document).get("infos", document)
    listed = list(infos.values()) if isinstance(infos, Mapping) else entries(infos)
    if not listed or not {"deviceUsage", "path"} <= set(mapping(listed[0])):
        return None
    values.check_count(len(listed))
    operations = (_plan_operation(mapping(entry), number) for number, entry in enumerate(listed))
    planned = tuple(entry for entry in operations if not values.is_constant(entry.type))
    return PerformanceReport(path.stem, path.name, ReportForm.COREMLTOOLS, operations=planned, notes=(_NOT_NAMED,))


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
    return values.planned_operation(
        number, name, "", usage.get("preferred"), usage.get("supported"), cost, function=function
    )


def operations_of(plan: Any, median_ns: float | None) -> tuple[PlannedOperation, ...]:
    """Operations and layers of a `MLComputePlan`; times are cost × median. O(operations)."""
    operations: list[PlannedOperation] = []
    for operation in _structure(plan, plan.model_structure, "main", 0):
        values.check_count(len(operations))
        operations.append(replace(operation, number=len(operations)))
    return values.with_times(operations, median_ns)


def _structure(plan: Any, structure: Any, name: str, depth: int) -> Iterator[PlannedOperation]:
    if structure.program is not None:
        for function, held in structure.program.functions.items():
            yield from _block(plan, held.block, function if name == "main" else name, depth)
    elif structure.neuralnetwork is not None:
        for layer in structure.neuralnetwork.layers:
            usage = plan.get_compute_device_usage_for_neuralnetwork_layer(layer)
            yield _operation(layer.name, layer.type, usage, None, name)
    elif structure.pipeline is not None and depth < values.DEEPEST:
        for stage, held in dict(structure.pipeline.sub_models).items():
            yield from _structure(plan, held, stage, depth + 1)


def _block(plan: Any, block: Any, function: str, depth: int) -> Iterator[PlannedOperation]:
    for operation in block.operations:
        if values.is_constant(operation.operator_name):
            continue
        usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
        cost = plan.get_estimated_cost_for_mlprogram_operation(operation)
        name = operation.outputs[0].name if operation.outputs else ""
        yield _operation(name, operation.operator_name, usage, cost, function)
        if depth < values.DEEPEST:
            for inner in operation.blocks:
                yield from _block(plan, inner, function, depth + 1)


def _operation(name: str, kind: str, usage: Any, cost: Any, function: str) -> PlannedOperation:
    """All is None where the deployment target of the model is too old for a plan."""
    preferred = None if usage is None else type(usage.preferred_compute_device).__name__
    supported = None if usage is None else [type(device).__name__ for device in usage.supported_compute_devices]
    return values.planned_operation(
        0, name, kind, preferred, supported, None if cost is None else float(cost.weight), function=function
    )


_LISTS = ("operations", "ops", "rows", "layers")
_AROUND = ("mlcomputeplan", "computeplan", "plan", "structure")
_OPERATOR = ("operator", "operatorname", "operatortype", "op", "optype", "operation", "type")
_NAME = ("outputs", "outputnames", "output", "outputname", "name", "identity")
_FUNCTION = ("function", "functionname", "scope")
_PREFERRED = ("preferred", "preferreddevice", "preferredcomputedevice", "preferredunit", "preferredcomputeunit")
_PLACED = (*_PREFERRED, "device")
"""Beside the supported units, or in a list of operations that have preferred ones."""
_SUPPORTED = ("supported", "supporteddevices", "supportedcomputedevices", "supportedunits", "supportedcomputeunits")
_COST = ("cost", "costweight", "weight", "estimatedcost", "estimatedcostweight", "estimatedweight")
_MODEL = ("modelname", "model")
_ASKED = ("computeunits",)
"""Keys without capitals, `_` and `-`."""

_CHOICES = {name.lower(): units for name, units in values.CHOICES.items()} | {
    "cpuandne": values.CHOICES["cpuAndNeuralEngine"]
}
_SUFFIXES = (".mlpackage", ".mlmodelc", ".mlmodel")
_SEPARATORS = re.compile(r"[,|]")
_EXPECTED = f"expected {', '.join(ALL_UNITS[:-1])} or {ALL_UNITS[-1]}"
_FORM = "Compute plans that are dumped from an app have no common form: this one was read by the names of its keys."


def dumped_plan(document: object, path: Path) -> PerformanceReport | None:
    """A plan that an app dumped, a list with operators and the compute units that are preferred for them; None for
    other JSON. Raises `UnreadableModel`, also where no operation has a compute unit that is known. O(operations)."""
    listed, around = _find_operations(document)
    listed = listed or list(_by_function(document))
    plain = list(map(_plain, listed))
    if not any(_value(entry, _OPERATOR) and _value(entry, _PREFERRED + _SUPPORTED) is not None for entry in plain):
        return None
    values.check_count(len(plain))
    named = [entry for entry in plain if not values.is_constant(words(_value(entry, _OPERATOR)))]
    operations = tuple(_dumped_operation(entry, number) for number, entry in enumerate(named))
    if not any(operation.unit for operation in operations):
        texts = dict.fromkeys(filter(None, (words(_value(entry, _PLACED)) for entry in named)))
        instead = f" ({', '.join(repr(text[:20]) for text in list(texts)[:3])})" if texts else ""
        raise UnreadableModel(f"the compute plan names no compute unit that is known{instead}; {_EXPECTED}")
    # It may be a path, which may be private.
    file = PurePosixPath(words(_first(around, _MODEL)))
    model = file.stem if file.suffix in _SUFFIXES else file.name
    asked = _CHOICES.get(_squeeze(words(_first(around, _ASKED))))
    absent = [*([] if model else ["the model"]), "the device", "the system"]
    absent += [] if asked else ["the compute units that were asked for"]
    return PerformanceReport(
        name=model or path.stem,
        source=path.name,
        form=ReportForm.DUMP,
        asked=asked,
        operations=operations,
        notes=(f"The file does not name {', '.join(absent[:-1])} or {absent[-1]}.", _FORM),
    )


def _dumped_operation(entry: Mapping[str, Any], number: int) -> PlannedOperation:
    supported, cost, name = _value(entry, _SUPPORTED), _value(entry, _COST), _value(entry, _NAME)
    if isinstance(name, list):
        name = words(name[0]) or mapping(name[0]).get("name") if name else None
    if isinstance(supported, str):
        supported = _SEPARATORS.split(supported)
    return values.planned_operation(
        number,
        words(name),
        words(_value(entry, _OPERATOR)),
        _value(entry, _PLACED),
        # An operation without a plan has an empty list.
        supported if values.units_of(supported) else None,
        cost.get("weight") if isinstance(cost, Mapping) else cost,
        # A path to it, such as `model/functions/main`, in one of the tools.
        function=words(_value(entry, _FUNCTION)).rpartition("/")[2] or "main",
    )


def _find_operations(document: object) -> tuple[list[Any], list[Mapping[str, Any]]]:
    """The list of operations, and the objects around it, the innermost first; their keys are squeezed."""
    around: list[Mapping[str, Any]] = []
    for _ in range(1 + len(_AROUND)):
        if isinstance(document, list):
            return document, around
        held = _plain(document)
        around.insert(0, held)
        around += [_plain(held["configuration"])] if "configuration" in held else []
        document = _value(held, _LISTS) or _value(held, _AROUND)
    return [], []


def _by_function(document: object) -> Iterator[Mapping[str, Any]]:
    """Operations of `{function: {operations: [...]}}`, alone or below `functions`, each with its function."""
    held = mapping(mapping(document).get("functions", document))
    for function, inner in held.items():
        for entry in entries(_value(_plain(inner), _LISTS)):
            yield {"function": function, **mapping(entry)}


def _first(objects: list[Mapping[str, Any]], keys: tuple[str, ...]) -> object:
    return next((value for each in objects if (value := _value(each, keys)) is not None), None)


def _value(entry: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of these keys that has one."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _plain(value: object) -> Mapping[str, Any]:
    """An object with squeezed keys."""
    return {_squeeze(str(key)): held for key, held in mapping(value).items()}


def _squeeze(text: str) -> str:
    return text.replace("_", "").replace("-", "").lower()
