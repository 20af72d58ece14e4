"""Whether a model generates one token after another: sequences of its calls then open with a prompt, which takes longer
than the tokens that follow; or copies that go into and out of every call show that calls continue each other."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracekit.analysis.copies import data_rows
from tracekit.analysis.statistics import medians_by_group, top_calls
from tracekit.arrays import BoolArray, IntArray
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import COPY_KINDS, Calls, Events, Kind
from tracekit.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class OpeningRule:
    """When sequences of calls open with long ones."""

    ratio: float = 1.5
    """A call that opens a sequence takes at least so many times the median of the sequence (our judgment)."""
    min_calls: int = 3
    """Shorter sequences do not show how they open."""
    share: float = 0.5
    """Part of the sequences that must open alike."""
    min_sequences: int = 2
    """And so many of them at least."""
    max_opening: int | None = 8
    """Most long calls that open a sequence: a prompt of 4,096 tokens in pieces of 512 takes so many. More of them in a
    row are a phase of the device, such as clocks that come up (our judgment). None for no limit."""


ANY_OPENING = OpeningRule()
"""Where a false sign only costs an answer: such calls are left out of comparisons, or keep a detector from judging."""

SURE_OPENING = OpeningRule(ratio=3.0, min_calls=8, share=0.8, max_opening=None)
"""Where it is the only sign of a finding: a prompt takes so many times a token that follows. A gap before the call
explains less (our judgment)."""

ONLY_OPENING = replace(SURE_OPENING, min_calls=1, min_sequences=1)
"""The same for a single sequence, which no other can confirm."""


def opens_sequence(durations: IntArray, sequence: IntArray, rule: OpeningRule = ANY_OPENING) -> BoolArray:
    """Shape (calls,): the call is one of the long ones with which most sequences open.

    `sequence` numbers the sequence of each call, which lie one after another. O(n log n).
    """
    number = np.cumsum(np.diff(sequence, prepend=sequence[:1]) != 0)
    sizes = np.bincount(number)
    long = durations >= rule.ratio * medians_by_group(durations, number, len(sizes))[number]
    # Long, as all before it in its sequence.
    short_before = np.cumsum(~long)
    opens = np.cumsum(sizes) - sizes
    leading: BoolArray = short_before == (short_before - ~long)[opens][number]
    if rule.max_opening is not None:
        leading &= (np.bincount(number, leading, minlength=len(sizes)) <= rule.max_opening)[number]
    judged = sizes >= rule.min_calls
    opened = np.bincount(number[leading], minlength=len(sizes)) > 0
    count = int((judged & opened).sum())
    if count < rule.min_sequences or count < rule.share * int(judged.sum()):
        return np.zeros(len(durations), np.bool_)
    return leading


SMALL_INPUT = 0.1
"""An input is small where copying it takes at most so much of the time: a token beside a cache (heuristic)."""

MIN_SEQUENCE = 8
"""Calls that a sequence must have to tell how it opens (heuristic)."""

USUAL = 0.8
"""Share of the sequences that must open alike (heuristic)."""


@dataclass(frozen=True, slots=True, eq=False)
class StateCopies:
    """Shape (predictions,) each; times in ns, overlaps counted once."""

    into: IntArray
    """Copies and conversions of inputs: `Input Copy`, and what else copies in the first half of the call."""
    out: IntArray
    """The same of outputs: `Output Transformation`, and what else copies in the second half."""
    both: IntArray
    has_small_input: BoolArray
    """An input copy of the call is small beside another."""
    rows: IntArray
    """Ids of the copy rows that lie in one prediction; of any shape."""


def state_copies(predictions: Calls, data: Events) -> StateCopies:
    """Copies of each prediction by direction; `data` links to the `id` of predictions. O(n log n)."""
    rows = data_rows(predictions, data, COPY_KINDS)
    copies = rows.where(rows.is_linked)
    times, group = copies.times_inside, copies.position
    is_input = copies.kind.is_any(Kind.INPUT_COPY)
    middle = rows.called.starts + rows.called.durations // 2
    first_half = times.starts < middle[group]
    goes_in = is_input | (first_half & ~copies.kind.is_any(Kind.OUTPUT_TRANSFORMATION))

    def cover(chosen: BoolArray) -> IntArray:
        return times.where(chosen).covered_by_group(group[chosen], len(predictions))

    smallest = np.full(len(predictions), np.iinfo(np.int64).max)
    largest = np.zeros(len(predictions), np.int64)
    lengths = times.durations[is_input]
    np.minimum.at(smallest, group[is_input], lengths)
    np.maximum.at(largest, group[is_input], lengths)
    return StateCopies(
        into=cover(goes_in),
        out=cover(~goes_in),
        both=cover(np.ones(len(group), dtype=bool)),
        has_small_input=smallest <= SMALL_INPUT * largest,
        rows=copies.id,
    )


def opened_by_another_model(trace: Trace, predictions: Calls, sequence: IntArray, min_sequences: int = 2) -> bool:
    """Whether a call of one other model, made hardly ever else, opens so many sequences or more: it comes after the
    model's own last call and before its next one, whatever further models do meanwhile. O(n log n)."""
    starts = predictions.start_ns
    opens = np.flatnonzero(np.diff(sequence, prepend=-1) != 0)
    opens = opens[np.diff(opens, append=len(sequence)) >= MIN_SEQUENCE]
    if len(opens) < min_sequences:
        return False
    calls = top_calls(trace, Kind.PREDICTION)
    others = np.flatnonzero(calls.model.known & ~calls.model.is_any(str(predictions.model.item(0))))
    begin, model = calls.start_ns[others], calls.model.codes[others].astype(np.int64)
    opened = np.searchsorted(starts[opens], begin, side="right")
    before = np.append(np.where(opens > 0, starts[opens - 1], -1), np.iinfo(np.int64).max)
    count = len(calls.model.values)
    distinct = distinct_numbers((opened * count + model)[begin > before[opened]])
    total, times = np.bincount(model, minlength=count), np.bincount(distinct % max(count, 1), minlength=count)
    return bool(((times >= USUAL * len(opens)) & (total <= 2 * times)).any())
