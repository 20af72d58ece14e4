"""What a program with little room asks first, as JSON of at most 8 kB: `--format brief`. Each form says the verdict,
what it rests on, the worst first, and what to ask next. What does not fit is counted in `left_out`. Keys are those of
the JSON reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tracekit.analysis.where.words import where_words
from tracekit.characters import escape_json
from tracekit.grouping import grouped
from tracekit.render.blocks import Document, plain
from tracekit.report.groups import with_outcome
from tracekit.report.serialize import to_dict

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite
    from tracekit.comparison.comparison import Comparison
    from tracekit.comparison.gate import Gate
    from tracekit.report.model_report import ModelReport
    from tracekit.report.report import Answer, Report, Result
    from tracekit.report.why import WhyReport

MOST_BYTES: Final = 8_000
_LONG = 300
"""Characters of a text that is cut where there is no room."""
_COUNTS = 200
"""Bytes that `left_out` may take."""
_FENCE_END = "\n```"
Keys = Mapping[str, "str | Callable[[Any], Any] | Keys"]
"""What is kept of a thing, by the key it gets: a path of attributes, keys and places; what a function makes of it; or
keys below. A key that ends in `?` is left out where there is nothing."""


def optional(*names: str, of: str = "") -> Keys:
    """Attributes under their own names, each where it is known."""
    return {f"{name}?": of + name for name in names}


def projection(thing: object, keys: Keys) -> dict[str, Any]:
    """What `keys` keep of a thing."""
    values = {
        key: reduce(_part, source.split("."), thing)
        if isinstance(source, str)
        else source(thing)
        if callable(source)
        else projection(thing, source)
        for key, source in keys.items()
    }
    return {key.rstrip("?"): value for key, value in values.items() if value is not None or not key.endswith("?")}


def _part(thing: Any, name: str) -> Any:
    if isinstance(thing, Mapping):
        return thing.get(name)
    if isinstance(thing, tuple):
        return thing[int(name)] if int(name) < len(thing) else None
    return None if thing is None else getattr(thing, name)


def _code(site: CallSite) -> str:
    # A model file is inspected without what reads recordings.
    from tracekit.report.call_sites import line_of

    return " in ".join(filter(None, (line_of(site), site.function or "")))


def _first_step(fix: str) -> str:
    """The first paragraph of a fix, with the code that it leads to; `tracekit explain` has the rest."""
    step, _, more = fix.strip().partition("\n\n")
    code = f"\n\n{more.partition(_FENCE_END)[0]}{_FENCE_END}" if step.endswith(":") and more.startswith("```") else ""
    return " ".join(step.split()) + code


RECORDING = optional("source", "device_model", "os_version", "target", "duration_ns")
MODEL: Keys = {
    "model": "name",
    "loads": "loads",
    "predictions": "predictions",
    "ran?": lambda model: model.where and where_words(model.where),
    **optional("p50_ns", "p95_ns", "load_ns", "predictions_per_second", "neural_engine_time", of="quantities."),
}
_TIMES = optional("count", "total_ns", "p50_ns", "p95_ns", of="statistics.")
OPERATION: Keys = {
    "name": "name",
    **_TIMES,
    "parts_ns": lambda operation: {part.part: part.total_ns for part in operation.parts},
}
PHASE: Keys = {"phase": "phase", "signpost": "signpost", "points": "points", **_TIMES}
COVERAGE: Keys = {
    "instrument": "instrument",
    "state": lambda entry: str(entry.state),
    "note": lambda entry: f"{entry.conclusion} {entry.advice}".strip(),
}
FINDING: Keys = {
    **{name: name for name in ("id", "severity", "model", "title", "summary")},
    "savings_ns": "saved_ns",
    # One line of its evidence and of its place in the code.
    "evidence": {"count": "evidence_total", **optional("start_ns", "end_ns", "label", of="evidence.0.")},
    "fix": lambda result: _first_step(result.fix),
    # A fix may shorten each prediction, and save no time in total.
    "savings_each?": lambda result: result.saved and result.saved.each and asdict(result.saved.each),
    "code?": lambda result: _code(result.call_sites[0]) if result.call_sites else None,
}
_CHANGE = {name: name for name in ("answer", "reason", "before_ns", "after_ns", "low", "high")}
COMPARED: Keys = {name: name for name in ("name", "presence", "predictions", "loads", "time_ns")}
FILE = optional("name", "source", "kind", "specification_version", "bytes")
FILE_FINDING: Keys = {"id": "id", "summary": "summary", "fix": lambda result: _first_step(result.fix)}


def brief_report(report: Report, limit: int | None = None, following: Sequence[str] = ()) -> str:
    """Verdict, coverage, models, findings with the first step of their fix, at most `limit` of them (None: what fits),
    and what was not evaluated. `following` replaces the commands to run next, here and below."""
    source = report.recording.source
    findings = with_outcome(report.results, "finding")
    more = {} if limit is None or len(findings) <= limit else {"findings": len(findings) - limit}
    signposts = {
        "operations": [
            projection(operation, OPERATION) for operation in report.operations if operation.statistics is not None
        ],
        "phases": [
            {"runtime": runtime.name} | projection(phase, PHASE)
            for runtime in report.runtimes
            for phase in runtime.phases
        ],
    }
    return capped(
        {
            "verdict": report.summary.verdict,
            "recording": projection(report.recording, RECORDING),
            "findings": [projection(result, FINDING) for result in findings[:limit]],
            "models": [projection(model, MODEL) for model in report.models],
            **{name: rows for name, rows in signposts.items() if rows},
            "not_recorded": [
                projection(entry, COVERAGE)
                for entry in report.coverage
                # An empty table with advice is one that should have rows.
                if not entry.recorded or (entry.advice and not entry.rows)
            ],
            "not_evaluated": _not_evaluated(report.results),
            "next": list(following)
            or [
                *(f"tracekit explain {name}" for name in dict.fromkeys(result.id for result in findings[:2])),
                *([f"tracekit why {source}"] if any(model.predictions for model in report.models) else []),
                f"tracekit sql {source} --list",
            ],
        },
        more,
    )


def brief_answers(results: Sequence[Result], limit: int) -> str:
    """The answers of one check as the JSON report has them, the whole fix, and `limit` intervals of each finding."""
    answers = []
    for result in results:
        fields = _without(to_dict(result), "references", "call_sites", "evidence", "own_fix")
        if result.outcome == "finding":
            fields |= {
                "title": result.title,
                "why": result.why,
                "code": [_code(site) for site in result.call_sites[:3]],
            }
            fields["evidence"] = [_without(to_dict(entry)) for entry in result.evidence[:limit]]
        answers.append(fields)
    fix = next((result.fix for result in results if result.fix), "")
    return capped({"answers": answers} | ({"fix": fix} if fix else {}))


def brief_why(report: WhyReport, document: Document, following: Sequence[str] = ()) -> str:
    """The predictions with the parts of their extra time, and the findings about them."""
    fields = to_dict(report)
    models = [_without(model, "fitting") for model in fields["models"]]
    ids = dict.fromkeys(name for model in models for causes in model["findings"] for name in causes.values())
    return capped(
        {
            "verdict": plain(document.verdict) or report.nothing,
            "source": report.source,
            "models": models,
            **({"slower": fields["slower"]} if report.slower else {}),
            "next": list(following)
            or [f"tracekit why {report.source} --without {name}" for name in ids]
            or [f"tracekit analyze {report.source}"],
        }
    )


def brief_comparison(comparison: Comparison, document: Document, following: Sequence[str] = ()) -> str:
    """What changed: findings, and each model's latency and loads with the interval of the change."""
    fields = to_dict(comparison)
    return capped(
        {
            "verdict": plain(document.verdict),
            **{side: fields[side] for side in ("before", "after")},
            "findings": [_without(finding, "reason") for finding in fields["findings"]],
            "models": [
                projection(model, COMPARED)
                | {name: projection(model[name], _CHANGE) for name in ("latency", "p95") if model.get(name)}
                for model in fields["models"]
            ],
            "notes": [*fields["notes"], *(f"Not recorded: {name}." for name in fields["not_recorded"])],
            "next": list(following) or ["tracekit compare BEFORE AFTER -v", "tracekit why AFTER"],
        }
    )


