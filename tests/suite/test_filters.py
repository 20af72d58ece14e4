"""A filter shows less of a labeled recording and changes nothing of what it shows."""

from dataclasses import replace

import pytest

from suite.cases.neural_engine_contention import behind_another_model
from suite.conftest import numbers_of
from suite.filters import changed_by_filters, filter_complaints
from suite.frame import SHARED, detector_ids, module_of, read_back
from tracekit.api import judge
from tracekit.report.choice import choose_shown
from tracekit.testing import Draws

RARER = 9
"""Without `--every-case`, one in so many of the cases that are judged has its filters tried too, and those of one
detector in seven."""
MODULES = [*map(module_of, detector_ids()), *SHARED]


def pytest_generate_tests(metafunc):
    if "module" in metafunc.fixturenames:
        metafunc.parametrize("module", MODULES[:: 1 if metafunc.config.getoption("--every-case") else 7])


@pytest.mark.turns(2)
def test_a_filter_changes_no_answer(request, module):
    step = 1 if request.config.getoption("--every-case") else RARER
    wrong = filter_complaints((module, number) for number in numbers_of(request.config, module)[::step])
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def queued():
    """A short model that waits for a long one of the same app on the Neural Engine in every frame."""
    return read_back(behind_another_model(Draws(1)), bundle=False)


def checks_with_findings(report, model):
    return {check.id for check in report.results if (check.outcome, check.model) == ("finding", model)}


def test_a_model_that_waits_for_one_that_is_not_shown_still_waits(queued):
    full = judge(queued)
    (waiting,) = (check.model for check in full.results if check.id == "neural-engine-contention" and check.cost)
    part = judge(queued, shown=choose_shown(queued, models=[waiting]))
    assert checks_with_findings(part, waiting) == checks_with_findings(full, waiting)
    assert "neural-engine-contention" in checks_with_findings(part, waiting)
    assert {check.model for check in part.results} <= {waiting, None}


def test_the_comparison_tells_when_a_finding_is_left_out(queued, monkeypatch):
    from suite import filters

    kept = filters.results_from

    def fewer(judgments):
        checks = kept(judgments)
        return (
            tuple(replace(check, cost=None) for check in checks)
            if len({c.model for c in checks} - {None}) == 1
            else checks
        )

    monkeypatch.setattr(filters, "results_from", fewer)
    assert changed_by_filters(queued, {})
