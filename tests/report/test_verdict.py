"""The one sentence that everybody reads."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Cost, Savings
from tracekit.report.report import Result, Rule
from tracekit.report.verdict import STACKS_ALONE, summarize


def check(
    outcome: str,
    summary: str = "",
    severity: str | None = None,
    model: str | None = "Net",
    title: str = "It is slow",
    pattern: str = "2b all predictions slow",
    name: str = "id",
) -> Result:
    cost = Cost(1, 0.1, "") if severity else None
    of_finding = {
        "cost": cost,
        "savings": cost and Savings(1, 1, 0.1, 10, ""),
        "related": (),
        "evidence": (),
        "evidence_total": 0,
    }
    return Result(
        name,
        outcome=outcome,
        severity=severity,
        model=model,
        summary=summary,
        own_fix="",
        record="",
        rule=Rule(name, title, title, pattern, "", "", ()),
        caveats=(),
        metrics=(),
        call_sites=(),
        **of_finding,
    )


HIGH = {"outcome": "finding", "severity": "high"}
PASSED, UNJUDGED = {"outcome": "passed"}, {"outcome": "not_evaluated"}


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        pytest.param(
            (
                HIGH | {"severity": "critical", "model": "Other"},
                HIGH | {"severity": "critical"},
                HIGH | {"severity": "low", "name": "small"},
            ),
            "2 findings (1 critical, 1 low) in 2 models.",
            id="counted by check and by the worst",
        ),
        ((HIGH,), "1 finding (high) in 1 model."),
        ((HIGH | {"model": None},), "1 finding (high)."),
        ((PASSED, PASSED | {"model": "Other"}, PASSED | {"name": "other"}), "No findings. 2 checks passed."),
        (
            (PASSED, UNJUDGED | {"name": "blind"}, {"outcome": "error", "name": "broken"}),
            "No findings. 1 check passed, 1 not evaluated, 1 error.",
        ),
        ((PASSED, UNJUDGED | {"model": "Other"}), "No findings. 1 check passed, 1 evaluated for some models only."),
        ((), "Inconclusive: no check was run."),
        (({"outcome": "not_applicable", "summary": "No load was seen."},), "Inconclusive: no load was seen."),
        (
            ({"outcome": "error", "summary": "KeyError: 'x'"}, UNJUDGED | {"summary": "Too few."}),
            "Inconclusive: error in 1 check: KeyError: 'x'.",
        ),
        ((UNJUDGED | {"summary": "The Core ML table is empty"},) * 3, "Inconclusive: the Core ML table is empty."),
        ((UNJUDGED | {"summary": "Core ML was not recorded."},) * 3, "Inconclusive: Core ML was not recorded."),
    ],
)
def test_a_verdict_counts_what_was_found_and_admits_what_was_not_evaluated(checks, words):
    summary = summarize([check(**fields) for fields in checks])
    assert summary.verdict == words
    assert summary.evaluated == (not words.startswith("Inconclusive"))


def test_counts_add_up(full):
    summary = full.summary
    assert (summary.findings, summary.critical, summary.high, summary.medium, summary.low) == (2, 1, 0, 0, 1)
    counted = (summary.passed, summary.not_applicable, summary.not_evaluated, summary.errors)
    # One check found nothing in two models and something in another; one failed for one model.
    assert (counted, summary.models) == ((0, 0, 0, 1), 6)
    assert sum(counted) + summary.findings == len({check.id for check in full.results})


def test_a_recording_of_which_only_its_own_health_could_be_judged_is_not_judged():
    about_recording = "the recording itself"
    summary = summarize(
        [
            check("finding", severity="low", model=None, pattern=about_recording),
            check("not_evaluated", "The Core ML table is empty.", name="blind"),
            check("passed", pattern=about_recording, name="whole"),
        ]
    )
    assert not summary.evaluated
    assert summary.verdict == "Inconclusive: the Core ML table is empty."
    assert (summary.findings, summary.passed) == (1, 1)


def test_checks_of_call_stacks_do_not_make_up_for_core_ml():
    stacks = check("passed", name="app-conversion")
    blind = check("not_evaluated", "The Core ML table is empty.", name="blind")
    assert "app-conversion" in STACKS_ALONE
    assert summarize([stacks, blind]).verdict == "Inconclusive: the Core ML table is empty."
    # Asked for alone, they answer.
    assert summarize([stacks]).verdict == "No findings. 1 check passed."


def test_the_health_of_a_recording_is_judged_where_nothing_else_was_asked():
    about_recording = "the recording itself"
    passed = summarize([check("passed", model=None, pattern=about_recording)])
    assert (passed.evaluated, passed.verdict) == (True, "No findings. 1 check passed.")
    summary = summarize([check("finding", severity="low", model=None, pattern=about_recording)])
    assert (summary.evaluated, summary.verdict) == (True, "1 finding (low).")
    blind = summarize([check("not_evaluated", "No table says.", model=None, pattern=about_recording)])
    assert (blind.evaluated, blind.verdict) == (False, "Inconclusive: no table says.")


def test_what_all_fixes_save_is_added_up_only_where_something_was_measured():
    assert summarize([check("finding", severity="high"), check("finding", severity="low")]).savings_ns == 2
    assert summarize([check("passed")]).savings_ns is None
