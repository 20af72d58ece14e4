"""First and next tokens of a language model among what is compared."""

from __future__ import annotations

import json
from datetime import date
from functools import cache

import pytest

from support.handover import trace_of
from tracekit.api import judge
from tracekit.comparison.baseline import baseline_of
from tracekit.comparison.comparison import compare
from tracekit.comparison.gate import check
from tracekit.comparison.latency import Answer
from tracekit.comparison.matrix import sources_of
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.measuring import measure
from tracekit.comparison.reports import from_plain, to_plain
from tracekit.comparison.settings import CheckSettings, Floors, Limit
from tracekit.documents.comparison import comparison_document
from tracekit.documents.gate import baseline_document
from tracekit.render.forms import render
from tracekit.testing import CoreAIChat, Draws, Process, Scenario

MS = 1_000_000
FIRST, NEXT = "Core AI language model: first token", "Core AI language model: next token"


@cache
def measured(token_ns: int) -> Measurements:
    chat, draws, now = CoreAIChat(Scenario(Process("Chat", 412), duration_ns=60_000 * MS)), Draws(3), 0
    for _ in range(12):
        passes = [draws.around(token_ns, 40) for _ in range(30)]
        prompt_ns = draws.around(150 * MS, 40)
        now = chat.request(now, prompt_tokens=200, prompt_ns=prompt_ns, tokens_ns=passes).end_ns + 90 * MS
    trace = trace_of(chat.scenario)
    return measure(trace, judge(trace))


def test_a_slower_model_is_a_regression_of_the_next_token() -> None:
    before, after = measured(15 * MS), measured(20 * MS)
    assert {model.name: model.predictions for model in before.models} == {FIRST: 12, NEXT: 12 * 29}
    answers = {model.name: model.latency for model in compare([before], [after]).models}
    assert answers[NEXT].answer is Answer.REGRESSED
    assert answers[NEXT].ratio == pytest.approx(20.4 / 15.4, abs=0.02)
    same = {model.name: model.latency.answer for model in compare([before], [measured(15 * MS)]).models}
    assert same[NEXT] is Answer.UNCHANGED
    assert from_plain(json.loads(json.dumps(to_plain(before)))).models[0].name == FIRST


def test_nothing_is_called_inferred_where_signposts_alone_were_measured() -> None:
    notes = " ".join(compare([measured(15 * MS)], [measured(20 * MS)]).notes)
    assert "One recording per side" in notes
    assert "inferred" not in notes
    assert "without Core ML events" not in notes


def test_tokens_are_named_where_predictions_are() -> None:
    before = measured(15 * MS)
    text = render(comparison_document(compare([before], [measured(20 * MS)])), "text", width=100)
    assert "median, 95% interval of the change" in text
    assert "warm" not in text
    settings = CheckSettings(limits=(Limit("*", "p50", 1e6), Limit("*", "p95", 1e6)))
    gate = check([before], settings, None, today=date(2026, 11, 22))
    texts = {(item.model, item.subject): item.text for item in gate.items}
    assert "(348 next tokens, 95% interval" in texts[NEXT, "p50"]
    assert texts[FIRST, "p95"].startswith("fewer than 20 first tokens with a known latency; ")
    shown = render(baseline_document(baseline_of([before]), Floors()), "text", width=100)
    assert "12 first tokens, median" in shown


def test_a_matrix_counts_tokens_and_no_predictions_or_frames() -> None:
    before = measured(15 * MS)
    for recording in (before, from_plain(json.loads(json.dumps(to_plain(before))))):
        first, following = sources_of([recording])[0].models
        known = [{name for name, value in each.quantities.items() if value is not None} for each in (first, following)]
        assert not {"predictions", "fps"} & (known[0] | known[1])
        assert (first.quantities["first_tokens"], following.quantities["next_tokens"]) == (12, 12 * 29)
        assert following.quantities["tokens_per_second"] == pytest.approx(1000 / 15.4, rel=0.02)
        assert "tokens_per_second" not in known[0]
