"""Measurements as JSON that reads well in a review, and back; and JSON reports in place of the recordings they came
from, so that a raw recording need not be kept.

Durations are in ns; longer lists are deflated, in base64. Nothing private is in it.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable
from dataclasses import MISSING, asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tracekit.analysis.breakdown.device_runs import UNITS
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.specialization import Answer, Launch, Specialization, Specializations
from tracekit.analysis.where.verdict import Answer as Worked, UnitUse, Whereabouts
from tracekit.arrays import IntArray
from tracekit.comparison.latency import METHOD_VERSION
from tracekit.comparison.measurements import (
    EXACT,
    CheckResult,
    Environment,
    Inexact,
    Measurements,
    ModelMeasurements,
    Parts,
)
from tracekit.comparison.measuring import check_models_known, environment_of, lacking_of, limits_in, margin_of
from tracekit.detectors.outcomes import Metric
from tracekit.errors import TracekitError, UnreadableRecording
from tracekit.named_files import read_file
from tracekit.report.formatting import OUTCOMES
from tracekit.report.report import SCHEMA_VERSION, SEVERITIES, TableInfo
from tracekit.trace.coverage import unreadable_tables
from tracekit.trace.trace import Coverage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Read = TypeVar("Read", bound="DataclassInstance")
MAX_BYTES = 256 << 20
"""Of a report; one on an hour with 100,000 predictions has a few MB."""


def to_report(recording: Measurements) -> dict[str, Any]:
    """What a report holds under `measurements`: what a comparison needs and the rest of the report does not say."""
    return {
        "method": METHOD_VERSION,
        "identity": recording.identity,
        "core_ml": recording.core_ml,
        "thermal": recording.environment.thermal,
        "models": [model_to_plain(model, listed=0) for model in recording.models],
    }


class MalformedError(Exception):
    """The JSON is not what `to_plain` writes; the text says which key."""


def load_report(path: Path) -> Measurements:
    """Measurements of the recording that a JSON report is about. Raises `UnreadableRecording`, and says what to do."""
    name = path.name
    plain = read_json(path, name, "report", MAX_BYTES, UnreadableRecording)
    again = f"write it again with 'tracekit analyze RECORDING -o {name}'"
    if isinstance(plain, dict) and "reports" in plain:
        wrong = "holds several reports; write one file each with 'analyze --json --folder DIR'"
    elif not isinstance(plain, dict) or not str(plain.get("$schema")).startswith("urn:tracekit:report:"):
        wrong = "is not a tracekit report"
    elif (version := plain.get("schema_version")) != SCHEMA_VERSION:
        wrong = f"is a report of another version of tracekit (schema {version}, not {SCHEMA_VERSION}); {again}"
    elif plain.get("measurements") is None:
        wrong = f"holds no measurements, so it cannot stand for its recording; {again}"
    else:
        try:
            return _measurements(plain)
        except (MalformedError, KeyError) as error:
            wrong = f"is damaged: '{str(error).strip(chr(39))}' is missing or wrong"
        except (TypeError, AttributeError):
            wrong = "is damaged: a part of it is missing or wrong"
    raise UnreadableRecording(f"{name} {wrong}")


def _measurements(report: dict[str, Any]) -> Measurements:
    """Of the whole report, with the names that `from_plain` knows."""
    facts, measured = report["recording"], report["measurements"]
    rules = {rule["id"]: rule for rule in report["rules"]}
    lacking = lacking_of(Coverage(**entry) for entry in report["coverage"])
    recording = from_plain(
        {
            "source": facts["source"],
            "identity": measured.get("identity"),
            "environment": asdict(environment_of(facts, measured["thermal"])),
            "core_ml": measured["core_ml"],
            "models": measured["models"],
            "checks": [
                {key: result[key] for key in ("id", "model", "outcome", "severity")}
                | {"title": _title(rules[result["id"]], result)}
                | {"savings_ns": (result["savings"] or {}).get("total_ns")}
                | {"lacks": lacking.get(result["summary"], "") if result["outcome"] == "not_evaluated" else ""}
                | {"margin": margin_of(Metric(**metric) for metric in result["metrics"])}
                for result in report["results"]
            ],
        }
    )
    tables = [TableInfo(**table) for table in report["tables"]]
    check_models_known(facts["source"], tables)
    rates = {model["name"]: model["quantities"]["predictions_per_second"] for model in report["models"]}
    return replace(
        recording,
        models=tuple(replace(model, per_second=rates.get(model.name)) for model in recording.models),
        unreadable=unreadable_tables(tables),
        limited=limits_in(facts["notes"]),
        started=facts["start_date"],
        commit=facts.get("commit"),
        specializations=_specializations(report.get("specializations")),
        late_ns=_late_ns(report.get("frames")),
    )


def _specializations(plain: object) -> Specializations | None:
    if plain is None:
        return None
    record = _dict(plain, "specializations")
    models = tuple(_read(Specialization, each, "models") for each in _list(record, "models"))
    if {each.answer for each in models} - {*map(str, Answer)}:
        raise MalformedError("answer")
    return Specializations(_read(Launch, record.get("launch"), "launch"), models)


def _late_ns(frames: object) -> float | None:
    if frames is None:
        return None
    record = _dict(frames, "frames")
    seconds = record.get("animated_ns") or record.get("recorded_ns")
    return _number(record, "late_ns") * 1e9 / seconds if seconds else None


def _title(rule: dict[str, Any], result: dict[str, Any]) -> Any:
    return rule["finding_title"] if result["outcome"] == "finding" else rule.get("title", "")


LISTED = 200
"""Longest list that is written as numbers; a review can still read it."""
PACKED_BEST = 10_000
"""Longest list that is deflated as far as it goes. Longer ones are in a fifteenth of the time, and 4% larger."""
MAX_VALUES = 1_000_000
"""Most durations of one list: a prediction a millisecond for a quarter of an hour."""
MAX_ITEMS = 10_000
"""Most models, and most checks, of one recording."""


def read_json(path: Path, name: str, what: str, max_bytes: int, failure: type[TracekitError]) -> Any:
    """The value in a JSON file of ours. Raises `failure` where it cannot be read, is too large or is not JSON, with
    `name` for the file and `what` for what it should be: `baseline`."""

    def refuse(constant: str) -> None:
        raise failure(f"{name} is not a {what}: it holds {constant}, which is no number of JSON")

    try:
        # Python alone takes `Infinity`, `-Infinity` and `NaN`.
        return json.loads(read_file(path, max_bytes), parse_constant=refuse)
    except FileNotFoundError:
        hint = "; create it with --save-baseline" if what == "baseline" else ""
        raise failure(f"{path}: no such file or directory{hint}") from None
    except OSError as error:
        raise failure(f"cannot read the {what} {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise failure(f"{name} is not a {what}: it is not valid JSON") from None


def to_plain(recording: Measurements) -> dict[str, Any]:
    """Measurements as dicts, lists and numbers."""
    return {
        "source": recording.source,
        "identity": recording.identity,
        "environment": asdict(recording.environment),
        "core_ml": recording.core_ml,
        "models": [model_to_plain(model) for model in recording.models],
        "checks": [asdict(check) for check in recording.checks],
    }


def from_plain(plain: object) -> Measurements:
    """The inverse of `to_plain`. Raises `MalformedError`."""
    record = _dict(plain, "recording")
    models = tuple(map(_model_from_plain, _list(record, "models")))
    if len({model.name for model in models}) < len(models):
        raise MalformedError("models")
    return Measurements(
        source=_value(record, "source", str),
        identity=_value(record, "identity", str, optional=True),
        environment=_read(Environment, record.get("environment"), "environment"),
        core_ml=_value(record, "core_ml", bool),
        models=models,
        checks=tuple(map(_check_from_plain, _list(record, "checks"))),
    )


def model_to_plain(model: ModelMeasurements, listed: int = LISTED) -> dict[str, Any]:
    """One model; lists of more than `listed` numbers are deflated."""

    def pack(values: IntArray) -> list[int] | str:
        if len(values) <= listed:
            return [int(value) for value in values]
        level = 9 if len(values) <= PACKED_BEST else 6
        return base64.b64encode(zlib.compress(values.astype("<i8").tobytes(), level)).decode()

    return {
        "name": model.name,
        "predictions": model.predictions,
        "latencies": pack(model.latencies_ns),
        "first_after_load": pack(np.flatnonzero(~model.warm).astype(np.int64)),
        "cold_loads": pack(model.cold_loads_ns),
        "cached_loads": pack(model.cached_loads_ns),
        "other_loads": pack(model.other_loads_ns),
        "copies": model.copies,
        "most_in_flight": model.max_in_flight,
        "awaited_load_ns": model.awaited_load_ns,
        "warm_parts": _parts_to_plain(model.warm_parts),
        "parts": _parts_to_plain(model.parts),
        "where": None if model.where is None else asdict(model.where),
        "inexact": None if model.inexact == EXACT else asdict(model.inexact),
        **({"counted": model.counted} if model.is_operation else {}),
        **({"overlap": True} if model.overlap else {}),
    }


def _parts_to_plain(parts: Parts | None) -> dict[str, Any] | None:
    if parts is None:
        return None
    values = zip(GROUPS, parts.means_ns, parts.errors_ns, parts.complete, strict=True)
    means = {
        group.name: {"mean_ns": mean_ns, "error_ns": error_ns, "complete": complete}
        for group, mean_ns, error_ns, complete in values
        if mean_ns or error_ns or not complete
    }
    return {"degrees": parts.degrees, "means": means}


def _model_from_plain(plain: object) -> ModelMeasurements:
    record = _dict(plain, "models")
    latencies = _durations(record, "latencies")
    first = _unpack(record, "first_after_load")
    if len(first) and (first.min() < 0 or first.max() >= len(latencies)):
        raise MalformedError("first_after_load")
    warm = np.ones(len(latencies), dtype=bool)
    warm[first] = False
    return _read(
        ModelMeasurements,
        record,
        "models",
        latencies_ns=latencies,
        warm=warm,
        cold_loads_ns=_durations(record, "cold_loads"),
        cached_loads_ns=_durations(record, "cached_loads"),
        other_loads_ns=_durations(record, "other_loads"),
        max_in_flight=_value(record, "most_in_flight", _is_count, optional=True),
        warm_parts=_parts_from_plain(record.get("warm_parts")),
        parts=_parts_from_plain(record.get("parts")),
        where=None if record.get("where") is None else _where_from_plain(record["where"]),
        inexact=EXACT if record.get("inexact") is None else _read(Inexact, record["inexact"], "inexact"),
    )


def _where_from_plain(plain: object, *, whole: bool = True) -> Whereabouts:
    record = _dict(plain, "where")
    functions = _dict(record.get("functions"), "functions") if whole else {}
    units = tuple(_read(UnitUse, each, "units") for each in _list(record, "units"))
    if tuple(each.unit for each in units) != tuple(map(str, UNITS)) or {each.answer for each in units} - {*Worked}:
        raise MalformedError("units")
    return Whereabouts(
        _value(record, "predictions", _is_count),
        _value(record, "left_out", _is_count),
        units,
        {name: _where_from_plain(each, whole=False) for name, each in functions.items()},
    )


def _read(owner: type[Read], plain: object, key: str, **known: Any) -> Read:
    """A dataclass of counts, shares, flags, texts and tuples of texts, with more fields that are `known`. One that has
    a default may be missing."""
    record = _dict(plain, key)
    readers: dict[str, Callable[[str], Any]] = {
        "bool": lambda key: _value(record, key, bool),
        "str": lambda key: _value(record, key, str),
        "str | None": lambda key: _value(record, key, str, optional=True),
        "int": lambda key: _value(record, key, _is_count),
        "int | None": lambda key: _value(record, key, _is_count, optional=True),
        "float | None": lambda key: None if record.get(key) is None else _number(record, key),
        "tuple[str, ...]": lambda key: tuple(map(str, _list(record, key))),
    }
    for field in fields(owner):
        if field.name not in known and (field.name in record or field.default is MISSING):
            known[field.name] = readers[str(field.type)](field.name)
    return owner(**known)


def _parts_from_plain(plain: object) -> Parts | None:
    if plain is None:
        return None
    record = _dict(plain, "parts")
    means = _dict(record.get("means"), "means")
    entries = [_dict(_ABSENT if means.get(one.name) is None else means[one.name], one.name) for one in GROUPS]
    means_ns, errors_ns = (tuple(_number(entry, key) for entry in entries) for key in ("mean_ns", "error_ns"))
    complete = tuple(_value(entry, "complete", bool) for entry in entries)
    return Parts(means_ns, errors_ns, complete, max(_number(record, "degrees"), 1.0))


_ABSENT = {"mean_ns": 0.0, "error_ns": 0.0, "complete": True}


def _check_from_plain(plain: object) -> CheckResult:
    check = _read(CheckResult, plain, "checks")
    if check.outcome not in OUTCOMES:
        raise MalformedError("outcome")
    if check.severity not in SEVERITIES and (check.severity is not None or check.outcome == "finding"):
        raise MalformedError("severity")
    return check


def _durations(record: dict[str, Any], key: str) -> IntArray:
    values = _unpack(record, key)
    if len(values) and (values.min() < 0 or values.max() > 2**53):
        raise MalformedError(key)
    return values


def _unpack(record: dict[str, Any], key: str) -> IntArray:
    value = record.get(key)
    if isinstance(value, list):
        if len(value) > MAX_VALUES or not all(type(entry) is int and abs(entry) < 2**62 for entry in value):
            raise MalformedError(key)
        return np.array(value, np.int64)
    if not isinstance(value, str):
        raise MalformedError(key)
    try:
        inflater = zlib.decompressobj()
        data = inflater.decompress(base64.b64decode(value, validate=True), MAX_VALUES * 8 + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise MalformedError(key) from None
    if len(data) > MAX_VALUES * 8 or len(data) % 8 or not inflater.eof:
        raise MalformedError(key)
    return np.frombuffer(data, "<i8").astype(np.int64)


def _dict(value: object, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError(key)
    return value


def _list(record: dict[str, Any], key: str) -> list[Any]:
    values: list[Any] = _value(record, key, lambda value: isinstance(value, list | tuple) and len(value) <= MAX_ITEMS)
    return values


def _value(record: dict[str, Any], key: str, fits: type | Callable[[Any], bool], *, optional: bool = False) -> Any:
    """What stands under a key. Raises `MalformedError` where it does not fit, or is not of the type."""
    value = record.get(key)
    fitting = isinstance(value, fits) if isinstance(fits, type) else fits(value)
    if not fitting and not (optional and value is None):
        raise MalformedError(key)
    return value


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


def _number(record: dict[str, Any], key: str) -> float:
    """A duration, a share or degrees of freedom: none of them is negative."""
    return float(_value(record, key, lambda value: type(value) in (int, float) and 0 <= value < 1e18))
