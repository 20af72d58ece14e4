"""The one sentence that everybody reads."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Cost, Savings
from tracekit.report.report import Report, Result, Rule
from tracekit.report.verdict import summarize


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


def verdict(*checks: Result) -> str:
    return summarize(checks).verdict


def test_findings_are_counted_by_check_and_by_the_worst() -> None:
    words = verdict(
        check("finding", severity="critical", model="Other"),
        check("finding", severity="critical"),
        check("finding", severity="low", name="small"),
    )
    assert words == "2 findings (1 critical, 1 low) in 2 models."


def test_one_finding_reads_as_one() -> None:
    assert verdict(check("finding", severity="high")) == "1 finding (high) in 1 model."


def test_a_finding_about_the_recording_names_no_model() -> None:
    assert verdict(check("finding", severity="high", model=None)) == "1 finding (high)."


def test_a_clean_recording_says_how_many_checks_passed() -> None:
    looked = (check("passed"), check("passed", model="Other"), check("passed", name="other"))
    assert verdict(*looked) == "No findings. 2 checks passed."


def test_a_clean_verdict_admits_what_was_not_evaluated() -> None:
    words = verdict(check("passed"), check("not_evaluated", name="blind"), check("error", name="broken"))
    assert words == "No findings. 1 check passed, 1 not evaluated, 1 error."


def test_a_check_that_saw_some_models_only_is_told_from_one_that_saw_none() -> None:
    words = verdict(check("passed"), check("not_evaluated", model="Other"))
    assert words == "No findings. 1 check passed, 1 evaluated for some models only."


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("The Core ML table is empty", "the Core ML table is empty."),
        ("Core ML was not recorded.", "Core ML was not recorded."),
    ],
)
def test_a_recording_without_evidence_is_not_called_clean(reason: str, message: str) -> None:
    summary = summarize([check("not_evaluated", reason)] * 3)
    assert summary.verdict == f"Inconclusive: {message}"
    assert not summary.evaluated


def test_nothing_to_look_at_is_not_called_clean() -> None:
    assert verdict() == "Inconclusive: no check was run."
    assert "Inconclusive: no load was seen." in verdict(check("not_applicable", "No load was seen."))


def test_failed_checks_alone_judge_nothing() -> None:
    words = verdict(check("error", "KeyError: 'x'"), check("not_evaluated", "Too few."))
    assert words == "Inconclusive: error in 1 check: KeyError: 'x'."


def test_counts_add_up(full: Report) -> None:
    summary = full.summary
    assert (summary.findings, summary.critical, summary.high, summary.medium, summary.low) == (2, 1, 0, 0, 1)
    counted = (summary.passed, summary.not_applicable, summary.not_evaluated, summary.errors)
    # One check found nothing in two models and something in another; one failed for one model.
    assert (counted, summary.models) == ((0, 0, 0, 1), 6)
    assert sum(counted) + summary.findings == len({check.id for check in full.results})


def test_a_recording_of_which_only_its_own_health_could_be_judged_is_not_judged() -> None:
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


def test_the_health_of_a_recording_is_judged_where_nothing_else_was_asked() -> None:
    about_recording = "the recording itself"
    passed = summarize([check("passed", model=None, pattern=about_recording)])
    assert (passed.evaluated, passed.verdict) == (True, "No findings. 1 check passed.")
    summary = summarize([check("finding", severity="low", model=None, pattern=about_recording)])
    assert (summary.evaluated, summary.verdict) == (True, "1 finding (low).")
    blind = summarize([check("not_evaluated", "No table says.", model=None, pattern=about_recording)])
    assert (blind.evaluated, blind.verdict) == (False, "Inconclusive: no table says.")


def test_what_all_fixes_save_is_added_up_only_where_something_was_measured() -> None:
    assert summarize([check("finding", severity="high"), check("finding", severity="low")]).savings_ns == 2
    assert summarize([check("passed")]).savings_ns is None
