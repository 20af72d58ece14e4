"""Every detector on labeled recordings: right outside the near misses, and right on both sides of its thresholds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from suite.accuracy import page
from suite.conftest import left_out
from suite.frame import CLEAN, KINDS, SHARED, complaints, detector_ids, judge, load, module_of, own_complaints

MODULES = [module_of(detector) for detector in detector_ids()]
PAGE = Path(__file__).parents[2] / "docs" / "detectors" / "accuracy.md"


def assert_right(module: str, numbers: list[int]) -> None:
    """These cases give what they expect, and no finding beyond."""
    wrong = [line for number in numbers for line in complaints(load(module)[number], judge(module, number))]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("module", MODULES)
def test_every_detector_has_enough_cases(module):
    cases_of_module = load(module)
    assert cases_of_module, f"tests/suite/cases/{module}.py is missing or empty: see docs/new-detector.md"
    assert {module_of(case.detector) for case in cases_of_module} == {module}
    counts = Counter(case.kind for case in cases_of_module)
    assert set(counts) <= set(KINDS)
    few = {kind: f"{counts[kind]} of {least}" for kind, least in KINDS.items() if counts[kind] < least}
    assert not few, f"cases of {module} that are missing: {few}"


def pytest_generate_tests(metafunc):
    if "kind" in metafunc.fixturenames:
        unasked = {module: left_out(metafunc.config, module) for module in MODULES}
        pairs = [(module, kind) for module in MODULES for kind in KINDS if kind not in unasked[module]]
        metafunc.parametrize(("module", "kind"), pairs)


def test_a_detector_is_right_in_its_cases(judged, chosen_numbers, module, kind):
    assert_right(module, chosen_numbers(module, kind))


@pytest.mark.parametrize("module", MODULES)
def test_a_detector_is_right_in_each_kind_of_its_cases(module):
    """On both sides of its thresholds too: `tests/detectors/rules` does not try them again."""
    wrong = own_complaints(module)
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("module", SHARED)
def test_recordings_that_no_detector_owns_hold_no_other_findings(judged, chosen_numbers, module):
    assert_right(module, chosen_numbers(module, CLEAN))


def test_the_page_gives_the_figures_of_today(request, judged):
    if not request.config.getoption("--every-case"):
        pytest.skip("the figures are those of all labeled recordings: run with --every-case")
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make accuracy` and read the difference"
