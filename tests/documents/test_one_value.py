"""A number has one value for a model of a recording, wherever it is shown."""

import datetime as dt
import json
import re
from collections import defaultdict
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import pytest
from lxml import html

from suite.frame import detector_ids, draws_of, load, module_of, read_back
from suite.reported import reported
from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import html_page, markdown, short_text
from support.handover import trace_of
from support.performance_reports import whole_report
from support.samples import SAMPLES
from tracekit.analysis.quantities import MODEL
from tracekit.api import judge
from tracekit.comparison.comparison import compare
from tracekit.comparison.gate import check
from tracekit.comparison.matrix import labels_of, matrix, source_of_report, sources_of
from tracekit.comparison.measuring import measure
from tracekit.comparison.settings import CheckSettings, Limit
from tracekit.documents.comparison import comparison_document
from tracekit.documents.matrix import matrix_document
from tracekit.documents.performance import performance_report_document
from tracekit.documents.report import report_document
from tracekit.model_files.performance.read import report_of
from tracekit.render.blocks import Card, Document, Role, Section, Table, plain, spans
from tracekit.render.forms import render
from tracekit.report.formatting import ABSENT, duration, frames
from tracekit.report.performance import inspected_performance
from tracekit.report.serialize import to_json
from tracekit.request import request_of
from tracekit.testing import Model, Process, Scenario
from tracekit.tui.detail.statistics import COLUMNS as VIEW_COLUMNS

MS = 1_000_000
TODAY = dt.date(2026, 1, 1)


LIMITS = {"p50": "p50_ns", "p95": "p95_ns", "load": "load_ns", "cold-load": "cold_load_ns"}
LIMITS["neural-engine"] = "neural_engine_compute"
"""Limits of `tracekit check` that hold a number of a model, and its id."""
CASES, CASES_OF_A_RUN = 100, 10
"""Labeled recordings with `--every-case`, and without."""


def tolerance(name):
    """Pages hold two decimals, measurements that are stored a tenth of a nanosecond."""
    return 0.051 if name.endswith("_ns") else 0.0051


def chosen_cases(count):
    """Module and number of so many labeled recordings: the first of each detector, then some further on."""
    modules = [module_of(detector) for detector in detector_ids()]
    turns = ((module, 7 * turn) for turn in range(CASES) for module in modules)
    return list(islice((key for key in turns if key[1] < len(load(key[0]))), count))


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        keys = chosen_cases(CASES if metafunc.config.getoption("--every-case") else CASES_OF_A_RUN)
        metafunc.parametrize("case", keys, ids=lambda key: f"{key[0]} {key[1]}")


def shown_in(page, groups):
    """(id, model, number) of the cells of a page; `groups` gives the model of a row."""
    for cell in page.xpath("//td[@data-v][@data-quantity or .//*[@data-quantity]]"):
        name = (cell.xpath("@data-quantity") or cell.xpath(".//@data-quantity"))[0]
        yield name, groups(cell), float(cell.get("data-v"))


class Collected:
    """Every number that is shown of a recording, by id and model: where, and which."""

    def __init__(self):
        self.found = defaultdict(dict)

    def add(self, where, numbers):
        for name, model, value in numbers:
            if value is not None:
                known = self.found[name, model.strip()].setdefault(where, value)
                assert known == pytest.approx(value, abs=tolerance(name)), (where, name, model)

    @property
    def differing(self):
        """Numbers that have several values."""
        return {key: of for key, of in self.found.items() if max(of.values()) - min(of.values()) > tolerance(key[0])}

    def places(self, *quantities):
        """Where a number is shown of any model."""
        return {place for (quantity, _), of in self.found.items() if quantity in quantities for place in of}


