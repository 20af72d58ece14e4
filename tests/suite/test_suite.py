"""Every detector on labelled recordings: right outside the near misses, and right on both sides of its thresholds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from suite.accuracy import page
from suite.frame import CLEAN, KINDS, SHARED, complaints, detector_ids, judge, load, module_of

MODULES = [module_of(detector) for detector in detector_ids()]
PAGE = Path(__file__).parents[2] / "docs" / "detectors" / "accuracy.md"


def assert_right(module: str, kind: str) -> None:
    """Every case of a kind gives what it expects, and no finding beyond."""
    chosen = [(case, judge(module, place)) for place, case in enumerate(load(module)) if case.kind == kind]
    wrong = [line for case, judged in chosen for line in complaints(case, judged)]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("module", MODULES)
def test_every_detector_has_enough_cases(module):
    found = load(module)
    assert found, f"tests/suite/cases/{module}.py is missing or empty: see docs/new-detector.md"
    assert {module_of(case.detector) for case in found} == {module}
    counts = Counter(case.kind for case in found)
    assert set(counts) <= set(KINDS)
    few = {kind: f"{counts[kind]} of {least}" for kind, least in KINDS.items() if counts[kind] < least}
    assert not few, f"cases of {module} that are missing: {few}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("module", MODULES)
def test_a_detector_is_right_in_its_cases(judged, module, kind):
    assert_right(module, kind)


@pytest.mark.parametrize("module", SHARED)
def test_recordings_that_no_detector_owns_hold_no_other_findings(judged, module):
    assert_right(module, CLEAN)


def test_the_page_gives_the_figures_of_today(judged):
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make accuracy` and read the difference"
