"""The page: complete without scripts, safe with any text, and it asks for nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import numpy as np
import pytest
from lxml import html

from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import html_page
from tracekit.documents.report import summary_line
from tracekit.render.blocks import Document, Paragraph, Role, Span
from tracekit.render.html import html_of
from tracekit.report import formatting
from tracekit.report.formatting import fix_line
from tracekit.report.report import Report
from tracekit.trace.events import LOAD_KINDS, Kind
from tracekit.units import format_time

pytestmark = pytest.mark.usefixtures("kept_samples")
SAMPLES = sweep_rest("sharpen_8bit", "captions_concurrent", "not_instrumented", "style_transfer_fixed")


@pytest.fixture(scope="module", params=SAMPLES)
def sample(request, samples):
    analysis = kept_analysis(samples / f"{request.param}.trace")
    return analysis, html_page(analysis.report, analysis.timeline())


def words(page: html.HtmlElement) -> str:
    for script in page.xpath("//script | //style"):
        script.drop_tree()
    return " ".join(page.text_content().split())


def test_everything_that_decides_is_text(sample):
    report, text = sample[0].report, words(html.fromstring(sample[1]))
    if report.summary.evaluated:
        assert summary_line(report) in text
    for check in report.results:
        if check.outcome == "finding":
            for part in (check.title, check.summary, check.why, *check.caveats):
                assert " ".join(part.replace("`", "").split()) in text
            code = re.findall(r"^```[^\n]*\n(.*?)^```", check.fix, re.MULTILINE | re.DOTALL)
            assert all(" ".join(block.split()) in text for block in code)
    for model in report.models:
        assert model.name in text
        if model.prediction is not None:
            assert formatting.duration(model.prediction.mean_ns) in text
    for entry in report.coverage:
        assert entry.conclusion.replace("`", "") in text


def test_the_policy_allows_the_script_and_the_style_and_nothing_else(sample):
    page = sample[1]
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    hashes = [f"&#x27;sha256-{digest}&#x27;" for digest in digests]
    assert policy == (
        f"default-src &#x27;none&#x27;; script-src {hashes[0]}; style-src {hashes[1]}; base-uri &#x27;none&#x27;; "
        "form-action &#x27;none&#x27;"
    )


def test_nothing_is_asked_for_and_the_file_is_small(sample):
    page = html.fromstring(sample[1])
    assert not page.xpath("//*[@src or @srcset or @style]|//link|//img|//iframe|//object|//*[local-name()='image']")
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    addresses = [str(address) for address in page.xpath("//a/@href") if not str(address).startswith("#")]
    assert all(address.startswith("https://") for address in addresses)
    lanes = len(page.get_element_by_id("lanes-columns").text)
    assert len(sample[1].encode()) - lanes < 300_000


@pytest.mark.parametrize("name", sweep_rest("hostile", "full", "clean", "not_judged", "failed", "hundred"))
def test_texts_of_a_recording_add_no_element(name, request):
    report: Report = request.getfixturevalue(name)
    page = html.fromstring(html_page(report))
    assert not page.xpath("//img|//b")
    assert len(page.xpath("//script")) == 1
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    targets = {link.get("href")[1:] for link in page.xpath("//a[starts-with(@href, '#')]")}
    assert targets <= set(ids)


def test_only_addresses_of_the_web_become_links(full):
    from dataclasses import replace

    from tracekit.detectors.pages import Reference

    reference = Reference("click me", "javascript:alert(1)")
    checks = tuple(replace(check, rule=replace(check.rule, references=(reference,))) for check in full.results)
    page = html_page(replace(full, results=checks))
    assert "click me: javascript:alert(1)" in page
    assert 'href="javascript' not in page


def test_the_heading_is_not_said_again_below_it(sample):
    header = html.fromstring(sample[1]).find(".//header")
    assert header.find("h1").text_content() == sample[0].report.recording.source
    assert header.text_content().count(sample[0].report.recording.source) == 1


def test_a_page_without_rows_and_code_has_its_theme_from_the_script_too():
    page = html_of(Document("Nothing to explain", "", Role.PLAIN))
    assert len(html.fromstring(page).xpath("//script")) == 1


def test_a_command_goes_on_in_another_line_between_its_words_alone():
    command = "tracekit fix Net.mlpackage type-conversion-at-model-io -o fixed.mlpackage"
    page = html_of(Document("Net", "", Role.PLAIN, blocks=(Paragraph(Span(command, Role.CODE), lead="or run"),)))
    (code,) = html.fromstring(page).xpath("//code[@class='command']")
    assert code.text_content() == command
    assert [word.text for word in code.xpath("span")] == command.split()


def test_a_page_of_the_web_does_not_take_the_place_of_the_report(full):
    links = html.fromstring(html_page(full)).xpath("//a[starts-with(@href, 'http')]")
    assert links
    assert {(link.get("target"), link.get("rel")) for link in links} == {("_blank", "noopener noreferrer")}
    assert not html.fromstring(html_page(full)).xpath("//a[starts-with(@href, '#')][@target]")


def test_the_first_thing_are_the_numbers_of_all_models_and_the_lanes(samples):
    analysis = kept_analysis(samples / "style_transfer_fixed.trace")
    main = html.fromstring(html_page(analysis.report, analysis.timeline())).find(".//main")
    tiles, *sections = main
    assert [section.get("id") for section in sections][:2] == ["timeline", "models"]
    activity = analysis.trace.activity
    predicts, loads = activity.kind.is_any(Kind.PREDICTION), activity.duration_ns[activity.kind.is_any(*LOAD_KINDS)]
    # The first one of each model follows its load.
    warm = [activity.duration_ns[predicts & activity.model.is_any(name)][1:] for name in activity.model.held()]
    medians = [float(np.median(durations)) for durations in warm]
    said = {tile.findtext("dt"): [each.text_content() for each in tile.findall("dd")] for tile in tiles}
    least, most = format_time(min(medians)), format_time(max(medians))
    assert said["median latency"] == [f"{least.removesuffix(' ms')}–{most}", "5 models"]
    assert said["load time"] == [format_time(loads.sum()), f"5 loads, {format_time(loads.mean())} each"]
    assert "est. savings" not in said


def test_savings_of_each_prediction_are_a_tile_where_none_add_up(samples):
    analysis = kept_analysis(samples / "captions_concurrent.trace")
    assert not analysis.report.summary.savings_ns
    tiles = html.fromstring(html_page(analysis.report, analysis.timeline())).find(".//main")[0]
    said = {tile.findtext("dt"): [each.text_content() for each in tile.findall("dd")] for tile in tiles}
    assert said["est. savings"] == ["up to 31.4 of 51.5 ms", "per prediction (61%)"]


def test_the_numbers_of_a_language_model_are_tiles_too(samples):
    analysis = kept_analysis(samples / "meal_planner.trace")
    tiles = html.fromstring(html_page(analysis.report, analysis.timeline())).find(".//main")[0]
    said = {tile.findtext("dt"): [each.text_content() for each in tile.findall("dd")] for tile in tiles}
    (model,) = analysis.report.requests
    assert said["first token"] == [format_time(model.quantities["first_token_p50_ns"]), "7 requests"]
    assert said["generated tokens/s"] == [f"{model.quantities['generation_tokens_per_second']:.1f}", "7 requests"]
    assert list(said) == ["first token", "generated tokens/s", "longest context", "in tools"]
    assert said["longest context"][1] == "tokens; 7 requests"


@pytest.mark.parametrize(
    ("sample", "tile"),
    sweep_rest(
        ("frame_camera", ["ProcessFrame", "30.9 ms", "median; 90 times"]),
        ("dictation", ["WhisperKit request", "233 ms", "median; 24 times"]),
    ),
)
def test_operations_and_requests_of_a_runtime_are_the_first_tile(sample, tile, samples):
    analysis = kept_analysis(samples / f"{sample}.trace")
    first = html.fromstring(html_page(analysis.report, analysis.timeline())).find(".//main")[0][0]
    assert [each.text_content() for each in first] == tile


def test_a_table_of_other_quantities_in_each_row_is_not_sorted(samples):
    analysis = kept_analysis(samples / "meal_planner.trace")
    page = html.fromstring(html_page(analysis.report, analysis.timeline()))
    sorts = {table.get("aria-label"): table.get("data-filter") is not None for table in page.iter("table")}
    assert (sorts["Language models"], sorts["Runtimes"]) == (False, True)


def test_fixes_are_folded(sample):
    assert not html.fromstring(sample[1]).xpath("//details[@open]")


def test_a_finding_says_where_what_it_saves_and_how_to_verify(samples):
    analysis = kept_analysis(samples / "sharpen_8bit.trace")
    page = html.fromstring(html_page(analysis.report, analysis.timeline()))
    for check in analysis.report.results:
        if check.outcome != "finding":
            continue
        card = page.get_element_by_id(f"finding-{check.id}")
        longest = max(check.evidence, key=lambda entry: entry.end_ns - entry.start_ns)
        (where,) = card.xpath(".//p[@class='jump']")
        where_and_when = f"{formatting.duration(longest.duration_ns)} at {formatting.moment(longest.start_ns)}"
        place = f"longest of {check.evidence_total}: {where_and_when} · may "
        assert where.text_content().replace("\xa0", " ").startswith(place)
        assert where.get("data-check") == check.id
        (prediction,) = (model.prediction for model in analysis.report.models)
        assert check.saved_ns is not None
        assert prediction is not None
        saved = format_time(check.saved_ns / prediction.count)
        savings = " ".join(words(card).split())
        assert f"{saved.removesuffix(' ms')} of {format_time(prediction.mean_ns)} per prediction" in savings
        (link,) = card.xpath(".//a[starts-with(@href, '#finding-')]")
        (other,) = check.related
        assert (link.get("href"), link.text) == (f"#finding-{other.id}", other.id)
        # The line above says it, without its first letter the same in the fix.
        line, (above, _, below) = fix_line(check.fix).replace("`", "")[1:], words(card).partition("How to fix it")
        assert line in above
        assert line not in below
    assert "tracekit compare before.trace after.trace" in words(page.get_element_by_id("findings"))
