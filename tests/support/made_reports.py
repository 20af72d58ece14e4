"""Reports made by hand, with every kind of content that a renderer meets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.analysis.aggregation import AggregationRow
from tracekit.analysis.models import ModelSummary
from tracekit.analysis.statistics import Statistics
from tracekit.detectors.outcomes import Cost, Evidence, Metric, Savings
from tracekit.detectors.pages import Reference
from tracekit.recording.table import TableState
from tracekit.report.build import finding_info
from tracekit.report.groups import findings
from tracekit.report.report import SCHEMA_VERSION, RecordingInfo, Report, Result, Rule, TableInfo, ToolInfo
from tracekit.report.verdict import summarize
from tracekit.trace.trace import Coverage

FIX = """Create the model once and keep it in a `lazy var`:

```swift
final class StyleFilter {
    lazy var model = try? StyleTransfer(configuration: .init())
}
```

In coremltools, keep the `MLModel` object.
"""

HOSTILE = "\x1b[31mred\x1b[0m [bold]b[/bold] a|b `c` <img src=x> [l](http://e) \u202eevil\x9b2J \ud800 @you #1 *s* _u_"
"""Escape sequences, rich markup, Markdown, HTML, a bidirectional override, a lone surrogate."""


def statistics(count: int, mean_ns: int, *, union: int | None = None) -> Statistics:
    """Statistics of durations spread around a mean; quantiles only where there are enough values."""
    enough = count >= 20
    return Statistics(
        count=count,
        total_ns=count * mean_ns,
        elapsed_ns=count * mean_ns if union is None else union,
        mean_ns=float(mean_ns),
        min_ns=mean_ns // 2,
        p50_ns=mean_ns * 0.96,
        p90_ns=mean_ns * 1.3 if enough else None,
        p95_ns=mean_ns * 1.5 if enough else None,
        p99_ns=mean_ns * 1.9 if count >= 100 else None,
        max_ns=mean_ns * 2,
        stdev_ns=mean_ns * 0.2 if count > 1 else None,
    )


def event(model: str | None, lane: str, label: str, kind: str, numbers: Statistics, **more: object) -> AggregationRow:
    """One row of an aggregation."""
    values = {"guessed": False, "level": "top", "warm": None} | more
    return AggregationRow(lane=lane, label=label, kind=kind, model=model, statistics=numbers, **values)


def model(name: str, loads: int, predictions: int) -> ModelSummary:
    """A model with loads of 17.17 ms and predictions of 7.2 ms."""
    return ModelSummary(
        name=name,
        level="top",
        parents=(),
        instances=None,
        loads=loads,
        cold_loads=None,
        predictions=predictions,
        prediction=statistics(predictions, 7_200_000) if predictions else None,
        load=statistics(loads, 17_170_000) if loads else None,
    )


def check(
    outcome: str, name: str = "reload-before-predict", model: str | None = "Watercolor", **more: object
) -> Result:
    """A result with the texts that its outcome has, and a rule of its own with those of `more` that are a rule's."""
    is_finding = outcome == "finding"
    rule = {
        "title": "Models stay loaded",
        "finding_title": "The model is reloaded before every prediction",
        "pattern": "2a cache miss or slow first load",
        "why": "Loading costs more than predicting and holds up every call.",
        "fix": FIX,
        "references": (Reference("WWDC22 10027", "https://developer.apple.com/videos/play/wwdc2022/10027/"),),
    }
    rule |= {key: more.pop(key) for key in rule if key in more}
    values = {
        "severity": "critical" if is_finding else None,
        "summary": "75 loads for 75 predictions." if is_finding else f"The sentence of {outcome}.",
        "own_fix": "",
        "record": "Record longer." if outcome == "not_evaluated" else "",
        "metrics": (
            Metric("per-prediction", "loads per prediction", 1.0, "ratio", 0.5, "above"),
            Metric("mean-load", "mean load", 17_170_000.0, "ns", None, None),
            Metric("single-use", "loads used at most once", None, "share", 0.8, "above"),
        )
        if is_finding
        else (),
        "cost": Cost(1_270_000_000, 0.69, "Time covered by the reloads.") if is_finding else None,
        "caveats": (),
        "savings": None,
        "related": (),
        "evidence": tuple(
            Evidence(n * 137_000_000, n * 137_000_000 + 17_170_000 + n, model, "Load", "coreml-os-signpost", n)
            for n in range(1, 13)
        )
        if is_finding
        else (),
        "evidence_total": 74 if is_finding else 0,
        "call_sites": (),
    } | more
    if cost := values["cost"]:
        values["savings"] = Savings(cost.ns, cost.ns, cost.share, round(cost.ns / cost.share), cost.basis, cost.of)
    return Result(id=name, outcome=outcome, model=model, rule=Rule(id=name, **rule), **values)


