"""Which report lies at a path, and what it says: also any that `tracekit inspect --json` printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tracekit.model_files.performance import facts
from tracekit.model_files.performance.facts import PerformanceReport, PlannedOperation, ReportForm, Timing
from tracekit.model_files.performance.plans import coremltools_plan, dumped_plan, profiler_plan
from tracekit.model_files.performance.values import (
    CHOICES,
    DEEPEST,
    amount,
    check_count,
    is_constant,
    planned_operation,
    samples,
    unit_of,
    units_of,
    with_times,
)
from tracekit.model_files.untrusted import (
    MAX_TEXT_BYTES,
    UnreadableModel,
    entries,
    mapping,
    parse_json,
    quote,
    read_bytes,
    words,
)

_SECOND = 1e9
_CHOICES = ("cpuOnly", "cpuAndGPU", "all", "cpuAndNeuralEngine")
"""Names of `MLComputeUnits` by raw value."""
_COLD_UNKNOWN = "The report does not say how many values make an experiment, so cold ones count like the others."


def xcode_report(document: object, path: Path) -> facts.PerformanceReport | None:
    """The report that Xcode exports as JSON; None for other JSON. Raises `UnreadableModel`. O(operations + samples).

    Keys as in two reports of an iPad, `jsonVersion` 1 and `deviceResultVersion` 4. What layers of neural networks and
    pipelines look like, and how the reason of an incompatible operation is written, is a guess: none was seen. Serial
    number, name and id of the device and the path of the model are not read.
    """
    keys = mapping(document)
    if "deviceResults" not in keys:
        return None
    results = mapping(keys["deviceResults"])
    if not any(key in results for key in ("predict", "load", "compile", "modelStructure")):
        raise UnreadableModel("the report holds no results: neither 'predict', 'load', 'compile' nor 'modelStructure'")
    run = mapping(results.get("perfRunConfig"))
    device = mapping(keys.get("deviceInfo"))
    prediction = _xcode_timing(results, "predict", run.get("predictionCount"))
    asked, operations = keys.get("computeUnit"), None
    if "modelStructure" in results:
        planned: list[facts.PlannedOperation] = []
        for function, entry in _entries(results["modelStructure"], "main", 0):
            operator = words(entry.get("operatorName")) or words(entry.get("type"))
            if not is_constant(operator):
                check_count(len(planned))
                planned.append(_xcode_operation(entry, operator, function, len(planned)))
        operations = with_times(planned, prediction.median_ns if prediction else None)
    return facts.PerformanceReport(
        name=words(mapping(keys.get("modelMetadata")).get("fileName")) or path.stem,
        source=path.name,
        form=facts.ReportForm.XCODE,
        asked=CHOICES[_CHOICES[asked]] if type(asked) is int and 0 <= asked < len(_CHOICES) else None,
        device=words(device.get("modelName")) or None,
        system=words(device.get("osNameAndVersionWithoutBuildNumber")) or None,
        prediction=prediction,
        load=_xcode_timing(results, "load", run.get("loadCount")),
        compile=_xcode_timing(results, "compile", None),
        operations=operations,
        notes=() if all(map(_per_experiment, (run.get("predictionCount"), run.get("loadCount")))) else (_COLD_UNKNOWN,),
    )


def _xcode_timing(results: Mapping[str, Any], key: str, per_experiment: object) -> facts.Timing | None:
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


def _xcode_operation(entry: Mapping[str, Any], operator: str, function: str, number: int) -> facts.PlannedOperation:
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


EXPECTED = (
    "JSON that Xcode exports of a performance report, a compute plan of CoreMLProfiler, coremltools or an app, or JSON "
    "of `tracekit inspect`"
)


def load_performance_report(path: Path | str) -> PerformanceReport:
    """The performance report or compute plan in a file. Raises `UnreadableModel`. O(size of the file)."""
    file = Path(path)
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise UnreadableModel(f"{quote(file)} {what}; expected {EXPECTED}")
    data = read_bytes(file, MAX_TEXT_BYTES)
    if not data:
        raise UnreadableModel(f"{quote(file)} is empty; expected {EXPECTED}")
    document = parse_json(data)
    if document is None:
        raise UnreadableModel(f"{quote(file)} is not complete JSON; expected {EXPECTED}")
    report = report_of(document, file)
    if report is None:
        keys = ", ".join(sorted(map(str, mapping(document)))[:5])
        raise UnreadableModel(f"{quote(file)} is no performance report (keys: {keys or 'none'}); expected {EXPECTED}")
    return report


def report_in(data: bytes, path: Path) -> PerformanceReport | None:
    """The report in the content of a file; None for something else. Raises `UnreadableModel` if damaged. O(size)."""
    document = parse_json(data)
    return None if document is None else report_of(document, path)


def report_of(document: object, path: Path) -> PerformanceReport | None:
    """The report in the JSON of a file; None for other JSON. Raises `UnreadableModel` where it is damaged. O(size)."""
    try:
        reports = (read(document, path) for read in _FORMS)
        return next((report for report in reports if report is not None), None)
    except UnreadableModel as error:
        raise UnreadableModel(f"{quote(path)}: {error}") from None


SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""

KEY = "performance"


def own_report(document: object, path: Path) -> PerformanceReport | None:
    """The report that tracekit wrote; None for other JSON. Raises `UnreadableModel`. O(operations)."""
    keys = mapping(document)
    if not isinstance(keys.get(KEY), dict) or "schema_version" not in keys:
        return None
    version = keys["schema_version"]
    if version != SCHEMA_VERSION:
        raise UnreadableModel(
            f"the report has schema version {str(version)[:20]}, and this tracekit reads {SCHEMA_VERSION}; update it"
        )
    report = mapping(keys[KEY])
    form = words(report.get("form"))
    if form not in tuple(ReportForm):
        raise UnreadableModel("the report is damaged: 'form' names no kind of report")
    listed = report.get("operations")
    check_count(len(entries(listed)))
    return PerformanceReport(
        name=words(report.get("name")) or path.stem,
        source=path.name,
        form=ReportForm(form),
        asked=units_of(report.get("asked")),
        device=words(report.get("device")) or None,
        system=words(report.get("system")) or None,
        prediction=_timing(report.get("prediction")),
        load=_timing(report.get("load")),
        compile=_timing(report.get("compile")),
        operations=tuple(_operation(mapping(entry), number) for number, entry in enumerate(listed))
        if isinstance(listed, list)
        else None,
        notes=tuple(filter(None, map(words, entries(report.get("notes"))))),
    )


def _timing(value: object) -> Timing | None:
    timing = mapping(value)
    if not timing:
        return None
    median, mean, shortest, longest, stdev = (
        amount(timing.get(f"{key}_ns"), "a time") for key in ("median", "mean", "min", "max", "stdev")
    )
    count = amount(timing.get("count"), "a count")
    first = tuple(samples(timing.get("first_ns"), "'first_ns'", 1))
    return Timing(None if count is None else int(count), median, mean, shortest, longest, stdev, first)


def _operation(entry: Mapping[str, Any], number: int) -> PlannedOperation:
    pairs = (pair for pair in entries(entry.get("reasons")) if isinstance(pair, list) and len(pair) == 2)
    reasons = ((unit_of(unit), words(reason)) for unit, reason in pairs)
    return planned_operation(
        number,
        words(entry.get("name")),
        words(entry.get("type")),
        entry.get("unit"),
        entry.get("supported"),
        entry.get("cost"),
        estimated_ns=amount(entry.get("estimated_ns"), "the time of an operation"),
        function=words(entry.get("function")) or "main",
        reasons=tuple((unit, text) for unit, text in reasons if unit is not None and text),
    )


_FORMS = (xcode_report, own_report, coremltools_plan, profiler_plan, dumped_plan)
"""Readers of JSON, which give None for what is not of their form; the first that gives a report counts."""
