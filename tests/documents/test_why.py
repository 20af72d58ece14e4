"""What is said of slow predictions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from tracekit.analysis.ledger.causes import Cause, Known
from tracekit.analysis.ledger.explain import Blocker, Part, Tail, Why
from tracekit.documents.why import (
    brief_document,
    part_words,
    sentence,
    tail_words,
    usual_sentence,
    whole_percents,
    why_document,
)
from tracekit.render.forms import FORMS, render
from tracekit.report.why import ModelWhy, WhyReport, is_far

MS = 1_000_000


def blocker(**facts) -> Blocker:
    return Blocker(
        **{
            "unit": "neural-engine",
            "model": "Net",
            "process": None,
            "predictions": 7,
            "ns": 85 * MS,
            "first_ns": 1_100 * MS,
            "table": "ane-hw-intervals",
            "row": 32,
            **facts,
        }
    )


def part(cause: Cause, ms: float, *behind: Blocker, spread: float = 0) -> Part:
    ns = round(ms * MS)
    return Part(cause, ns, ns - round(spread * MS), ns, Known.ROWS, behind)


def explained(*parts: Part, **facts) -> Why:
    return Why(
        **{
            "model": "Net",
            "prediction": 40,
            "table": "coreml-os-signpost",
            "row": 150,
            "start_ns": 1_204 * MS,
            "duration_ns": 12 * MS + sum(each.ns for each in parts),
            "usual_ns": 12 * MS,
            "compared": 275,
            "is_cold": False,
            "in_flight": 8,
            "is_first": False,
            "parts": parts,
            "usual": {"neural-engine": 11 * MS, "rest": 1 * MS},
            "more": {"neural-engine": 3 * MS, "cpu": -2 * MS},
            "pipelines": 0,
            "specializing": "",
            "thermal": None,
            "level_ns": None,
            "called_from": None,
            "resolution_ns": 0,
            **facts,
        }
    )


def text_of(*whys: Why, form: str = "text", width: int = 100, findings=({},), fixes=None, tail=None) -> str:
    """What a form of a report on these predictions says."""
    model = ModelWhy("Net", whys, None, tail, findings, fixes or {})
    report = WhyReport(1, "run.trace", (model,), "", redacted=True)
    return render(why_document(report), form, width=width)


FIX = "limit the predictions in flight"
QUEUED = part(Cause.QUEUED_OWN, 85, blocker())


def test_the_sentence_says_how_slow_and_why():
    assert sentence(explained(QUEUED, part(Cause.COPIES, 0.4))) == (
        "Net at 1.204 s: 97.4 ms instead of the usual 12.0 ms: 85.0 ms queued for the Neural Engine behind 7 earlier "
        "predictions of Net"
    )
    two = explained(part(Cause.WORK, 6), part(Cause.COPIES, 4), part(Cause.NOT_VISIBLE, 0.1))
    assert sentence(two).endswith(
        ": 6.00 ms more work of its own on the Neural Engine and 4.00 ms more for copies and conversions of inputs and "
        "outputs"
    )
    assert sentence(explained(part(Cause.WORK, -3), more={"neural-engine": -3 * MS})) == (
        "Net at 1.204 s: 9.00 ms, 3.00 ms less than usual: 3.00 ms less work of its own on the Neural Engine"
    )


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0.24, "12.2 ms, as usual (12.0 ms)"), (-0.24, "11.8 ms, as usual (12.0 ms)"), (0, "12.0 ms, as usual (12.0 ms)")],
)
def test_a_prediction_within_2_percent_of_the_usual_time_has_no_parts_in_its_sentence(ms, words):
    assert sentence(explained(part(Cause.COPIES, ms))) == f"Net at 1.204 s: {words}"


def test_parts_with_both_signs_have_no_shares():
    assert "share" in text_of(explained(part(Cause.WORK, 6), part(Cause.COPIES, 4)))
    mixed = text_of(explained(part(Cause.WORK, 6), part(Cause.COPIES, -4)))
    assert "−4.00 ms" in mixed
    assert "share" not in mixed


def test_a_recording_without_call_stacks_says_that_no_calling_code_is_known():
    def text(*, sampled: bool) -> str:
        model = ModelWhy("Net", (explained(part(Cause.WORK, 6)),), None, None, ({},), {})
        return render(why_document(WhyReport(1, "run.trace", (model,), "", True, sampled)), "text", width=100)

    assert "called from: not recorded (Time Profiler)" in text(sampled=False)
    assert "not recorded" not in text(sampled=True)


def test_work_names_a_unit_only_where_that_did_most_of_it():
    work = part(Cause.WORK, 5)
    assert part_words(explained(work, more={"gpu": 3 * MS, "cpu": 0}), work) == "more work of its own on the GPU"
    assert part_words(explained(work, more={"gpu": 1 * MS}), work) == "more work of its own"


def test_a_range_is_said_as_one():
    wide = explained(part(Cause.QUEUED_OWN, 1.5, blocker(), spread=0.6))
    assert "900 µs to 1.50 ms queued for" in sentence(wide)
    assert "5.00 to 8.00 ms queued for" in sentence(explained(part(Cause.QUEUED_OWN, 8, blocker(), spread=3)))


@pytest.mark.parametrize(
    ("cause", "facts", "words"),
    [
        (Cause.HEAT, {"thermal": "Serious"}, "for the same work in thermal state Serious"),
        (Cause.CLOCK, {}, "for the same work in a slower performance state of the GPU"),
        (Cause.LEVEL, {"level_ns": 2_500 * MS}, "for the same work, which has taken longer since 2.500 s"),
        (
            Cause.UNIT,
            {"more": {"neural-engine": -11 * MS, "cpu": 30 * MS}},
            "for running on the CPU instead of the Neural Engine",
        ),
        (Cause.PIPELINES, {"pipelines": 46}, "compiling Metal pipelines (46 of them)"),
        (Cause.SPECIALIZING, {"specializing": "specializing the GPU graph"}, "specializing the GPU graph"),
        (Cause.SPECIALIZING, {}, "specialization"),
        (
            Cause.FIRST,
            {"pipelines": 46},
            "as the first prediction after its load (46 Metal pipelines compiled during it)",
        ),
        (Cause.PAUSE, {}, "as the first prediction after a gap"),
        (Cause.SHAPE, {}, "as the first prediction with this amount of work"),
        (Cause.GROWTH, {}, "for its place in a sequence whose predictions take longer and longer"),
        (Cause.SHARED_CPU, {}, "while other work of the app used the CPU"),
        (Cause.BLOCKED, {}, "in which its thread did not run"),
        (Cause.NOT_VISIBLE, {}, "not visible in the recording"),
        (Cause.WORK, {}, "more work of its own on the Neural Engine"),
    ],
)
def test_each_part_has_its_words(cause, facts, words):
    assert part_words(explained(part(cause, 5), **facts), part(cause, 5)) == words


@pytest.mark.parametrize(
    ("cause", "who", "words"),
    [
        (Cause.QUEUED_MODELS, {"model": "Other"}, "behind Other"),
        (Cause.QUEUED_MODELS, {"model": None, "unit": "gpu"}, "behind the app's own drawing"),
        (Cause.QUEUED_PROCESSES, {"model": None, "process": "Notes"}, "behind Notes"),
        (Cause.QUEUED_PROCESSES, {"model": "Other"}, "behind Other of another process"),
        (Cause.QUEUED_PROCESSES, {"model": None}, "behind another process"),
    ],
)
def test_a_queue_names_whose_work_it_was(cause, who, words):
    queued = part(cause, 5, blocker(**who))
    assert part_words(explained(queued), queued).endswith(words)


def test_what_is_usual_says_of_which_predictions():
    assert usual_sentence(explained(QUEUED)) == (
        "usual: 12.0 ms (Neural Engine 11.0 ms, rest 1.00 ms), the median of 275 warm predictions without time in "
        "queues"
    )
    assert usual_sentence(explained(QUEUED, is_cold=True)).endswith(
        "the median of 275 predictions, none of which is warm, without time in queues"
    )


def test_a_tail_is_told_in_shares_of_its_larger_parts():
    parts = {"queued_models": 83 * MS, "heat": 11 * MS, "copies": 4 * MS, "not_visible": 2 * MS}
    found = Tail(0.95, 27 * MS, 14, 12 * MS, 100 * MS, parts, blocker(model="StyleCam"))
    assert tail_words(found) == (
        "usual 12.0 ms; of the extra, 83% is queued for the Neural Engine behind StyleCam, 11% heat, 6% other"
    )
    alone = replace(found, parts={"queued_models": 100 * MS})
    assert tail_words(alone) == "usual 12.0 ms; all of the extra is queued for the Neural Engine behind StyleCam"


@pytest.mark.parametrize(
    ("parts_ms", "words"),
    [
        ({"specializing": 190, "copies": 10}, "; of the extra, 95% is specialization, 5% other"),
        ({"specializing": 19, "copies": 1}, "; most of the extra is specialization"),
        ({"specializing": 11, "copies": 9}, ""),
    ],
)
def test_the_tail_of_inferred_calls_says_no_more_than_their_samples(parts_ms, words):
    parts = {cause: ms * MS for cause, ms in parts_ms.items()}
    found = Tail(0.95, 20_400_000, 2, 10_000_000, sum(parts.values()), parts)
    assert tail_words(found, 1 * MS) == f"usual 10 ms{words}"


def test_inferred_calls_differ_by_more_than_their_resolution():
    part_of = part(Cause.COPIES, 1.5)
    assert sentence(explained(part_of, duration_ns=13_000_000, usual_ns=12_000_000, resolution_ns=MS)).endswith(
        ": 13 ms, as usual (12 ms)"
    )
    tail = Tail(0.95, 3 * MS, 14, 2 * MS, 14 * MS, {"copies": 14 * MS})
    assert not is_far(tail, MS)
    assert is_far(tail, MS // 2)
    assert "other parts" not in text_of(explained(part(Cause.WORK, 40), part(Cause.COPIES, 0.1), resolution_ns=MS))


def test_a_page_keeps_the_name_of_a_percentile():
    tail = Tail(0.95, 24 * MS, 14, 12 * MS, 168 * MS, {"copies": 168 * MS})
    about = {"tail": tail, "findings": ({"queued_own": "latency-jitter"},), "fixes": {"latency-jitter": FIX}}
    assert "<strong>p95: </strong>" in text_of(explained(QUEUED), form="html", **about)
    markdown = text_of(explained(QUEUED), form="markdown", **about)
    assert "**p95:** 24.0 ms" in markdown
    assert "**Fix (latency-jitter):** limit" in markdown


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=4).filter(any))
def test_shares_add_up_to_100_and_are_off_by_less_than_one(sizes):
    shares = whole_percents(sizes)
    assert sum(shares) == 100
    assert all(abs(share - 100 * size / sum(sizes)) < 1 + 1e-9 for share, size in zip(shares, sizes, strict=True))


@pytest.mark.parametrize(("p95_ms", "told"), [(14, False), (15, True)])
def test_a_tail_is_told_where_it_is_far_from_usual(p95_ms, told):
    tail = Tail(0.95, p95_ms * MS, 14, 12 * MS, 100 * MS, {"copies": 99 * MS, "work": 1 * MS})
    text = text_of(explained(QUEUED), tail=tail)
    assert ("p95: 15.0 ms, usual 12.0 ms; of the extra, 99% is copies and conversions, 1% other" in text) is told
    assert ("of the extra" in text) is told


def test_every_form_has_all_parts_that_matter_and_the_finding():
    why = explained(QUEUED, part(Cause.COPIES, 0.01), part(Cause.WORK, -0.02))
    model = ModelWhy(
        "Net", (why,), None, None, ({"queued_own": "concurrent-predictions"},), {"concurrent-predictions": FIX}
    )
    report = WhyReport(1, "run.trace", (model,), "", redacted=True)
    for form in FORMS:
        text = " ".join(render(why_document(report), form, width=100, verbose=False).split())
        assert "concurrent-predictions" in text
        assert FIX in text
        assert "order of submission" not in text
        assert "row 32" in text.replace("</code>", "").replace("`", "")
    text = render(why_document(report), "text", width=100, verbose=False)
    assert "other parts together −10.0 µs (copies and conversions and work of its own)\n" in text
    assert "\nsavings: tracekit why run.trace --without concurrent-predictions\n" in text
    assert text.endswith("details: tracekit explain concurrent-predictions\n")


def test_only_a_table_with_a_finding_has_a_column_of_findings():
    heads = []
    for findings in ({}, {"queued_own": "concurrent-predictions"}):
        text = text_of(explained(QUEUED), form="markdown", findings=(findings,))
        heads += [line for line in text.splitlines() if line.startswith("| time")]
    assert ["finding" in head for head in heads] == [False, True]


def test_the_fix_is_that_of_the_largest_part_that_has_a_finding():
    why = explained(part(Cause.WORK, 6), part(Cause.COPIES, 4))
    text = text_of(why, why, findings=({}, {"copies": "excess-data-copies"}), fixes={"excess-data-copies": FIX})
    assert text.count("fix") == 1
    assert text.partition("fix (excess-data-copies): limit")[0].count("Net at") == 2


def test_nothing_to_explain_is_a_sentence():
    report = WhyReport(1, "run.trace", (), "Nothing to explain: no predictions.", redacted=True)
    for document in (why_document(report), brief_document(report)):
        assert render(document, "text", width=100).strip() == report.nothing


def test_several_predictions_have_a_verdict_and_say_how_many_are_left_out():
    model = ModelWhy("Net", (explained(QUEUED), explained(part(Cause.COPIES, 4))), 167, None, ({}, {}), {})
    report = WhyReport(1, "run.trace", (model,), "", redacted=True)
    text = render(why_document(report), "text", width=200)
    assert text.startswith("2 slowest predictions of Net, usual 12.0 ms\n")
    assert "2 of 167 predictions (--slowest N for more)\n" in text
    # What is said of all stands apart from the section of the last one.
    assert text.count("\n\nusual: ") == text.count("usual: ") == 1
    all_of_them = replace(report, models=(replace(model, fitting=2),))
    assert "--slowest" not in render(why_document(all_of_them), "text", width=200)
    brief = render(brief_document(report), "text", width=200)
    assert brief.count("Net at 1.204 s: ") == 2
    assert "usual: " not in brief
