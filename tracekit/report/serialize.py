"""Reports as JSON, as published in `report/schema/`."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from importlib.resources import files
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from tracekit.characters import escape_json
from tracekit.report.report import DRAWN, IF_ANY, SCHEMA_VERSION

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DECIMALS = 6
"""Decimals of a float: finer than any clock, coarser than the last bits of a sum, which differ between processors."""


SCHEMAS = {"report": SCHEMA_VERSION, "model": 2, "performance": 1, "why": 1, "fix": 1, "replay": 1, "history": 1}
"""Kinds of documents with a published JSON Schema, and its version."""

_KINDS = {
    "Report": "report",
    "ModelReport": "model",
    "InspectedPerformance": "performance",
    "WhyReport": "why",
    "ModelFix": "fix",
    "Without": "replay",
    "History": "history",
}

"""Kind of each dataclass. By name: only a command that makes one has to load it."""


def schema_id(kind: str) -> str:
    """`$schema` of a document of this kind, and `$id` of its JSON Schema."""
    return f"urn:tracekit:{kind}:{SCHEMAS[kind]}"


def schema_text(kind: str = "report") -> str:
    """The JSON Schema of documents of a kind."""
    return files("tracekit.report").joinpath(f"schema/{kind}-{SCHEMAS[kind]}.json").read_text("utf-8")


def to_dict(report: DataclassInstance) -> dict[str, Any]:
    """A report, a diagnosis or a comparison as plain dicts, lists and values, keys in the order of the dataclasses."""
    kind = next((_KINDS[base.__name__] for base in type(report).__mro__ if base.__name__ in _KINDS), None)
    head = {} if kind is None else {"$schema": schema_id(kind)}
    return head | _plain_fields(report)


def _plain_fields(owner: DataclassInstance) -> dict[str, Any]:
    values = ((field, getattr(owner, field.name)) for field in fields(owner) if field.metadata != DRAWN)
    return {field.name: _plain(value) for field, value in values if value or field.metadata != IF_ANY}


def to_json(report: DataclassInstance) -> str:
    """The report as JSON text that ends with a line break: the same bytes on any machine. Non-ASCII text stays
    readable; characters that could steer a terminal are escaped, so that nothing is lost or acts."""
    text = json.dumps(to_dict(report), ensure_ascii=False, allow_nan=False, indent=2)
    return escape_json(text) + "\n"


def _plain(value: Any) -> Any:
    """A value as JSON knows it. A number that is not finite becomes None: JSON has no other way to say it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if type(value) is float:
        # Most values of a long history are: to ask for the abstract types takes longer than all the rest.
        return round(value, DECIMALS) if math.isfinite(value) else None
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _plain(float(value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_fields(value)
    raise TypeError(f"a report cannot hold a {type(value).__name__}")
