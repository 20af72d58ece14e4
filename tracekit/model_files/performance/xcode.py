"""The performance report of a model that Xcode exports as JSON.

Keys as in two reports of an iPad, `jsonVersion` 1 and `deviceResultVersion` 4. What layers of neural networks and
pipelines look like, and how the reason of an incompatible operation is written, is a guess: none was seen.
Serial number, name and id of the device and the path of the model are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tracekit.model_files.performance import facts
from tracekit.model_files.performance.values import (
    CHOICES,
    DEEPEST,
    check_count,
    is_constant,
    planned_operation,
    samples,
    unit_of,
    with_times,
)
from tracekit.model_files.untrusted import UnreadableModel, entries, mapping, words

_SECOND = 1e9
_CHOICES = ("cpuOnly", "cpuAndGPU", "all", "cpuAndNeuralEngine")
"""Names of `MLComputeUnits` by raw value."""
_COLD_UNKNOWN = "The report does not say how many values make an experiment, so cold ones count like the others."


def xcode_report(document: object, path: Path) -> facts.PerformanceReport | None:
    """The report; None for other JSON. Raises `UnreadableModel`. O(operations + samples)."""
    keys = mapping(document)
    if "deviceResults" not in keys:
        return None
    results = mapping(keys["deviceResults"])
    if not any(key in results for key in ("predict", "load", "compile", "modelStructure")):
        raise UnreadableModel("the report holds no results: neither 'predict', 'load', 'compile' nor 'modelStructure'")
    run = mapping(results.get("perfRunConfig"))
    device = mapping(keys.get("deviceInfo"))
    prediction = _timing(results, "predict", run.get("predictionCount"))
    asked, operations = keys.get("computeUnit"), None
    if "modelStructure" in results:
        planned: list[facts.PlannedOperation] = []
        for function, entry in _entries(results["modelStructure"], "main", 0):
            operator = words(entry.get("operatorName")) or words(entry.get("type"))
            if not is_constant(operator):
                check_count(len(planned))
                planned.append(_operation(entry, operator, function, len(planned)))
        operations = with_times(planned, prediction.median_ns if prediction else None)
    return facts.PerformanceReport(
        name=words(mapping(keys.get("modelMetadata")).get("fileName")) or path.stem,
        source=path.name,
        form=facts.ReportForm.XCODE,
        asked=CHOICES[_CHOICES[asked]] if type(asked) is int and 0 <= asked < len(_CHOICES) else None,
        device=words(device.get("modelName")) or None,
        system=words(device.get("osNameAndVersionWithoutBuildNumber")) or None,
        prediction=prediction,
        load=_timing(results, "load", run.get("loadCount")),
        compile=_timing(results, "compile", None),
        operations=operations,
        notes=() if all(map(_per_experiment, (run.get("predictionCount"), run.get("loadCount")))) else (_COLD_UNKNOWN,),
    )


def _timing(results: Mapping[str, Any], key: str, per_experiment: object) -> facts.Timing | None:
    """Samples of all experiments stand in one list; the first of each is cold and kept apart."""
    values = samples(mapping(results.get(key)).get("samples"), f"'{key}'", _SECOND)
    size = _per_experiment(per_experiment)
    if not size:
        return facts.timing_of(values)
    return facts.timing_of([value for index, value in enumerate(values) if index % size], values[::size])


def _per_experiment(count: object) -> int:
    """Values of one experiment; 0 where it is unknown."""
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0


def _entries(node: object, function: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Operations and layers below a part of the structure, each with the function that it belongs to."""
    if depth > DEEPEST:
        raise UnreadableModel(f"the report is damaged: its structure is more than {DEEPEST} levels deep")
    if isinstance(node, list):
        for child in node:
            yield from _entries(child, function, depth + 1)
        return
    node = mapping(node)
    if "operatorName" in node or (isinstance(node.get("type"), str) and ("deviceUsage" in node or "cost" in node)):
        yield function, node
        yield from _entries(node.get("blocks"), function, depth + 1)
        return
    for key, child in node.items():
        if key == "functions":
            for name, held in mapping(child).items():
                yield from _entries(held, name, depth + 1)
        elif isinstance(child, list | dict):
            yield from _entries(child, function, depth + 1)


def _operation(entry: Mapping[str, Any], operator: str, function: str, number: int) -> facts.PlannedOperation:
    outputs = entries(entry.get("outputs"))
    usage = mapping(entry.get("deviceUsage"))
    # Why an operation cannot run on a unit, from a list of devices and states in turn.
    states = entries(usage.get("allSupportStates"))
    reasons: list[tuple[facts.ComputeUnit, str]] = []
    for device, state in zip(states[::2], states[1::2], strict=False):
        unit, support = unit_of(device), mapping(state)
        if unit is not None and support and "supported" not in support:
            reasons.append((unit, "; ".join(_texts(support, 0)) or next(iter(support))))
    return planned_operation(
        number,
        words(mapping(outputs[0]).get("name")) if outputs else words(entry.get("name")),
        operator,
        usage.get("preferred"),
        usage.get("supported"),
        mapping(entry.get("cost")).get("weight"),
        function=function,
        reasons=tuple(reasons),
    )


def _texts(node: object, depth: int) -> Iterator[str]:
    if isinstance(node, str) and node:
        yield node
    elif depth < DEEPEST:
        children = node if isinstance(node, list) else list(mapping(node).values())
        for child in children:
            yield from _texts(child, depth + 1)