def brief_gate(gate: Gate, document: Document) -> str:
    """What was checked, what decides first."""
    kept = ("verdict", "subject", "model", "text")
    items = [{name: item[name] for name in kept if item[name]} for item in to_dict(gate)["items"]]
    return capped({"verdict": plain(document.verdict), "items": items, "next": ["tracekit why RECORDING"]})


def brief_model_file(report: ModelReport, commands: Mapping[str, str]) -> str:
    """Facts of a model file, its findings with their fixes, and the commands that write a fixed one."""
    # Briefs on recordings know nothing of model files.
    from tracekit.documents.model_file import engine_verdicts

    findings = with_outcome(report.results, "finding")
    return capped(
        {
            "verdict": "; ".join(engine_verdicts(report)),
            "model": projection(report.model, FILE),
            "findings": [
                projection(result, FILE_FINDING) | ({"command": commands[result.id]} if commands.get(result.id) else {})
                for result in findings
            ],
            "not_evaluated": _not_evaluated(report.results),
            "next": [f"tracekit explain {result.id}" for result in findings[:2]],
        }
    )


def _not_evaluated(results: Iterable[Answer]) -> list[dict[str, str]]:
    """Each reason once, with the checks that it keeps from an answer."""
    checks = grouped(((result.summary, result.record), result.id) for result in with_outcome(results, "not_evaluated"))
    return [
        {"checks": ", ".join(dict.fromkeys(names)), "why": why} | ({"record": record} if record else {})
        for (why, record), names in checks.items()
    ]


