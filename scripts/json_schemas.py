"""Write `tracekit/report/schema/`: the JSON Schemas of what `--json` prints, made of the dataclasses behind it.

python scripts/json_schemas.py

Types and what may be null follow from the annotations, descriptions from the docstrings of classes and fields.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
import types
import typing
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.analysis.breakdown.partition import Part, Unknown
from tracekit.analysis.code import sites
from tracekit.analysis.device_states import THERMAL_STATES
from tracekit.analysis.frames.late import Strength
from tracekit.analysis.frames.paths import Path as HeldBy
from tracekit.analysis.ledger.layers import Layer
from tracekit.analysis.memory import Sureness
from tracekit.analysis.quantities import MODEL
from tracekit.comparison.history import FIGURES, History
from tracekit.detectors.outcomes import OUTCOME_NAMES, Severity
from tracekit.model_files.performance.facts import ReportForm
from tracekit.recording.table import TableState
from tracekit.report.model_fix import ModelFix
from tracekit.report.model_report import ModelReport
from tracekit.report.performance import InspectedPerformance
from tracekit.report.report import DRAWN, IF_ANY, Report
from tracekit.report.serialize import SCHEMAS, schema_id
from tracekit.report.why import WhyReport
from tracekit.report.without import Without
from tracekit.trace.calls.stacks import Api, LoadPhase, Unit
from tracekit.trace.events import Attribution, Device, Kind, Lane, Level
from tracekit.trace.instruments.frames import Aside, Stage
from tracekit.trace.instruments.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.analysis.quantities import Quantity

FOLDER = Path(__file__).resolve().parents[1] / "tracekit" / "report" / "schema"
ROOTS: dict[str, type] = {
    "report": Report,
    "model": ModelReport,
    "performance": InspectedPerformance,
    "why": WhyReport,
    "fix": ModelFix,
    "replay": Without,
    "history": History,
}

_MATCHES = ("as given", "same name", "similar name", None)
WORDS: dict[str, Iterable[str | None]] = {
    "Answer.outcome": OUTCOME_NAMES.values(),
    "Result.severity": (*Severity, None),
    "FindingInfo.severity": Severity,
    "Related.relation": ("possible_cause", "possible_effect"),
    "TableInfo.state": TableState,
    "AggregationRow.lane": Lane,
    "AggregationRow.kind": Kind,
    "AggregationRow.level": Level,
    "ModelSummary.level": Level,
    "PartSummary.part": Part,
    "Busy.what": (*LoadPhase, *Unit),
    "Busy.within": (*LoadPhase, None),
    "CallSite.api": tuple(api for api in Api if api is not Api.UNLOAD),
    "CallSite.thread": (sites.MAIN, sites.OTHER, sites.MIXED, sites.UNKNOWN),
    "ModelFileInfo.match": _MATCHES,
    "PerformanceReportInfo.match": _MATCHES,
    "Trend.figure": FIGURES,
    "Change.kind": ("change point", "drift"),
    "PerformanceReportInfo.form": ("", *ReportForm),
    "Why.thermal": (*THERMAL_STATES, None),
    "Third.thermal": (*THERMAL_STATES, None),
    "LoadMemory.sure": Sureness,
    "MemoryLevel.kind": Memory,
    "HeldUp.path": HeldBy,
    "LateFrame.path": (*HeldBy, None),
    "LateFrame.strength": (*Strength, None),
}
"""The words of fields that hold plain text, by class and field."""
_LAYERS = [layer.name.lower().replace("_", "-") for layer in Layer]
KEYS: dict[str, Iterable[str]] = {
    "Coverage.shares": Attribution,
    "Sustained.units": Device,
    "Why.usual": _LAYERS,
    "Why.more": _LAYERS,
    "FrameSummary.aside": Aside,
    "LateFrame.stages": Stage,
}
"""The keys of dicts."""
ITEMS = {"PartSummary.unknown": Unknown}
"""The words in lists."""
NO_FINDING = {
    **{key: {"type": "null"} for key in ("severity", "cost", "savings")},
    **{key: {"maxItems": 0} for key in ("related", "evidence", "call_sites")},
}
CONSTRAINTS: dict[tuple[str, str], dict[str, Any]] = {
    ("report", "Result"): {
        "if": {"properties": {"outcome": {"const": "finding"}}},
        "then": {"properties": {"severity": {"type": "string"}}},
        "else": {"properties": NO_FINDING},
    },
    # A file has no times.
    ("model", "Result"): {"properties": NO_FINDING},
}
"""What holds of fields together, by kind of document and class."""

SIGNED = (
    "LoadMemory.step_bytes",
    "LoadMemory.together_bytes",
    "Tail.parts",
    "Part.ns",
    "Part.low_ns",
    "Part.high_ns",
    "Why.usual",
    "Why.more",
    "LateFrame.stages",
)
"""Differences, which may be negative."""
MOMENTS = ("start_ns", "end_ns", "first_ns", "last_ns", "longest_start_ns")
"""Times since the start of the run, which rows may precede; all others are durations."""
SHARES = ("share", "shares", "cost")
"""Fields that hold shares, from 0 to 1."""

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of documents of a kind."""
    root, version = ROOTS[kind], SCHEMAS[kind]
    definitions: dict[str, Any] = {}
    body = _object(root, kind, definitions)
    properties = {"$schema": {"description": "`$id` of this JSON Schema.", "const": schema_id(kind)}} | body[
        "properties"
    ]
    properties["schema_version"] = {
        "description": "Keys keep their names and meaning within one version.",
        "const": version,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_id(kind),
        "title": f"tracekit {kind}, version {version}",
        **body,
        "properties": properties,
        "required": ["$schema", *body["required"]],
        "$defs": dict(sorted(definitions.items())),
    }