RECORDING = RecordingInfo(
    source="style_transfer.xml",
    input_type="xctrace export XML",
    run=1,
    runs=(1, 2),
    platform="iOS",
    device_model="iPhone 13 Pro",
    device_name=None,
    os_version="16.0 (20A5283p)",
    target="StyleTransfer",
    target_pid=1234,
    target_kind="launched",
    arguments=None,
    template="Core ML",
    instruments_version="14.0 (14A5228q)",
    start_date="2022-06-06T10:00:00.000-07:00",
    duration_ns=10_210_000_000,
    end_reason="Time limit reached",
    recording_mode="Deferred",
    imported_from=None,
    notes=("2 duplicate rows were left out.",),
    redacted=True,
)

COVERAGE = (
    Coverage("Core ML", TableState.ROWS, ("coreml-os-signpost",), 1492, "Loads and predictions of the target.", "", {}),
    Coverage(
        "Neural Engine",
        TableState.EMPTY,
        ("ane-hw-intervals",),
        0,
        "The Neural Engine instrument recorded no events.",
        "Record on a device with a Neural Engine.",
        {},
    ),
    Coverage(
        "GPU",
        TableState.ROWS,
        ("metal-gpu-intervals",),
        400,
        "Shows the whole machine.",
        "",
        {"label": 0.25, "foreign": 0.75},
    ),
    Coverage(
        "Thermal State",
        TableState.MISSING,
        ("device-thermal-state-intervals",),
        None,
        "Thermal State was not recorded.",
        "Add the Thermal State instrument.",
        {},
    ),
)

TABLES = (
    TableInfo("coreml-os-signpost", "rows", 1492, 12, {"target-pid": "SINGLE"}, "style_transfer.xml", ""),
    TableInfo("ane-hw-intervals", "empty", 0, 7, {}, "style_transfer.xml", ""),
    TableInfo("metal-gpu-intervals", "unreadable", None, None, {}, "gpu.xml", "cut off"),
)


def report_of(
    checks: list[Result], models: tuple[ModelSummary, ...], aggregation: tuple[AggregationRow, ...]
) -> Report:
    """A whole report."""
    order = ("finding", "error", "not_evaluated", "passed", "not_applicable")
    ordered = tuple(sorted(checks, key=lambda entry: (order.index(entry.outcome), -(entry.saved_ns or 0))))
    return Report(
        SCHEMA_VERSION,
        ToolInfo("tracekit", "0.1.0", None),
        RECORDING,
        TABLES,
        COVERAGE,
        models,
        aggregation,
        tuple(map(finding_info, findings(ordered))),
        ordered,
        None,
        summarize(ordered),
    )


def events(name: str, loads: int, predictions: int) -> tuple[AggregationRow, ...]:
    """Rows of one model in all lanes."""
    return (
        event(name, "activity", "Load", "load", statistics(loads, 17_170_000)),
        event(
            name,
            "activity",
            "Prediction",
            "prediction",
            statistics(predictions, 7_200_000),
            warm=statistics(predictions - 5, 7_000_000),
        ),
        event(name, "compute", "Neural Engine Request", "neural_engine_request", statistics(predictions, 3_500_000)),
        event(name, "compute", "GPU Request", "gpu_request", statistics(predictions, 2_700_000, union=200_000_000)),
        event(name, "data", "Input Copy", "input_copy", statistics(predictions, 52_300)),
        event(name, "data", "Input Validation", "input_validation", statistics(1, 840)),
    )


