"""A status has one word in every form of a report, a comparison and a verdict, and in `view`: that of the glossary."""

import json
import re
from dataclasses import replace

from lxml import html

from support.analyses import kept_analysis
from support.forms import html_page, long_text, markdown, short_text
from support.gates import GATE
from tracekit.comparison.comparison import compare
from tracekit.comparison.gate import gate_of
from tracekit.comparison.measuring import measure
from tracekit.comparison.verdict import Item, Verdict
from tracekit.documents.comparison import comparison_document
from tracekit.documents.gate import gate_document
from tracekit.documents.report import Analyzed, several_document, summary_document
from tracekit.render.blocks import plain
from tracekit.render.forms import render
from tracekit.report.formatting import OUTCOMES
from tracekit.report.serialize import to_json
from tracekit.report.verdict import summarize
from tracekit.tui.detail.findings import check_rows

WORDS = {
    "finding": r"findings?",
    "passed": r"passed",
    "not applicable": r"not applicable",
    "not evaluated": r"not evaluated",
    "error": r"errors?",
    "inconclusive": r"inconclusive",
}
"""The word of the glossary for each status."""
OTHERS = (
    r"problems? found",
    r"checks? failed",
    r"(?:not|cannot be|could not be) judged",
    r"could not (?:look|be evaluated)",
    r"not enough data",
    r"insufficient[ _]data",
    r"unusable",
    r"blind",
    r"does not apply",
)
"""What the same was called."""
SHOWN = {
    "summary": {"finding", "passed", "not evaluated", "error"},
    "overview": {"finding"},
    "short": {"finding", "passed", "not evaluated", "error"},
    "text": {"finding", "passed", "not applicable", "not evaluated", "error"},
    "Markdown": {"finding", "passed", "not applicable", "not evaluated", "error"},
    "HTML": {"finding", "passed", "not applicable", "not evaluated", "error"},
    "JSON": {"finding", "passed", "not applicable", "not evaluated", "error"},
    "view": {"passed", "not applicable", "not evaluated", "error"},
}
"""What each form says at least; in the list of `view`, a finding stands with its severity."""


def with_an_error(report):
    """The report of a recording in which one check came to an error."""
    at, passed = next((at, one) for at, one in enumerate(report.results) if one.outcome == "passed")
    broken = replace(passed, outcome="error", summary="KeyError: 'x'", metrics=())
    results = (*report.results[:at], broken, *report.results[at + 1 :])
    return replace(report, results=results, summary=summarize(results))


def in_view(report):
    """The status of each row: beside findings a column of its own, else before the name of the check."""
    rows = check_rows(report, None)
    outcome, title, *_ = rows.columns
    records = [rows.record(row) for row in range(len(rows))]
    return [plain(outcome.text(each)) or plain(title.text(each)).partition(":")[0] for each in records]


def forms(report):
    """Every form of a report as text."""
    return {
        "summary": render(summary_document(report), "text", width=120),
        "overview": render(several_document([Analyzed("a.trace", report, "")]), "text", width=120),
        "short": short_text(report),
        "text": long_text(report),
        "Markdown": markdown(report),
        "HTML": " ".join(html.fromstring(html_page(report)).xpath("//body//text()[not(parent::script)]")),
        "JSON": "\n".join(result["outcome"] for result in json.loads(to_json(report))["results"]).replace("_", " "),
        "view": "\n".join(in_view(report)),
    }


def words_in(text):
    """The words of statuses in a text, whatever their case, and others in place of them."""
    flat = " ".join(text.split()).lower()
    found = {status for status, word in WORDS.items() if re.search(rf"\b{word}\b", flat)}
    return found, [match[0] for word in OTHERS for match in re.finditer(rf"\b{word}\b", flat)]


def test_an_outcome_has_one_word(samples):
    report = with_an_error(kept_analysis(samples / "sharpen_8bit.trace").report)
    assert {result.outcome for result in report.results} == set(OUTCOMES)
    shown = forms(report)
    assert shown.keys() == SHOWN.keys()
    for form, text in shown.items():
        found, others = words_in(text)
        assert found >= SHOWN[form], form
        assert not others, form
        assert "inconclusive" not in found, form


def test_a_recording_without_a_verdict_is_inconclusive(samples):
    for form, text in forms(kept_analysis(samples / "not_instrumented.trace").report).items():
        found, others = words_in(text)
        assert "inconclusive" in found or form == "JSON", form
        assert not others, form


def test_what_explains_an_inconclusive_recording_comes_first_everywhere(samples):
    report = kept_analysis(samples / "not_instrumented.trace").report
    (reason,) = (result for result in report.results if result.id == "core-ml-not-instrumented")
    assert reason.severity == "low"
    assert report.results[0] == reason
    assert report.findings[0].id == reason.id
    assert in_view(report)[0] == "inconclusive"
    for form in ("short", "text", "Markdown", "HTML"):
        text = forms(report)[form].lower()
        # Of the severities that stand before the title of a finding, none comes earlier.
        before = text[: text.index(reason.title.lower())]
        assert "inconclusive" in before
        assert not re.search(r"\b(critical|high|medium|low)\b", before)


def test_answers_and_verdicts_use_the_words_of_a_report(samples):
    analysis = kept_analysis(samples / "not_instrumented.trace")
    sharpen = kept_analysis(samples / "sharpen_8bit.trace")
    one, other = measure(sharpen.trace, sharpen.report), measure(analysis.trace, analysis.report)
    problem = Item(Verdict.ERROR, "input", None, "x.trace: no such file")
    documents = [
        comparison_document(compare([one], [one])),
        comparison_document(compare([one], [other])),
        gate_document(GATE),
        gate_document(gate_of([*GATE.items, problem])),
    ]
    for document in documents:
        for form in ("text", "markdown", "html"):
            assert not words_in(render(document, form, width=100))[1]
    assert {str(verdict) for verdict in Verdict} == {"error", "failed", "inconclusive", "not counted", "passed"}
