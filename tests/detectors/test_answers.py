"""What rules and plug-ins are written with, and where they find it."""

import ast
import re
from pathlib import Path

import pytest

from support.handover import trace_of
from tracekit import detectors
from tracekit.detectors import Cost, Metric, RecordingView, above, reached, value_of
from tracekit.detectors.answers import MAX_EVIDENCE
from tracekit.detectors.views import model_views
from tracekit.testing.rows import Model

MS = 1_000_000
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "plugin-example" / "tracekit_first_call" / "__init__.py"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "new-detector.md"
METRICS = (
    above("share", "a share of all", 0.4, "share", 0.5),
    Metric("unknown", "a time", None, "ns"),
    above("calls", "all calls", 7, "count", 7),
)


def imports_of_tracekit(path):
    """Modules of tracekit that a file imports or imports from."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return {module for module in modules if module.startswith("tracekit")}


def test_rules_import_the_facade_what_they_share_and_numbers():
    allowed = re.compile(r"tracekit\.(detectors|detectors\.shared(\..*)?|analysis(\..*)?)")
    rules = Path(detectors.__file__).with_name("rules")
    imported = {(path.stem, module) for path in rules.glob("*.py") for module in imports_of_tracekit(path)}
    assert len({stem for stem, _ in imported}) > 30
    assert {(stem, module) for stem, module in imported if not allowed.fullmatch(module)} == set()


def test_the_example_of_a_plug_in_imports_from_one_place():
    assert imports_of_tracekit(EXAMPLE) == {"tracekit.detectors"}


def test_all_that_is_promised_is_there():
    assert [name for name in detectors.__all__ if not hasattr(detectors, name)] == []


@pytest.mark.parametrize(
    ("name", "value", "is_reached"), [("share", 0.4, False), ("unknown", 0, False), ("calls", 7, True)]
)
def test_a_metric_is_found_by_its_id(name, value, is_reached):
    assert (value_of(METRICS, name), reached(METRICS, name)) == (value, is_reached)


def test_there_is_no_metric_with_another_id():
    with pytest.raises(KeyError):
        value_of(METRICS, "shares")


def test_a_finding_counts_the_rows_that_it_does_not_show(scenario):
    for k in range(MAX_EVIDENCE + 5):
        scenario.predict(Model("Net"), k * 10 * MS, (k + 1) * MS // 10)
    (view,) = model_views(trace_of(scenario))
    answer = view.finding("", (), rows=view.predictions, cost=Cost(2, 0.25, "basis"))
    assert answer.evidence_total == MAX_EVIDENCE + 5
    assert len(answer.evidence) == MAX_EVIDENCE
    assert answer.evidence[0].start_ns == (MAX_EVIDENCE + 4) * 10 * MS
    assert answer.cost == Cost(2, 0.25, "basis")
    assert answer.affected.starts.tolist() == [k * 10 * MS for k in range(MAX_EVIDENCE + 5)]


def test_a_cost_is_a_share_of_all_that_the_model_or_the_app_did(scenario):
    scenario.load(Model("Net"), 0, 30 * MS)
    scenario.compile(Model("Net"), 40 * MS, 10 * MS)
    for k in range(2):
        # They overlap for 5 ms: 35 ms are covered.
        scenario.predict(Model("Net", k), (100 + k * 15) * MS, 20 * MS)
    scenario.predict(Model("Other"), 200 * MS, 25 * MS)
    trace = trace_of(scenario)
    (view, _) = model_views(trace)
    assert view.cost(15 * MS, "Words", "Note.") == Cost(
        15 * MS,
        15 / 75,
        "Words, as a share of the time covered by the model's loads, compilations and predictions. Note.",
    )
    assert RecordingView(trace).cost(15 * MS, "Words", once=True) == Cost(
        15 * MS,
        15 / 100,
        "Words, as a share of the time covered by all loads, compilations and predictions.",
        once=True,
    )
    assert view.cost(80 * MS, "Words").share == 1


def test_a_finding_without_a_cost_affects_no_time(scenario):
    scenario.predict(Model("Net"), 0, MS)
    trace = trace_of(scenario)
    assert len(RecordingView(trace).finding("", (), rows=trace.activity).affected) == 0


def test_rows_as_the_page_on_rules_chooses_them_show_a_finding(scenario):
    told = re.search(
        r"^```python\n(from dataclasses.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    rule = {"__name__": "rule"}
    exec(told[1], rule)  # noqa: S102
    for k in range(20):
        scenario.predict(Model("Net"), k * 10 * MS, (5 if k in (3, 17) else 1) * MS)
    assert rule["hangs"](RecordingView(trace_of(scenario))) is None
    scenario.hang(170 * MS, 300 * MS)
    trace = trace_of(scenario)
    (view,) = model_views(trace)
    for choose in (rule["slow_by_rows"], rule["slow_by_pandas"]):
        shown = view.finding("", (), rows=choose(view)).evidence
        assert [(each.start_ns, each.end_ns, each.model) for each in shown] == [
            (k * 10 * MS, (k * 10 + 5) * MS, "Net") for k in (3, 17)
        ]
    seen = RecordingView(trace)
    (hang,) = seen.finding("", (), rows=rule["hangs"](seen)).evidence
    assert (hang.start_ns, hang.end_ns, hang.model, hang.table) == (170 * MS, 470 * MS, None, "potential-hangs")


def test_a_frame_shows_no_finding(scenario):
    scenario.predict(Model("Net"), 0, MS)
    (view,) = model_views(trace_of(scenario))
    with pytest.raises(TypeError, match="takes rows of a view"):
        view.finding("", (), rows=view.predictions.frame())


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "No predictions of this kind, 5 needed; others do not count."),
        (1, "1 prediction of this kind, 5 needed; others do not count."),
    ],
)
def test_too_few_predictions_are_counted(scenario, count, words):
    scenario.predict(Model("Net"), 0, MS)
    (view,) = model_views(trace_of(scenario))
    answer = view.too_few_predictions(count, 5, "of this kind", left_out="others do not count")
    assert answer.model == "Net"
    assert answer.reason.startswith(words)
