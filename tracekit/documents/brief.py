"""What a program with little room asks first, as JSON of at most 8 kB: `--format brief`. Each form says the verdict,
what it rests on, the worst first, and what to ask next. What does not fit is counted in `left_out`. Keys are those of
the JSON reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from tracekit.characters import escape_json
from tracekit.grouping import grouped
from tracekit.render.blocks import Document, plain
from tracekit.report.groups import with_outcome
from tracekit.report.serialize import to_dict, to_json

if TYPE_CHECKING:
    from tracekit.analysis.code.sites import CallSite
    from tracekit.analysis.statistics import Statistics
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
_FIGURES = ("p50_ns", "p95_ns", "load_ns", "predictions_per_second", "neural_engine_time")
_LATENCY = ("answer", "reason", "before_ns", "after_ns", "low", "high")


def brief_report(report: Report, limit: int | None = None, following: Sequence[str] = ()) -> str:
    """Verdict, coverage, models, findings with the first step of their fix, at most `limit` of them (None: what fits),
    and what was not evaluated. `following` replaces the commands to run next, here and below."""
    source = report.recording.source
    found = with_outcome(report.results, "finding")
    more = {} if limit is None or len(found) <= limit else {"findings": len(found) - limit}
    return capped(
        {
            "verdict": report.summary.verdict,
            "recording": _kept(report.recording, "source", "device_model", "os_version", "target", "duration_ns"),
            "findings": [_finding(result) for result in found[:limit]],
            "models": [
                {"model": each.name, "loads": each.loads, "predictions": each.predictions}
                | {name: each.quantities[name] for name in _FIGURES if each.quantities.get(name) is not None}
                for each in report.models
            ],
            **_signposts(report),
            "not_recorded": [
                {
                    "instrument": each.instrument,
                    "state": str(each.state),
                    "note": f"{each.conclusion} {each.advice}".strip(),
                }
                for each in report.coverage
                # An empty table with advice is one that should have rows.
                if not each.recorded or (each.advice and not each.rows)
            ],
            "not_evaluated": _not_evaluated(report.results),
            "next": list(following)
            or [
                *(f"tracekit explain {name}" for name in dict.fromkeys(result.id for result in found[:2])),
                *([f"tracekit why {source}"] if any(each.predictions for each in report.models) else []),
                f"tracekit sql {source} --list",
            ],
        },
        more,
    )


def brief_answers(results: Sequence[Result], limit: int) -> str:
    """The answers of one check as the JSON report has them, the whole fix, and `limit` intervals of each finding."""
    answers = []
    for result in results:
        said = _without(to_dict(result), "references", "call_sites", "evidence", "own_fix")
        if result.outcome == "finding":
            said |= {"title": result.title, "why": result.why, "code": [_code(site) for site in result.call_sites[:3]]}
            said["evidence"] = [_without(to_dict(each)) for each in result.evidence[:limit]]
        answers.append(said)
    fix = next((result.fix for result in results if result.fix), "")
    return capped({"answers": answers} | ({"fix": fix} if fix else {}))


def brief_why(report: WhyReport, document: Document, following: Sequence[str] = ()) -> str:
    """The predictions with the parts of their extra time, and the findings about them."""
    said = json.loads(to_json(report))
    models = [_without(model, "fitting") for model in said["models"]]
    found = dict.fromkeys(name for model in models for causes in model["findings"] for name in causes.values())
    return capped(
        {
            "verdict": plain(document.verdict) or report.nothing,
            "source": report.source,
            "models": models,
            **({"slower": said["slower"]} if report.slower else {}),
            "next": list(following)
            or [f"tracekit whatif {report.source} {name}" for name in found]
            or [f"tracekit analyze {report.source}"],
        }
    )


def brief_comparison(comparison: Comparison, document: Document, following: Sequence[str] = ()) -> str:
    """What changed: findings, and each model's latency and loads with the interval of the change."""
    said = json.loads(to_json(comparison))
    return capped(
        {
            "verdict": plain(document.verdict),
            **{side: said[side] for side in ("before", "after")},
            "findings": [_without(finding, "reason") for finding in said["findings"]],
            "models": [
                {name: model[name] for name in ("name", "presence", "predictions", "loads", "time_ns")}
                | {name: {key: model[name][key] for key in _LATENCY} for name in ("latency", "p95") if model.get(name)}
                for model in said["models"]
            ],
            "notes": [*said["notes"], *(f"Not recorded: {name}." for name in said["not_recorded"])],
            "next": list(following) or ["tracekit compare BEFORE AFTER -v", "tracekit why AFTER"],
        }
    )