STYLES = ("Watercolor", "Mosaic", "Candy", "Starry Night", "Udnie", "The Great Wave off Kanagawa, half precision")


@pytest.fixture
def full() -> Report:
    """Findings of two detectors in several models, and every other outcome."""
    checks = [
        check(
            "finding",
            model=name,
            cost=Cost(1_300_000_000 - n * 10_000_000, 0.69 - n * 0.1, "Time covered by the reloads."),
            severity=("critical", "critical", "high", "high", "medium", "medium")[n],
        )
        for n, name in enumerate(STYLES)
    ]
    checks += [
        check(
            "finding",
            "excess-data-copies",
            "Candy",
            finding_title="Inputs are copied and cast around each request",
            severity="low",
            summary="Copies take 8.2% of each prediction.",
            cost=Cost(43_000_000, 0.082, "Copy time."),
        ),
        *(check("passed", "excess-data-copies", name) for name in STYLES[:2]),
        check("not_evaluated", "concurrent-predictions", "Mosaic"),
        check("error", "concurrent-predictions", "Udnie", summary="ZeroDivisionError: division by zero"),
        check("not_applicable", "concurrent-predictions", "Candy"),
    ]
    models = tuple(model(name, 75, 75) for name in STYLES)
    aggregation = tuple(row for name in STYLES for row in events(name, 75, 75))
    hardware = event(None, "gpu", "Vertex", "gpu_exec", statistics(400, 120_000))
    return report_of(checks, models, (*aggregation, hardware))


@pytest.fixture
def clean() -> Report:
    """Every check looked and found nothing."""
    return report_of(
        [check("passed"), check("passed", "excess-data-copies")],
        (model("Watercolor", 1, 120),),
        events("Watercolor", 1, 120),
    )


@pytest.fixture
def not_judged() -> Report:
    """The Core ML table is empty, so no check could look."""
    reason = "The Core ML table was recorded and is empty: the app does not carry the get-task-allow entitlement."
    advice = "Sign the app for development, then record again."
    core_ml = Coverage("Core ML", TableState.EMPTY, ("coreml-os-signpost",), 0, reason, advice, {})
    checks = [
        check("not_evaluated", name, None, summary=reason, record=advice)
        for name in ("reload-before-predict", "excess-data-copies", "concurrent-predictions")
    ]
    report = report_of(
        checks,
        (),
        (event(None, "neural-engine", "Neural Engine Prediction", "neural_engine_exec", statistics(599, 11_720_000)),),
    )
    return replace(report, coverage=(core_ml, *COVERAGE[2:]))


@pytest.fixture
def failed() -> Report:
    """The only check failed."""
    return report_of(
        [check("error", summary="KeyError: 'start_ns'")], (model("Watercolor", 1, 2),), events("Watercolor", 1, 12)
    )


@pytest.fixture
def hostile() -> Report:
    """Names and texts that try to leave their place."""
    name = f"{HOSTILE}\nsecond line"
    report = report_of(
        [
            check("finding", model=name, summary=f"About {name}."),
            check("passed", model=name),
            check("error", "x", name, summary=name),
            check("not_evaluated", "y", name, summary=name, record=name),
        ],
        (model(name, 3, 30),),
        events(name, 3, 30),
    )
    recording = replace(RECORDING, source=name, target=name, device_model=name, template=name, notes=(name,))
    coverage = tuple(replace(entry, conclusion=name) for entry in COVERAGE)
    return replace(report, recording=recording, coverage=coverage)


@pytest.fixture(scope="session")
def many() -> Report:
    """Very many models."""
    return report_of_models(400)


@pytest.fixture(scope="session")
def hundred() -> Report:
    """Enough models that all of their numbers take as much room as those of very many."""
    return report_of_models(120)


def report_of_models(count: int) -> Report:
    """Models with long names that differ in the middle and at the end."""
    labels = [f"模型 {n} " + "x" * 240 + f" Ünïcødé-{n}" for n in range(count)]
    return report_of(
        [check("finding", model=name) for name in labels],
        tuple(model(name, 5, 40) for name in labels),
        tuple(row for name in labels for row in events(name, 5, 40)),
    )
