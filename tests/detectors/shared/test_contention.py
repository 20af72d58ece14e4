"""Predictions that met other work, compared with those that met none."""

from __future__ import annotations

import numpy as np
import pytest

from tracekit.detectors import ModelView
from tracekit.detectors.outcomes import NotEvaluated, Passed
from tracekit.detectors.shared.contention import Contention, ContentionWords, Met
from tracekit.detectors.shared.options import ContentionOptions
from tracekit.trace.events import bare_events

NET = ModelView("Net", *[None] * 7)
OPTIONS = ContentionOptions(overlap_share=0.2, calm_share=0.05)
WORDS = ContentionWords(
    "GPU", "the GPU drew", "the GPU draws", "their GPU time", "Draw less.", "Games are not recorded."
)
CONTENTION = Contention(NET, OPTIONS, WORDS)


def met(*groups: tuple[int, float, int]) -> Met | Passed | NotEvaluated:
    """So many predictions each, with their overlap and their duration."""
    counts, overlap, durations = zip(*groups, strict=True)
    rows = bare_events(np.zeros(sum(counts), np.int64), np.repeat(durations, counts))
    return CONTENTION.split(rows, np.repeat(overlap, counts))


def test_extra_time_is_measured_from_the_undisturbed_median() -> None:
    comparison = met((5, 0.2, 130), (5, 0.05, 100), (3, 0.1, 90))
    assert isinstance(comparison, Met)
    assert (comparison.disturbed.sum(), comparison.calm.sum()) == (5, 5)
    assert comparison.extra_ns.tolist() == [30] * 5 + [0] * 8


def test_what_is_not_recorded_is_said_where_few_met_others() -> None:
    passed = met((1, 0.3, 100), (19, 0.0, 100))
    assert isinstance(passed, Passed)
    assert (
        passed.summary
        == "During 5% of the predictions, the GPU drew for 20% or more of their GPU time. Games are not recorded."
    )


@pytest.mark.parametrize(("calm", "words"), [(0, "none ran undisturbed"), (4, "4 ran undisturbed")])
def test_without_undisturbed_predictions_there_is_nothing_to_compare(calm: int, words: str) -> None:
    few = met((10, 0.5, 100), (calm, 0.0, 100))
    assert isinstance(few, NotEvaluated)
    assert words in few.reason
    assert few.record == "Draw less."


@pytest.mark.parametrize(
    ("slow", "explained", "chance", "reason"),
    [
        (119, 1.0, "", "Predictions take 1.19x as long while the GPU draws."),
        (
            120,
            0.49,
            "",
            "Predictions take 1.20x as long while the GPU draws, but that explains only 49% of the extra time.",
        ),
        (120, 0.5, "it rains", "Predictions take 1.20x as long while the GPU draws, but it rains."),
        (120, 0.5, "", None),
    ],
)
def test_each_threshold_is_asked_in_turn(slow: int, explained: float, chance: str, reason: str | None) -> None:
    comparison = met((5, 1.0, slow), (5, 0.0, 100))
    assert isinstance(comparison, Met)
    answer = CONTENTION.slowdown(comparison, explained, lambda: chance)
    assert getattr(answer, "summary", None) == reason