def collected(trace, report):
    """The numbers of all documents about one recording."""
    numbers = Collected()
    models = json.loads(to_json(report))["models"]
    numbers.add("JSON", ((name, one["name"], value) for one in models for name, value in one["quantities"].items()))
    page = html.fromstring(html_page(report))
    numbers.add("HTML", shown_in(page, lambda cell: cell.getparent().xpath("td[1]")[0].text_content()))
    numbers.add("findings", of_findings(report))
    of_view = [column for column in VIEW_COLUMNS if column.quantity]
    numbers.add("view", ((field.quantity, one.name, field.value(one)) for one in report.models for field in of_view))
    measured = measure(trace, report)
    sources = sources_of([measured])
    side_by_side = matrix(sources, labels_of(sources, [None]))
    numbers.add("matrix", ((row.figure, row.model, row.values[0]) for row in side_by_side.rows))
    page = html.fromstring(render(matrix_document(side_by_side), "html", width=100))
    models = "preceding::th[@scope='rowgroup'][1]"
    numbers.add("matrix, HTML", shown_in(page, lambda cell: cell.xpath(models)[0].text_content()))
    compared = compare([measured], [measured])
    # Each table stands below "All figures of MODEL".
    page = html.fromstring(render(comparison_document(compared), "html", width=100))
    numbers.add(
        "comparison", shown_in(page, lambda cell: cell.xpath("ancestor::details/summary")[0].text_content()[15:])
    )
    gate = check([measured], CheckSettings(limits=tuple(Limit("*", name, 0) for name in LIMITS)), None, today=TODAY)
    of_gate = ((LIMITS[item.subject], item.model, item.value) for item in gate.items if item.subject in LIMITS)
    numbers.add("check", (number for number in of_gate if number[1]))
    return numbers


def of_findings(report):
    """Metrics that are called as a number of the model is, without another population."""
    ids = {MODEL[name].title: name for name in ("p50_ns", "p95_ns")}
    for result in report.results:
        for metric in result.metrics:
            if metric.name in ids and result.model is not None:
                yield ids[metric.name], result.model, metric.value


def tables_in(markdown):
    """Rows of the tables of a Markdown text, by title of the column."""
    titles, lines = [], markdown.splitlines()
    for line, following in pairwise([*lines, ""]):
        cells = re.split(r" *(?<!\\)[|] *", line.strip("| "))
        if re.fullmatch(r"[|][-:| ]+", following):
            titles = cells
        elif line.startswith("|") and not re.fullmatch(r"[|][-:| ]+", line):
            yield dict(zip(titles, cells, strict=False))


def check_markdown(report):
    """The words in the table of models are those of the numbers; how many are."""
    texts = {"median": ("p50_ns", duration), "p95": ("p95_ns", duration), "fps": ("fps", frames)}
    by_name = {model.name.strip(): model.quantities for model in report.models}
    rows = [row for row in tables_in(markdown(report)) if {"model", "predictions", "median", "p95"} <= set(row)]
    for row in rows:
        for title, (name, form) in texts.items():
            # A column of which no model has a number is left out.
            assert row.get(title, ABSENT) == form(by_name[row["model"].strip("`")].get(name))
    return len(rows)


SCALES = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1, "%": 0.01}
"""What a number with its unit is multiplied by."""


def tables_of(blocks):
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Section | Card):
            yield from tables_of(block.blocks)


def printed(table, column):
    """What the text back end prints of a column, a line for each row."""
    alone = replace(table, columns=(column,), total=False, parts=False, cards=False, brief=None)
    lines = render(Document("", "", Role.PLAIN, blocks=(alone,)), "text", width=100).splitlines()
    return lines[len(lines) - len(table.rows) :]


def check_text(document):
    """What text shows of each number with an id is that number, but for the digits that it leaves out; how many are."""
    count = 0
    for table in tables_of(document.blocks):
        for column in (column for column in table.columns if column.value is not None):
            if table.instead is not None:
                said = " ".join(plain(entry.head) for entry in table.instead.entries)
                # Numbers of units and instruments are in pages, and in text beside the names of models.
                known = column.quantity or table.quantities
                assert not known or all(plain(column.text(row)) in said for row in table.rows)
                continue
            for row, text in zip(table.rows, printed(table, column), strict=True):
                (cell, *_) = spans(column.text(row))
                value = column.value(row)
                assert text.split() == plain(column.text(row)).split()
                if value is not None and (column.quantity or cell.quantity):
                    whole, decimals, unit = re.search(r"([\d,]+)([.]\d+)? ?(s|ms|µs|ns|%)?", text).groups()
                    scale = SCALES.get(unit, 1)
                    # A rate is rounded down, anything else to the nearest.
                    digit = scale * 10 ** -(len(decimals or ".") - 1)
                    assert float(f"{whole.replace(',', '')}{decimals or ''}") * scale == pytest.approx(value, abs=digit)
                    count += 1
    return count