def text(kind: str) -> str:
    """The file."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def _object(owner: type, kind: str, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = _hints(owner)
    written = [field for field in fields(owner) if field.metadata != DRAWN]
    properties = {field.name: _property(owner, field.name, hints[field.name], kind, definitions) for field in written}
    return {
        **_described(_words(owner.__doc__)),
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [field.name for field in written if field.metadata != IF_ANY],
    }


def _property(owner: type, name: str, hint: Any, kind: str, definitions: dict[str, Any]) -> dict[str, Any]:
    declared = next(each for each in owner.__mro__ if name in inspect.get_annotations(each))
    key = f"{declared.__name__}.{name}"
    described = _described(_field_docs(declared).get(name, ""))
    if key == "Report.measurements":
        definitions |= json.loads((Path(__file__).parent / "measurements.json").read_text("utf-8"))
        return described | _nullable({"$ref": "#/$defs/measurements"})
    if key in WORDS:
        return described | {"enum": [None if word is None else str(word) for word in WORDS[key]]}
    value = _bounded(key, _type(hint, kind, definitions))
    if key == "ModelSummary.quantities":
        value = {
            "type": "object",
            "additionalProperties": False,
            "properties": {one.id: _number(one) for one in MODEL.values()},
        }
    if key in KEYS:
        value = {"type": "object", "propertyNames": _enum(KEYS[key]), **value}
    if key in ITEMS:
        value |= {"items": _enum(ITEMS[key])}
    return described | value


def _bounded(key: str, value: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field with the bounds of its numbers: counts and durations are not negative."""
    name = key.rpartition(".")[2]
    if "additionalProperties" in value or "items" in value:
        inner = "additionalProperties" if "additionalProperties" in value else "items"
        return value | {inner: _bounded(key, value[inner])}
    kinds = value.get("type", ())
    if not {"integer", "number"} & set([kinds] if isinstance(kinds, str) else kinds):
        return value
    if name in SHARES or name.endswith("_share"):
        return value | {"minimum": 0, "maximum": 1}
    is_count_or_duration = "number" not in kinds or name.endswith("_ns")
    return value | ({"minimum": 0} if is_count_or_duration and name not in MOMENTS and key not in SIGNED else {})


