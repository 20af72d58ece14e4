"""What became of findings: fixed only where the check was evaluated."""

from dataclasses import replace

import numpy as np
import pytest

from tracekit.comparison.comparison import compare
from tracekit.comparison.findings import FindingStatus, finding_changes
from tracekit.comparison.measurements import CheckResult, Environment, Measurements
from tracekit.comparison.measuring import margin_of
from tracekit.detectors.outcomes import Metric, above, below

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
        (check("finding"), check("not_applicable"), FindingStatus.NOT_COMPARABLE, "not applicable after"),
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


def test_an_answer_for_the_recording_stands_for_its_models_and_a_renamed_one_keeps_its_findings():
    after = recording(check("passed", None), check("passed", "A", "cold-load"))
    (change,) = finding_changes([recording(check("finding"))], [after], {})
    assert change.status is FindingStatus.FIXED
    before, after = recording(check("finding", "Old")), recording(check("passed", "New"))
    (change,) = finding_changes([before], [after], {"Old": "New"})
    assert (change.status, change.models) == (FindingStatus.FIXED, ("New",))


def test_a_finding_is_fixed_only_if_no_recording_has_it():
    before, clean = recording(check("finding")), recording(check("passed"))
    for after, status in (([clean, clean], FindingStatus.FIXED), ([clean, before], FindingStatus.STILL_THERE)):
        assert finding_changes([before], after, {})[0].status is status


def test_models_of_one_check_stand_together_with_their_savings():
    before = recording(check("finding", "A", savings=3), check("finding", "B", savings=4))
    after = recording(check("passed", "A"), check("passed", "B"))
    (change,) = finding_changes([before], [after], {})
    assert (change.models, change.savings_before_ns, change.savings_after_ns) == (("A", "B"), 7, None)


@pytest.mark.parametrize(("before", "after", "status", "reason"), [
    ((10, 10), (0, 1), FindingStatus.FIXED, ""),
    ((5, 10), (0, 1), FindingStatus.NOT_COMPARABLE, "too few recordings to tell"),
    ((5, 10), (0, 10), FindingStatus.FIXED, ""),
    ((0, 10), (1, 10), FindingStatus.NOT_COMPARABLE, "too few recordings to tell"),
    ((0, 10), (5, 10), FindingStatus.NEW, ""),
    ((0, 3), (3, 3), FindingStatus.NEW, ""),
])  # fmt: skip
def test_what_some_recordings_have_changed_only_where_chance_hardly_explains_it(before, after, status, reason):
    """Fisher's exact test, one-sided: 5 of 10 against 0 of 10 has 1.6%, 0 of 10 against 1 of 10 has 50%."""
    sides = [
        [recording(check("finding" if number < found else "passed")) for number in range(count)]
        for found, count in (before, after)
    ]
    (change,) = finding_changes(*sides, {})
    assert (change.status, change.reason, change.rates) == (status, reason, (before, after))


@pytest.mark.parametrize(("margins", "status"), [
    ((1.02, 0.97), FindingStatus.NOT_COMPARABLE),
    ((1.3, 0.97), FindingStatus.FIXED),
    ((1.02, 0.5), FindingStatus.FIXED),
    ((1.02, None), FindingStatus.FIXED),
])  # fmt: skip
def test_a_finding_that_barely_crossed_its_threshold_is_not_fixed(margins, status):
    one, other = (
        replace(check(outcome), margin=margin) for outcome, margin in zip(("finding", "passed"), margins, strict=True)
    )
    (fixed,), (new,) = (finding_changes([recording(a)], [recording(b)], {}) for a, b in ((one, other), (other, one)))
    assert fixed.status is status
    assert (new.status is FindingStatus.NEW) is (status is FindingStatus.FIXED)


@pytest.mark.parametrize("counts", [(10, 1), (1, 1), (3, 3)])
def test_what_lies_on_its_threshold_is_neither_fixed_nor_new(counts):
    """Recordings of one build, whose metric varies by 5% about the threshold, in 500 pairs of sides."""
    generator, said = np.random.default_rng(1), []
    for _ in range(500):
        sides = [
            [
                recording(replace(check("finding" if margin >= 1 else "passed"), margin=margin))
                for margin in np.exp(generator.normal(0, 0.05, count)).tolist()
            ]
            for count in counts
        ]
        said += [change.status for change in finding_changes(*sides, {})]
    changed = [status for status in said if status in (FindingStatus.FIXED, FindingStatus.NEW)]
    assert len(said) > 300
    assert len(changed) <= 0.02 * 500


def test_the_margin_is_that_of_the_condition_that_decides():
    metrics = (above("a", "a", 3.0, "ratio", 2.0), below("b", "b", 0.4, "share", 0.5), Metric("c", "c", 7, "count"))
    assert margin_of(metrics) == pytest.approx(1.25)
    assert margin_of(metrics[2:]) is None


@pytest.mark.parametrize(
    ("name", "systems", "status"),
    [
        ("memory-peak", ("iOS 26.3 (23D8133)", "iOS 27.2 (24B5089g)"), FindingStatus.NOT_COMPARABLE),
        ("memory-peak", ("iOS 27.0 (24A1)", "iOS 27.2 (24B5089g)"), FindingStatus.NEW),
        ("memory-peak", (None, "iOS 27.2 (24B5089g)"), FindingStatus.NEW),
        ("load-churn", ("iOS 26.3 (23D8133)", "iOS 27.2 (24B5089g)"), FindingStatus.NEW),
    ],
)
def test_footprints_of_os_27_are_other_sizes(name, systems, status):
    before, after = (
        replace(recording(check(outcome, None, name)), environment=replace(NOWHERE, system=system))
        for outcome, system in zip(("passed", "finding"), systems, strict=True)
    )
    (change,) = finding_changes([before], [after], {})
    assert change.status is status
    noted = any(note.startswith("Footprints do not compare") for note in compare([before], [after]).notes)
    assert noted is (status is FindingStatus.NOT_COMPARABLE)
