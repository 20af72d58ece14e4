"""The page of a comparison: complete without scripts, and both recordings on one scale."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from lxml import html

from support.analyses import kept_analysis
from support.synthetic_measurements import ran_on
from tracekit.comparison import words
from tracekit.comparison.comparison import compare
from tracekit.comparison.measuring import measure
from tracekit.documents.compared_figures import summary
from tracekit.documents.comparison import comparison_document, facts, parts
from tracekit.documents.lanes import lanes_of_both, pictures_of_both
from tracekit.render.forms import render
from tracekit.trace.events import Kind

pytestmark = pytest.mark.usefixtures("kept_samples")


def page_of(comparison, sides=None):
    return render(comparison_document(comparison, lanes_of_both(comparison, sides)), "html", width=0)


PAIR = ("captions_concurrent", "sharpen_8bit")


@pytest.fixture(scope="module")
def analyses(samples):
    return [kept_analysis(samples / f"{name}.trace") for name in PAIR]


@pytest.fixture(scope="module")
def page(analyses):
    before, after = (measure(analysis.trace, analysis.report) for analysis in analyses)
    sides = [(analysis.report, analysis.timeline()) for analysis in analyses]
    return html.fromstring(page_of(compare([before], [after]), (sides[0], sides[1])))


def text_of(page):
    return " ".join(page.text_content().split())


def test_pictures_have_both_sides_on_one_scale(samples):
    both = [kept_analysis(samples / f"{name}.trace") for name in ("sharpen_8bit", "sharpen_float16")]
    sides = [(each.report, each.timeline()) for each in both]
    comparison = compare(*([measure(each.trace, each.report)] for each in both))
    core_ml, picture = pictures_of_both(comparison, (sides[0], sides[1]))
    root = html.fromstring(f"<div>{core_ml.markup}</div>")
    top = [
        rows.where(rows.kind.is_any(Kind.PREDICTION, Kind.LOAD_CACHED, Kind.LOAD)).duration_ns.sum()
        for rows in (each.trace.activity for each in both)
    ]
    bars = [sum(float(each.get("width")) for each in bar.xpath(".//rect")) for bar in root.xpath("//*[@class='pair']")]
    assert bars == pytest.approx([100, 100 * top[1] / top[0]], abs=0.1)
    root = html.fromstring(f"<div>{picture.markup}</div>")
    activity = [each.trace.activity for each in both]
    # The first one follows the load.
    warm = [rows.duration_ns[rows.kind.is_any(Kind.PREDICTION)][1:].mean() for rows in activity]
    bars = [sum(float(each.get("width")) for each in bar.xpath(".//rect")) for bar in root.xpath("//*[@class='pair']")]
    assert bars == pytest.approx([100, 100 * warm[1] / warm[0]], abs=0.1)
    # Each side's outline has the same area: that of all its predictions.
    before, after = (
        [100 - float(y) for y in re.findall(r"V([\d.]+)H", path.get("d"))] for path in root.xpath("//path")
    )
    assert sum(before) == pytest.approx(sum(after), rel=0.01)
    assert np.average(range(len(after)), weights=after) < np.average(range(len(before)), weights=before)
    # Reports without lanes have the bars alone.
    assert "How long predictions took" not in pictures_of_both(comparison, None)[0].markup


def test_every_answer_is_text(measured):
    comparison = compare([measured("sharpen_8bit")], [measured("sharpen_float16")])
    page = html.fromstring(page_of(comparison, None))
    text = text_of(page)
    (model,) = comparison.models
    for part in (summary(comparison), parts(model), facts(model), words.sample_counts(model.latency)):
        assert part in text
    assert "SharpenFilter improved by 30% 12.4 → 8.68 ms, −30% (−31% to −29%)" in text
    assert all(change.id in text for change in comparison.findings)
    assert all(note in text for note in comparison.notes)
    assert "each side has a recording" in text


def test_every_figure_is_there_with_its_answer(measured):
    page = html.fromstring(page_of(compare([measured("sharpen_8bit")], [measured("sharpen_float16")]), None))
    rows = [
        [cell.text_content().replace("\xa0", " ") for cell in row.xpath("td")]
        for row in page.xpath("//section[@id='models']/details//tr[td]")
    ]
    found = {row[0]: row[1:] for row in rows}
    assert found["median"] == ["improved", "12.4 ms", "8.68 ms", "0.70", "−31% to −29%"]
    assert found["p95"][0] == "inconclusive (139 and 139 predictions, 300 needed)"
    assert found["data, mean"][0] == "improved"
    assert found["cached load"][0] == "inconclusive (1 and 1 loads)"
    assert found["copies per prediction"] == ["improved", "5", "2", "0.40", "exact"]
    assert found["Neural Engine, share of compute"] == ["unchanged", "100%", "100%", "1.00", "exact"]
    assert "cold load" not in found


def test_a_share_that_looks_the_same_is_unchanged(measured):
    (model,) = (one for one in measured("style_transfer_fixed").models if one.name == "Watercolor")
    pages = []
    for share in (0.57286, 0.61):
        other = replace(model, where=ran_on(neural_engine=share, gpu=1 - share))
        sides = [replace(measured("style_transfer_fixed"), models=(one,)) for one in (model, other)]
        pages.append(text_of(html.fromstring(page_of(compare(sides[:1], sides[1:]), None))))
    assert ["Neural Engine, share of computeunchanged57%57%" in page for page in pages] == [True, False]
    assert "Neural Engine, share of computechanged, neither better nor worse57%61%" in pages[1]


def test_of_several_recordings_the_drawn_one_is_named(analyses):
    before, after = (measure(analysis.trace, analysis.report) for analysis in analyses)
    sides = [(analysis.report, analysis.timeline()) for analysis in analyses]
    comparison = compare([before, replace(before, models=(), identity="another")], [after])
    page = html.fromstring(page_of(comparison, (sides[0], sides[1])))
    assert [title.text_content() for title in page.xpath("//h3[@class='side']")] == [
        "before: captions_concurrent.trace, the most typical of 2 recordings",
        "after: sharpen_8bit.trace",
    ]
    assert "Welch" in text_of(page)


def test_what_is_unfair_is_said_first(measured):
    before = measured("sharpen_8bit")
    after = replace(before, environment=replace(before.environment, thermal="Serious"))
    known = replace(before, environment=replace(before.environment, thermal="Nominal"))
    found = html.fromstring(page_of(compare([known], [after]), None))
    assert found.xpath("//main/section/@id")[0] == "unfair"
    assert "thermal state Nominal Serious" in " ".join(text for text in found.xpath("//section[1]//text()") if text)


def test_both_recordings_are_as_long_and_begin_together(page, analyses):
    metas = [json.loads(page.xpath(f"//script[@id='{name}-meta']/text()")[0]) for name in ("lanes", "lanes-after")]
    for meta, analysis in zip(metas, analyses, strict=True):
        activity = analysis.trace.activity
        assert meta["origin"] == activity.start_ns[activity.kind.is_any(Kind.PREDICTION)].min()
        assert meta["start"] <= 0
        assert meta["end"] >= analysis.timeline().end_ns
    assert len({meta["end"] - meta["start"] for meta in metas}) == 1
    assert len({meta["origin"] - meta["start"] for meta in metas}) == 1


def test_a_recording_without_predictions_begins_at_its_start(analyses, samples):
    other = kept_analysis(samples / "not_instrumented.trace")
    sides = [(each.report, each.timeline()) for each in (analyses[0], other)]
    measurements = [measure(each.trace, each.report) for each in (analyses[0], other)]
    page = html.fromstring(page_of(compare(measurements[:1], measurements[1:]), (sides[0], sides[1])))
    assert "no prediction to align it by" in text_of(page)
    assert json.loads(page.xpath("//script[@id='lanes-meta']/text()")[0])["origin"] == 0


def test_names_are_never_markup(measured):
    hostile = replace(measured("sharpen_8bit"), source="</title><script>alert(1)</script>")
    page = page_of(compare([hostile], [measured("sharpen_float16")]), None)
    assert "<script>alert" not in page