def brief_gate(gate: Gate, document: Document) -> str:
    """What was checked, what decides first."""
    said = json.loads(to_json(gate))
    items = [
        {name: item[name] for name in ("verdict", "subject", "model", "text") if item[name]} for item in said["items"]
    ]
    return capped({"verdict": plain(document.verdict), "items": items, "next": ["tracekit why RECORDING"]})


def brief_model_file(report: ModelReport, document: Document, commands: Mapping[str, str]) -> str:
    """Facts of a model file, its findings with their fixes, and the commands that write a fixed one."""
    found = with_outcome(report.results, "finding")
    return capped(
        {
            "verdict": plain(document.verdict),
            "model": _kept(report.model, "name", "source", "kind", "specification_version", "bytes"),
            "findings": [
                {"id": result.id, "summary": result.summary, "fix": _first_step(result.fix)}
                | ({"command": commands[result.id]} if commands.get(result.id) else {})
                for result in found
            ],
            "not_evaluated": _not_evaluated(report.results),
            "next": [f"tracekit explain {result.id}" for result in found[:2]],
        }
    )


def _signposts(report: Report) -> dict[str, Any]:
    """Operations of the app with the parts of their time, and phases of other runtimes; no key where there are none."""
    operations = [
        {"name": each.name} | _times(each.statistics) | {"parts_ns": {part.part: part.total_ns for part in each.parts}}
        for each in report.operations
        if each.statistics is not None
    ]
    phases = [
        {"runtime": runtime.name, "phase": each.phase, "signpost": each.signpost, "points": each.points}
        | _times(each.statistics)
        for runtime in report.runtimes
        for each in runtime.phases
    ]
    return {name: values for name, values in (("operations", operations), ("phases", phases)) if values}


def _times(statistics: Statistics | None) -> dict[str, Any]:
    return {} if statistics is None else _kept(statistics, "count", "total_ns", "p50_ns", "p95_ns")


def _finding(result: Result) -> dict[str, Any]:
    """A finding, with one line of its evidence and of its place in the code."""
    said: dict[str, Any] = {
        "id": result.id,
        "severity": result.severity,
        "model": result.model,
        "title": result.title,
        "summary": result.summary,
        "savings_ns": result.own_savings_ns,
        "evidence": {"count": result.evidence_total},
        "fix": _first_step(result.fix),
    }
    if result.cost is not None and result.cost.each is not None:
        # A fix may shorten each prediction, and save no time in total.
        said["savings_each"] = asdict(result.cost.each)
    if result.evidence:
        first = result.evidence[0]
        said["evidence"] |= {"start_ns": first.start_ns, "end_ns": first.end_ns, "label": first.label}
    if result.call_sites:
        said["code"] = _code(result.call_sites[0])
    return said


def _code(site: CallSite) -> str:
    # A model file is inspected without pandas.
    from tracekit.report.call_sites import line_of

    return " in ".join(filter(None, (line_of(site), site.function or "")))


def _not_evaluated(results: Iterable[Answer]) -> list[dict[str, str]]:
    """Each reason once, with the checks that it keeps from an answer."""
    checks = grouped(((each.summary, each.record), each.id) for each in with_outcome(results, "not_evaluated"))
    return [
        {"checks": ", ".join(dict.fromkeys(names)), "why": why} | ({"record": record} if record else {})
        for (why, record), names in checks.items()
    ]


def _first_step(fix: str) -> str:
    """The first paragraph of a fix, with the code that it leads to; `tracekit explain` has the rest."""
    said, _, more = fix.strip().partition("\n\n")
    code = f"\n\n{more.partition(_FENCE_END)[0]}{_FENCE_END}" if said.endswith(":") and more.startswith("```") else ""
    return " ".join(said.split()) + code


def _kept(thing: object, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(thing, name)) is not None}


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
