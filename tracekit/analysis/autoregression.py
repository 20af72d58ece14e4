"""Whether a model generates one token after another: sequences of its calls then open with a prompt, which takes longer
than the tokens that follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class OpeningRule:
    """When sequences of calls open with long ones."""

    ratio: float = 1.5
    """A call that opens a sequence stands out where it takes so many times the median of the sequence (our
    judgment)."""
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
    frame = pd.DataFrame({"duration": durations, "sequence": sequence})
    groups = frame.groupby("sequence")
    long = frame["duration"] >= rule.ratio * groups["duration"].transform("median")
    leading = long.groupby(frame["sequence"]).cummin()
    if rule.max_opening is not None:
        leading &= leading.groupby(frame["sequence"]).transform("sum") <= rule.max_opening
    sizes = groups.size()
    judged = sizes.index[sizes >= rule.min_calls]
    opened = frame.loc[leading, "sequence"].unique()
    count = int(np.isin(judged, opened).sum())
    if count < rule.min_sequences or count < rule.share * len(judged):
        return np.zeros(len(durations), np.bool_)
    return leading.to_numpy(dtype=bool)