WITHOUT_CORE_ML = ("not_instrumented", "local_chat", "meal_planner")
"""Samples that show no prediction."""


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", sweep_rest(*SAMPLES))
def test_a_number_is_the_same_wherever_it_is_shown(samples, name):
    analysis = kept_analysis(samples / f"{name}.trace")
    found = collected(analysis.trace, analysis.report)
    assert not found.differing
    if name not in WITHOUT_CORE_ML:
        everywhere = {"JSON", "HTML", "matrix", "matrix, HTML", "comparison", "check", "view"}
        assert found.places("p50_ns", "all_p50_ns") >= everywhere
        assert "HTML" in found.places("all_mean_neural_engine_ns", "all_mean_gpu_ns", "all_mean_cpu_ns")
        assert check_markdown(analysis.report) > 0


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", sweep_rest(*SAMPLES))
def test_text_shows_the_numbers_of_the_report(samples, name):
    analysis = kept_analysis(samples / f"{name}.trace")
    measured = measure(analysis.trace, analysis.report)
    sources = sources_of([measured])
    documents = (
        report_document(analysis.report),
        matrix_document(matrix(sources, labels_of(sources, [None]))),
        comparison_document(compare([measured], [measured])),
    )
    counts = [check_text(document) for document in documents]
    assert name in WITHOUT_CORE_ML or all(counts)


def test_the_numbers_of_a_performance_report_are_the_same_in_inspect_and_in_a_matrix():
    inspected = inspected_performance(report_of(whole_report(), Path("report.json")))
    document = performance_report_document(inspected)
    sources = [source_of_report(inspected.performance)]
    numbers = Collected()
    side_by_side = matrix(sources, labels_of(sources, [None]))
    (model,) = {row.model for row in side_by_side.rows}
    numbers.add("matrix", ((row.figure, model, row.values[0]) for row in side_by_side.rows))
    numbers.add("inspect", shown_in(html.fromstring(render(document, "html", width=100)), lambda _: model))
    assert not numbers.differing
    assert numbers.places("p50_ns") == numbers.places("load_ns") == {"inspect", "matrix"}
    assert check_text(document) > 0


@pytest.mark.turns(4)
def test_a_number_of_a_labeled_recording_is_the_same_wherever_it_is_shown(case):
    module, number = case
    labeled = load(module)[number]
    trace = read_back(labeled.build(draws_of(labeled, number)), bundle=labeled.bundle)
    entry = reported(trace, settings=labeled.settings)
    assert not collected(trace, entry.report).differing
    check_markdown(entry.report)


def test_the_labeled_recordings_are_of_every_detector():
    assert len(set(chosen_cases(CASES))) == CASES
    assert {module for module, _ in chosen_cases(CASES)} == {module_of(detector) for detector in detector_ids()}


def test_a_budget_is_compared_with_the_p95_of_the_models():
    # One load and 30 predictions: every tenth takes 40 ms, the others 8 ms.
    scenario = Scenario(Process("App", 7), duration_ns=10_000 * MS)
    scenario.load(Model("Net"), 0, 50 * MS)
    for index in range(30):
        scenario.predict(Model("Net"), (100 + 50 * index) * MS, (40 if index % 10 == 0 else 8) * MS)
    report = judge(trace_of(scenario), request_of(budget="16ms"))
    (model,) = report.models
    # 27 of the 29 warm predictions take 8 ms: the 95th percentile lies 0.6 of the way from the 27th to the 28th value.
    assert model.quantities["p95_ns"] == pytest.approx((8 + 0.6 * 32) * MS)
    # 1 s / 27.2 ms is 36.8.
    assert (model.quantities["fps"], model.quantities["fps_at_p95"]) == (125, 36)
    (missed,) = (check for check in report.results if check.id == "missed-deadline" and check.model == "Net")
    assert {metric.name: metric.value for metric in missed.metrics}["p95"] == model.quantities["p95_ns"]
    assert "p95 is 27.2 ms, fast enough for 36 fps." in missed.summary
    text = " ".join(short_text(report, width=100, color=False).split())
    assert "Net 8.00 ms 27.2 ms" in text
    assert "fast enough for 125 fps (36 at p95)" in text


def test_two_shares_of_one_unit_have_two_names(samples):
    report = kept_analysis(samples / "sharpen_8bit.trace").report
    (model,) = report.models
    assert model.quantities["neural_engine_compute"] == 1
    assert round(model.quantities["neural_engine_time"], 2) == 0.61
