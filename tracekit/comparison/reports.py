"""JSON reports in place of the recordings they came from, so that a raw recording need not be kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.comparison.latency import METHOD_VERSION
from tracekit.comparison.measuring import check_models_known, limits_in, margin_of
from tracekit.comparison.storage import MalformedError, from_plain, model_to_plain, read_json
from tracekit.detectors.outcomes import Metric
from tracekit.errors import UnreadableRecording
from tracekit.report.report import SCHEMA_VERSION, TableInfo
from tracekit.trace.coverage import unreadable_tables

if TYPE_CHECKING:
    from tracekit.comparison.measurements import Measurements

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


def load_report(path: Path) -> Measurements:
    """Measurements of the recording that a JSON report is about. Raises `UnreadableRecording`, and says what to do."""
    name = path.name
    plain = read_json(path, name, "report", MAX_BYTES, UnreadableRecording)
    if isinstance(plain, list):
        raise UnreadableRecording(
            f"{name} holds several reports; write one file each with 'analyze --json --folder DIR'"
        )
    if not isinstance(plain, dict) or not str(plain.get("$schema")).startswith("urn:tracekit:report:"):
        raise UnreadableRecording(f"{name} is not a tracekit report")
    if plain.get("schema_version") != SCHEMA_VERSION:
        raise UnreadableRecording(
            f"{name} is a report of another version of tracekit (schema {plain.get('schema_version')}, not "
            f"{SCHEMA_VERSION}); write it again with 'tracekit analyze RECORDING -o {name}'"
        )
    if plain.get("measurements") is None:
        raise UnreadableRecording(
            f"{name} holds no measurements, so it cannot stand for its recording; write it again with "
            f"'tracekit analyze RECORDING -o {name}'"
        )
    try:
        return _measurements(plain)
    except (MalformedError, KeyError) as error:
        raise UnreadableRecording(f"{name} is damaged: '{str(error).strip(chr(39))}' is missing or wrong") from None
    except (TypeError, AttributeError):
        raise UnreadableRecording(f"{name} is damaged: a part of it is missing or wrong") from None


def _measurements(report: dict[str, Any]) -> Measurements:
    """Of the whole report, with the names that `from_plain` knows."""
    facts, measured = report["recording"], report["measurements"]
    rules = {rule["id"]: rule for rule in report["rules"]}
    system = " ".join(part for part in (facts["platform"], facts["os_version"]) if part) or None
    recording = from_plain(
        {
            "source": facts["source"],
            "identity": measured.get("identity"),
            "environment": {
                "device": facts["device_model"],
                "system": system,
                "instruments": facts["instruments_version"],
                "template": facts["template"],
                "thermal": measured["thermal"],
                "input_type": facts["input_type"],
            },
            "core_ml": measured["core_ml"],
            "models": measured["models"],
            "checks": [
                {key: result[key] for key in ("id", "model", "outcome", "severity")}
                | {"title": _title(rules[result["id"]], result), "savings_ns": result["own_savings_ns"]}
                | {"margin": margin_of(Metric(**metric) for metric in result["metrics"])}
                for result in report["results"]
            ],
        }
    )
    tables = [TableInfo(**table) for table in report["tables"]]
    check_models_known(tables)
    rates = {model["name"]: model["quantities"]["predictions_per_second"] for model in report["models"]}
    return replace(
        recording,
        models=tuple(replace(model, per_second=rates.get(model.name)) for model in recording.models),
        unreadable=unreadable_tables(tables),
        limited=limits_in(facts["notes"]),
        started=facts["start_date"],
        commit=facts.get("commit"),
    )


def _title(rule: dict[str, Any], result: dict[str, Any]) -> Any:
    return rule["finding_title"] if result["outcome"] == "finding" else rule.get("title", "")
