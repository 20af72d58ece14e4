"""What became of findings: fixed only where the check was evaluated."""

from __future__ import annotations

import pytest

from tracekit.compare.findings import FindingStatus, finding_changes
from tracekit.compare.measurements import CheckResult, Environment, Measurements

NOWHERE = Environment(None, None, None, None, None, None)


def recording(*results):
    return Measurements("run", NOWHERE, True, (), results)


def check(outcome, model="A", name="load-churn", savings=None):
    severity = "high" if outcome == "finding" else None
    return CheckResult(name, "Title", model, outcome, severity, savings)


@pytest.mark.parametrize(
    ("before", "after", "status", "reason"),
    [
        (check("finding"), check("finding"), FindingStatus.STILL_THERE, ""),
        (check("passed"), check("finding"), FindingStatus.NEW, ""),
        (check("not_applicable"), check("finding"), FindingStatus.NEW, ""),
        (check("finding"), check("passed"), FindingStatus.FIXED, ""),
        (check("finding"), check("not_applicable"), FindingStatus.FIXED, ""),
        (check("finding"), check("not_evaluated"), FindingStatus.NOT_COMPARABLE, "not evaluated after"),
        (check("finding"), check("error"), FindingStatus.NOT_COMPARABLE, "not evaluated after"),
        (check("not_evaluated"), check("finding"), FindingStatus.NOT_COMPARABLE, "not evaluated before"),
        (check("finding"), check("passed", "B"), FindingStatus.NOT_COMPARABLE, "model not recorded after"),
        (check("passed", "B"), check("finding"), FindingStatus.NOT_COMPARABLE, "model not recorded before"),
        (check("finding"), check("passed", name="cold-load"), FindingStatus.NOT_COMPARABLE, "not evaluated after"),
        (check("finding", None), check("passed", None), FindingStatus.FIXED, ""),
    ],
)
def test_a_finding_is_new_or_fixed_only_where_both_sides_evaluated_it(before, after, status, reason):
    (change,) = finding_changes([recording(before)], [recording(after)], {})
    assert (change.status, change.reason) == (status, reason)


def test_an_answer_for_the_recording_stands_for_its_models():
    after = recording(check("passed", None), check("passed", "A", "cold-load"))
    (change,) = finding_changes([recording(check("finding"))], [after], {})
    assert change.status is FindingStatus.FIXED


def test_a_finding_is_fixed_only_if_no_recording_has_it():
    before, clean, dirty = recording(check("finding")), recording(check("passed")), recording(check("finding"))
    assert finding_changes([before], [clean, clean], {})[0].status is FindingStatus.FIXED
    assert finding_changes([before], [clean, dirty], {})[0].status is FindingStatus.STILL_THERE


def test_models_of_one_check_stand_together_with_their_savings():
    before = recording(check("finding", "A", savings=3), check("finding", "B", savings=4))
    after = recording(check("passed", "A"), check("passed", "B"))
    (change,) = finding_changes([before], [after], {})
    assert (change.models, change.savings_before_ns, change.savings_after_ns) == (("A", "B"), 7, None)


def test_a_renamed_model_keeps_its_findings():
    (change,) = finding_changes(
        [recording(check("finding", "Old"))], [recording(check("passed", "New"))], {"Old": "New"}
    )
    assert (change.status, change.models) == (FindingStatus.FIXED, ("New",))