def _without(said: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What is known of it, but for these keys."""
    return {name: value for name, value in said.items() if value not in (None, [], "", {}) and name not in names}


def capped(said: dict[str, Any], left_out: Mapping[str, int] = MappingProxyType({})) -> str:
    """The JSON in at most `MOST_BYTES`: from the longest list the last entry goes, until it fits. A list keeps its
    first entry as long as texts can be cut instead. `left_out` is what is missing already, by list. O(size)."""
    left = Counter(left_out)
    for least in (1, 0):
        entries = {name: map(_json, value) for name, value in said.items() if isinstance(value, list)}
        lists = {name: [len(f"{entry}, ".encode()) for entry in value] for name, value in entries.items()}
        length = {name: sum(sizes) for name, sizes in lists.items()}
        spare = len(_written(said, left)) + _COUNTS - MOST_BYTES
        while spare > _COUNTS or (spare > 0 and left):
            droppable = [name for name, sizes in lists.items() if len(sizes) > least]
            if not droppable:
                break
            name = max(droppable, key=length.__getitem__)
            size = lists[name].pop()
            length[name] -= size
            spare -= size
            said[name].pop()
            left[name] += 1
        if len(_written(said, left)) <= MOST_BYTES:
            break
        said = _shortened(said)
    return _written(said, left).decode()


def _written(said: Any, left: Counter[str]) -> bytes:
    more = {"left_out": dict(left)} if left and isinstance(said, dict) else {}
    return f"{_json(said | more if more else said)}\n".encode()


def _json(said: object) -> str:
    """As it leaves: what is escaped counts as such."""
    return escape_json(json.dumps(said, ensure_ascii=False))


def _shortened(said: Any) -> Any:
    if isinstance(said, str):
        return said if len(said) <= _LONG else f"{said[:_LONG]}…"
    if isinstance(said, dict):
        return {name: _shortened(value) for name, value in said.items()}
    return [_shortened(value) for value in said] if isinstance(said, Sequence) else said
