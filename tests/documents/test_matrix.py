"""Matrices as they are printed."""

import csv
import io

import pytest
from lxml import html
from rich.cells import cell_len

from tracekit.comparison.matrix import Figures, Source, labels_of, matrix, sources_of
from tracekit.comparison.renderers.tables import render_csv
from tracekit.documents.matrix import matrix_document
from tracekit.render.forms import render


def written(table, form, width=100):
    return render(matrix_document(table), form, width=width)


SAMPLES = ("sharpen_8bit", "sharpen_float16", "style_transfer_reload", "not_instrumented")


@pytest.fixture(scope="module")
def table(measured):
    sources = sources_of([measured(name) for name in SAMPLES])
    return matrix(sources, labels_of(sources, [None] * len(sources)))


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_no_line_is_wider_than_the_screen(table, width):
    assert max(map(cell_len, written(table, "text", width).splitlines())) <= width


def test_text_marks_the_best_of_a_row(table):
    text = written(table, "text", 200)
    (median,) = [line for line in text.splitlines() if line.startswith("  median") and "12.4" in line]
    assert median.split() == ["median", "12.4", "ms", "*8.68", "ms"]
    assert "best of its row, by more than 5%" in text


def test_a_narrow_screen_leaves_out_models_that_none_of_its_columns_holds(table):
    text = written(table, "text", 60)
    # Once beside each of the two recordings that hold it, which stand below one another.
    assert text.count("SharpenFilter\n") == 2


def test_markdown_has_a_column_for_each_recording(table):
    lines = written(table, "markdown").splitlines()
    assert lines[0] == "| model |  | " + " | ".join(f"{name}.trace".replace("_", "\\_") for name in SAMPLES) + " |"
    assert "| `SharpenFilter` | median | 12.4 ms | **\\*8.68 ms** |  |  |" in lines


def test_a_page_has_a_row_for_each_model_of_a_recording_and_no_other(table):
    page = html.fromstring(render(matrix_document(table, "html"), "html", width=100))
    (grid,) = page.xpath("//table[contains(@class, 'heat')]")
    heads = ["".join(head.itertext()) for head in grid.xpath("./thead//th")]
    rows = [["".join(cell.itertext()) for cell in row.xpath("./td")] for row in grid.xpath("./tbody/tr")]
    named = [(row[0], row[1]) for row in rows]
    assert ("SharpenFilter", "sharpen_float16.trace") in named
    # Five models of one recording, one of two, and none of what was not instrumented.
    assert len(named) == len(set(named)) == 7
    at = named.index(("SharpenFilter", "sharpen_float16.trace"))
    assert dict(zip(heads, rows[at], strict=True))["median"] == "*8.68 ms"
    assert {"device", "system", "recorded"} <= set(heads)


def test_csv_has_a_line_for_each_model_and_recording(table):
    rows = list(csv.DictReader(io.StringIO(render_csv(table))))
    found = {(row["model"], row["label"]): row for row in rows}
    best = found["SharpenFilter", "sharpen_float16.trace"]
    assert float(best["p50_ns"]) == pytest.approx(8.68e6, rel=0.001)
    assert best["best"] == "p50_ns p95_ns fps"
    assert best["cold_load_ns"] == ""
    assert ("SharpenFilter", "not_instrumented.trace") not in found


def test_nothing_in_a_cell_is_run_or_steers_a_terminal():
    figures = Figures("=1+1", {"predictions": 1, "p50_ns": 1e6}, ())
    hostile = matrix([Source("a", "recording", "\x1b[31m<b>|", None, (figures,))], ["<script>"])
    assert "\x1b" not in written(hostile, "text")
    assert "\n'=1+1," in render_csv(hostile)
    assert "&lt;script&gt;" in written(hostile, "html")
    assert "\\<b\\>\\|" in written(hostile, "markdown")


def test_the_page_holds_every_value_and_marks_the_best(table):
    page = html.fromstring(written(table, "html"))
    best = [" ".join(cell.text_content().split()) for cell in page.xpath("//td/strong[@class='best']")]
    assert "*8.68 ms" in best
    titles = [title.text_content() for title in page.xpath("//th[@scope='col']")]
    assert titles == ["", *(f"{name}.trace" for name in SAMPLES)]
    # Rows of a model stand below its name.
    names = [name.text_content() for name in page.xpath("//th[@scope='rowgroup']")]
    assert names == list(dict.fromkeys(row.model for row in table.rows))
    assert len(page.xpath("//script")) == 1
