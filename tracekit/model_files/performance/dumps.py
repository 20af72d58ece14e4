"""Compute plans that apps and scripts dump themselves: an entry of JSON for each operation of an `MLComputePlan`.

There is no common form of them. The keys are those of eight public tools in Swift and Python, read in their source, as
no dump itself was seen; that others spell theirs alike is a guess. `preferredDevice`, `preferred_compute_device` and
`preferred` mean the same, and so on. A key with another meaning under one of these names would be misread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from tracekit.model_files.performance.facts import ALL_UNITS, PerformanceReport, PlannedOperation, ReportForm
from tracekit.model_files.performance.values import CHOICES, check_count, is_constant, planned_operation, units_of
from tracekit.model_files.untrusted import UnreadableModel, mapping, words

_LISTS = ("operations", "ops", "rows", "layers")
_AROUND = ("mlcomputeplan", "computeplan", "plan", "structure")
_OPERATOR = ("operator", "operatorname", "operatortype", "op", "optype", "operation", "type")
_NAME = ("outputs", "outputnames", "output", "outputname", "name", "identity")
_FUNCTION = ("function", "functionname", "scope")
_PREFERRED = ("preferred", "preferreddevice", "preferredcomputedevice", "preferredunit", "preferredcomputeunit")
_PLACED = (*_PREFERRED, "device")
"""Beside the supported units, or in a list of operations that have preferred ones."""
_SUPPORTED = ("supported", "supporteddevices", "supportedcomputedevices", "supportedunits", "supportedcomputeunits")
_COST = ("cost", "costweight", "weight", "estimatedcost", "estimatedcostweight")
_MODEL = ("modelname", "model")
_ASKED = ("computeunits",)
"""Keys without capitals, `_` and `-`."""

_CHOICES = {name.lower(): units for name, units in CHOICES.items()} | {"cpuandne": CHOICES["cpuAndNeuralEngine"]}
_SUFFIXES = (".mlpackage", ".mlmodelc", ".mlmodel")
_SEPARATORS = re.compile(r"[,|]")
_EXPECTED = f"expected {', '.join(ALL_UNITS[:-1])} or {ALL_UNITS[-1]}"
_FORM = "Compute plans that are dumped from an app have no common form: this one was read by the names of its keys."


def is_dump(document: object) -> bool:
    """Whether the JSON is such a plan: a list with operators and the compute units that are preferred for them."""
    listed, _ = _find_operations(document)
    plain = map(_plain, listed)
    return any(_value(entry, _OPERATOR) and _value(entry, _PREFERRED + _SUPPORTED) is not None for entry in plain)


def dumped_plan(document: object, stem: str, source: str) -> PerformanceReport:
    """The plan. Raises `UnreadableModel`, also where no operation has a compute unit that is known. O(operations)."""
    listed, around = _find_operations(document)
    check_count(len(listed))
    named = [entry for entry in map(_plain, listed) if not is_constant(words(_value(entry, _OPERATOR)))]
    operations = tuple(_operation(entry, number) for number, entry in enumerate(named))
    if not any(operation.unit for operation in operations):
        raise UnreadableModel(f"the compute plan names no compute unit that is known{_unknown(named)}; {_EXPECTED}")
    model = _stem(words(_first(around, _MODEL)))
    asked = _CHOICES.get(_squeeze(words(_first(around, _ASKED))))
    absent = [*([] if model else ["the model"]), "the device", "the system"]
    absent += [] if asked else ["the compute units that were asked for"]
    return PerformanceReport(
        name=model or stem,
        source=source,
        form=ReportForm.DUMP,
        asked=asked,
        operations=operations,
        notes=(f"The file does not name {', '.join(absent[:-1])} or {absent[-1]}.", _FORM),
    )


def _unknown(operations: list[Mapping[str, Any]]) -> str:
    """What stands in their place, as words in brackets."""
    texts = dict.fromkeys(filter(None, (words(_value(entry, _PLACED)) for entry in operations)))
    return f" ({', '.join(repr(text[:20]) for text in list(texts)[:3])})" if texts else ""


def _operation(entry: Mapping[str, Any], number: int) -> PlannedOperation:
    supported, cost, name = _value(entry, _SUPPORTED), _value(entry, _COST), _value(entry, _NAME)
    if isinstance(name, list):
        name = words(name[0]) or mapping(name[0]).get("name") if name else None
    if isinstance(supported, str):
        supported = _SEPARATORS.split(supported)
    return planned_operation(
        number,
        words(name),
        words(_value(entry, _OPERATOR)),
        _value(entry, _PLACED),
        # An operation without a plan has an empty list.
        supported if units_of(supported) else None,
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


def _stem(name: str) -> str:
    """Name of a model from a path, which may be private."""
    path = PurePosixPath(name)
    return path.stem if path.suffix in _SUFFIXES else path.name
