"""Where the time of predictions goes, in words and bars."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.forms import long_text, markdown
from tracekit.analysis.breakdown.partition import Part, Unknown
from tracekit.analysis.breakdown.summary import GROUPS, BreakdownSummary, PartSummary
from tracekit.documents.time_breakdown import legend, parts_notes, parts_rows

US = 1_000


def summary(times: dict[Part, int], unknown: dict[Part, tuple[Unknown, ...]] | None = None) -> BreakdownSummary:
    """Ten predictions; times in µs per prediction. Parts named as unknown without a time are known nowhere."""
    reasons = unknown or {}
    total_ns = sum(times.values()) * US * 10
    parts = []
    for part in Part:
        hidden = part in reasons and part not in times
        total = times.get(part, 0) * US * 10
        parts.append(
            PartSummary(
                part=str(part),
                known=0 if hidden else 10,
                total_ns=None if hidden else total,
                mean_ns=None if hidden else total / 10,
                share=None if hidden else total / total_ns,
                unknown=tuple(map(str, reasons.get(part, ()))),
            )
        )
    return BreakdownSummary(10, total_ns, total_ns / 10, tuple(parts), 1.0, 0.0, 1.0, 0.0, 0.0, 0)


@pytest.fixture
def watercolor(full):
    """The example of the reference (10.1), 7.2 ms."""
    times = {
        Part.ANE: 3100,
        Part.GPU: 2300,
        Part.DATA_BEFORE: 60,
        Part.DATA_AFTER: 50,
        Part.ANE_QUEUE: 400,
        Part.GPU_QUEUE: 700,
        Part.UNEXPLAINED: 590,
    }
    return replace(full.models[0], breakdown=summary(times), quantities={"fps": 138.9, "fps_at_p95": 92.4})


def flat(text: str) -> str:
    return " ".join(text.split())


def test_every_part_stands_in_one_group():
    assert sorted(part for group in GROUPS for part in group.parts) == sorted(Part)


def test_the_sentence_gives_the_largest_first(watercolor):
    (row,) = parts_rows([watercolor])
    assert row.sentence == (
        "of 7.20 ms: Neural Engine 3.10 ms (43%), GPU 2.30 ms (32%), queued 1.10 ms (15%), unexplained 590 µs (8.2%), "
        "data 110 µs (1.5%); fast enough for 138 fps (92 at p95)"
    )


def test_the_bar_gives_each_its_share_and_uses_all_cells(watercolor):
    (row,) = parts_rows([watercolor])
    # Edges at 43.06, 75, 76.53, 91.81 and 100 % of 72 cells: 31, 54, 55.1, 66.1, 72.
    assert row.bar(72) == "N" * 31 + "G" * 23 + "d" + "q" * 11 + "·" * 6
    assert legend([row]) == "N Neural Engine, G GPU, d data, q queued, · unexplained"


def test_what_is_known_in_part_is_a_lower_bound(watercolor):
    times = {Part.ANE: 4000, Part.AMBIGUOUS: 6000}
    model = replace(
        watercolor,
        breakdown=summary(times, {Part.ANE: (Unknown.AMBIGUOUS,), Part.ANE_QUEUE: (Unknown.NO_REQUESTS,)}),
        quantities={"fps": 9.57, "fps_at_p95": None},
    )
    (row,) = parts_rows([model])
    assert row.sentence == "of 10.0 ms: ambiguous 6.00 ms (60%), Neural Engine ≥ 4.00 ms (40%); fast enough for 9.5 fps"
    notes = " ".join(parts_notes([row]))
    assert "ambiguous: compute-unit work of this prediction or of another one in flight" in notes
    assert "not all Neural Engine rows show which one they belong to" in notes
    assert "requests to the Neural Engine were not recorded; only queueing behind other work is known" in notes


@pytest.mark.parametrize(
    ("unknown", "words"),
    [
        ({Part.GPU: (Unknown.NOT_RECORDED,)}, "GPU activity was not recorded"),
        ({Part.ANE: (Unknown.NOT_SPLIT,)}, "does not show when the Neural Engine executed its requests"),
        ({Part.CPU: (Unknown.NO_CORE_ML,)}, "inferred predictions"),
    ],
)
def test_what_is_not_known_is_said(watercolor, unknown, words):
    model = replace(watercolor, breakdown=summary({Part.UNEXPLAINED: 100}, unknown), quantities={})
    (row,) = parts_rows([model])
    meaning, note, _ = parts_notes([row])
    assert meaning.startswith("unexplained: ")
    assert words in note
    assert row.sentence == "of 100 µs: unexplained 100 µs (100%)"


@pytest.mark.parametrize(
    ("preparing_us", "words"),
    [
        (0, "unexplained 89%, GPU 11%"),
        (4_000, "specialization 40%, unexplained 49%, GPU 11%"),
        (8_800, "specialization 88%, GPU 11%"),
    ],
)
def test_what_call_stacks_show_of_the_unexplained_is_named(full, watercolor, preparing_us, words):
    breakdown = summary({Part.GPU: 1_100, Part.UNEXPLAINED: 8_900})
    model = replace(watercolor, breakdown=breakdown, preparing_ns=preparing_us * US * 10)
    assert parts_rows([model])[0].headline == words


def test_models_without_breakdown_have_no_line(full):
    assert parts_rows(full.models) == ()
    assert "WHERE THE TIME" not in long_text(full, width=100, color=False)
    assert "Where the time" not in markdown(full)


@pytest.mark.parametrize("width", [100, 120])
def test_the_text_shows_bar_and_frames(full, watercolor, width):
    text = long_text(replace(full, models=(watercolor,)), width=width, color=False)
    # 43% and 32% of 20 cells, then 1.5% data.
    assert "█" * 9 + "▓" * 6 + "░" * 5 in text
    assert "fast enough for 138 fps (92 at p95)" in flat(text)
    assert all(len(line) <= width for line in text.splitlines())


def test_markdown_has_a_column_for_each_part(full, watercolor):
    text = markdown(replace(full, models=(watercolor,)))
    assert "| model | mean of all | Neural Engine | GPU | data | queued | unexplained | fps | fps at p95 |" in text
    assert "| 7.20 ms | 3.10 ms (43%) | 2.30 ms (32%) | 110 µs (1.5%) |" in text
