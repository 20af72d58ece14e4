"""A number has one value for a model of a recording, wherever it is shown."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest
from lxml import html

import tracekit
from support.analyses import kept_analysis
from tracekit.compare.comparison import compare
from tracekit.compare.matrix import labels_of, matrix, sources_of
from tracekit.compare.measurements import measure
from tracekit.documents.comparison import comparison_document
from tracekit.documents.matrix import matrix_document
from tracekit.render.forms import rendered
from tracekit.report.renderers.concise import render_concise
from tracekit.report.renderers.html.page import render_html
from tracekit.report.renderers.serialize import to_json
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.tui.detail.models import FIELDS

MS = 1_000_000
SAMPLES = (
    "captions_concurrent",
    "not_instrumented",
    "sharpen_8bit",
    "sharpen_float16",
    "style_transfer_fixed",
    "style_transfer_reload",
)


def shown_in(page, groups):
    """(id, model, number) of the cells of a page; `groups` gives the model of a row."""
    for cell in page.xpath("//td[@data-v][@data-quantity or .//*[@data-quantity]]"):
        name = (cell.xpath("@data-quantity") or cell.xpath(".//@data-quantity"))[0]
        yield name, groups(cell), float(cell.get("data-v"))


def collected(trace, report):
    """Every number that is shown of the recording, by id and model: where, and which."""
    found = defaultdict(dict)

    def add(where, numbers):
        for name, model, value in numbers:
            if value is not None:
                found[name, model.strip()].setdefault(where, value)
                assert found[name, model.strip()][where] == pytest.approx(value)

    models = json.loads(to_json(report))["models"]
    add("JSON", ((name, one["name"], value) for one in models for name, value in one["quantities"].items()))
    page = html.fromstring(render_html(report))
    add("HTML", shown_in(page, lambda cell: cell.getparent().xpath("td[1]")[0].text_content()))
    measured = measure(trace, report)
    sources = sources_of([measured])
    side_by_side = matrix(sources, labels_of(sources, [None]))
    add("matrix", ((row.figure, row.model, row.values[0]) for row in side_by_side.rows))
    page = html.fromstring(rendered(matrix_document(side_by_side), "html", width=100))
    add("matrix, HTML", shown_in(page, lambda cell: cell.xpath("ancestor::tbody//th")[0].text_content()))
    compared = compare([measured], [measured])
    # Each table stands below "All figures of MODEL".
    page = html.fromstring(rendered(comparison_document(compared), "html", width=100))
    add("comparison", shown_in(page, lambda cell: cell.xpath("ancestor::details/summary")[0].text_content()[15:]))
    titles = {"median": "p50_ns", "p95": "p95_ns", "fps": "fps", "predictions": "predictions"}
    fields = [(titles[field.title], field.value) for field in FIELDS if field.title in titles]
    add("view", ((name, one.name, value(one)) for one in report.models for name, value in fields))
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_a_number_is_the_same_wherever_it_is_shown(samples, name):
    analysis = kept_analysis(samples / f"{name}.trace")
    found = collected(analysis.trace, analysis.report)
    # Pages hold two decimals.
    differing = {key: places for key, places in found.items() if max(places.values()) - min(places.values()) > 0.0051}
    assert not differing
    if name != "not_instrumented":
        latency = {place for (quantity, _), places in found.items() if "p50_ns" in quantity for place in places}
        assert latency == {"JSON", "HTML", "matrix", "matrix, HTML", "comparison", "view"}


@pytest.fixture
def tenth(tmp_path):
    """One load and 30 predictions: every tenth takes 40 ms, the others 8 ms."""
    scenario = Scenario(Process("App", 7), duration_ns=10_000 * MS)
    scenario.load(Model("Net"), 0, 50 * MS)
    for index in range(30):
        scenario.predict(Model("Net"), (100 + 50 * index) * MS, (40 if index % 10 == 0 else 8) * MS)
    write_export(scenario, tmp_path / "export")
    return tmp_path / "export"


def test_a_budget_is_compared_with_the_p95_of_the_models(tenth):
    report = tracekit.analyze(tenth, budget="16ms")
    (model,) = report.models
    # 27 of the 29 warm predictions take 8 ms: the 95th percentile lies 0.6 of the way from the 27th to the 28th value.
    assert model.quantities["p95_ns"] == pytest.approx((8 + 0.6 * 32) * MS)
    # 1 s / 27.2 ms is 36.8.
    assert (model.quantities["fps"], model.quantities["fps_at_p95"]) == (125, 36)
    (missed,) = (check for check in report.results if check.id == "missed-deadline" and check.model == "Net")
    assert {metric.name: metric.value for metric in missed.metrics}["p95"] == model.quantities["p95_ns"]
    assert "p95 is 27.2 ms, fast enough for 36 fps." in missed.summary
    text = " ".join(render_concise(report, width=100, color=False).split())
    assert "Net 8.00 ms 27.20 ms" in text
    assert "fast enough for 125 fps (36 at p95)" in text


def test_two_shares_of_one_unit_have_two_names(samples):
    report = kept_analysis(samples / "sharpen_8bit.trace").report
    (model,) = report.models
    assert model.quantities["neural_engine_compute"] == 1
    assert round(model.quantities["neural_engine_time"], 2) == 0.61