def _number(quantity: Quantity) -> dict[str, Any]:
    """The schema of a number of a model."""
    bounds = {"minimum": 0} | ({"maximum": 1} if quantity.unit == "share" else {})
    return {"description": quantity.label, "type": ["number", "null"], **bounds}


def _type(hint: Any, kind: str, definitions: dict[str, Any]) -> dict[str, Any]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return _reference(hint, kind, definitions)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    parts = [_type(each, kind, definitions) for each in arguments if each is not ...]
    if origin is types.UnionType:
        return _union(parts)
    if origin is tuple and arguments[-1] is ...:
        return {"type": "array", "items": parts[0]}
    if origin is tuple:
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if origin is dict:
        return {"type": "object", "additionalProperties": parts[1]}
    raise TypeError(f"no JSON Schema for {hint}")


def _union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    some = [part for part in parts if part != {"type": "null"}]
    if all(set(part) == {"type"} for part in some):
        kinds = list(dict.fromkeys(part["type"] for part in some))
        # Every integer is a number.
        kinds = [each for each in kinds if each != "integer" or "number" not in kinds]
        return {"type": [*kinds, "null"] if len(some) < len(parts) else kinds}
    return _nullable(some[0]) if len(some) == 1 else {"anyOf": parts}


def _nullable(value: dict[str, Any]) -> dict[str, Any]:
    if "enum" in value:
        return {"enum": [*value["enum"], None]}
    if "$ref" in value:
        return {"anyOf": [value, {"type": "null"}]}
    return value | {"type": [value["type"], "null"]}


def _enum(words: Iterable[str]) -> dict[str, Any]:
    return {"enum": [str(word) for word in words]}


_OWNERS: dict[tuple[str, str], type] = {}
"""The class behind each definition, by kind of document and name."""


def _reference(owner: type, kind: str, definitions: dict[str, Any]) -> dict[str, Any]:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", owner.__name__.removesuffix("Info")).lower()
    if _OWNERS.setdefault((kind, name), owner) is not owner:
        raise TypeError(f"two classes of one document are called {name}")
    if name not in definitions:
        definitions[name] = {}  # A model may hold others.
        definitions[name] = _object(owner, kind, definitions)
        constraint = dict(CONSTRAINTS.get((kind, owner.__name__), {}))
        if constraint:
            definitions[name]["allOf"] = [constraint]
    return {"$ref": f"#/$defs/{name}"}


def _described(words: str) -> dict[str, str]:
    return {"description": words} if words else {}


def _words(doc: str | None) -> str:
    """A docstring as a description: what is None in Python is null in JSON."""
    return re.sub(r"\bNone\b", "null", " ".join((doc or "").split()))


def _hints(owner: type) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for each in reversed(owner.__mro__[:-1]):
        names |= _type_names(each.__module__)
    return typing.get_type_hints(owner, localns=names)


@cache
def _type_names(module: str) -> dict[str, Any]:
    """What a module imports for its annotations alone."""
    names: dict[str, Any] = {}
    for block in _tree(module).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for entry in block.body:
                if isinstance(entry, ast.ImportFrom) and entry.module and entry.module.startswith("tracekit"):
                    source = importlib.import_module(entry.module)
                    names |= {
                        each.name: getattr(source, each.name) for each in entry.names if hasattr(source, each.name)
                    }
    return names


@cache
def _field_docs(owner: type) -> dict[str, str]:
    """What stands below each field of a class."""
    (body,) = (
        node.body
        for node in _tree(owner.__module__).body
        if isinstance(node, ast.ClassDef) and node.name == owner.__name__
    )
    return {
        field.target.id: _words(doc.value.value)
        for field, doc in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(doc, ast.Expr)
        and isinstance(doc.value, ast.Constant)
        and isinstance(doc.value.value, str)
    }


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))


if __name__ == "__main__":
    for name, version in SCHEMAS.items():
        (FOLDER / f"{name}-{version}.json").write_text(text(name), encoding="utf-8")
