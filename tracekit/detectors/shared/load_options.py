"""What the detectors of loads and first calls share: thresholds for waiting, and what to say without a load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.analysis.load_waits import next_call, setup_work, stand_alone
from tracekit.detectors import (
    BoolArray,
    InsufficientData,
    ModelView,
    NotApplicable,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """Which loads a call waited for: shape (loads,) each."""

    surely: BoolArray
    perhaps: BoolArray
    """A call did, unless it was a single one to warm the model up."""


def called(view: ModelView, loads: pd.DataFrame, soon_ms: float, pause_s: float) -> Called:
    """Which loads a call of the model waited for, at once or behind further setup work of the app, other than a single
    one to warm the model up. `loads` are some of the view's. O(n log n)."""
    call = next_call(loads, view.predictions, round(soon_ms * 1e6), setup_work(view.trace))
    waits = np.flatnonzero(call >= 0)
    alone = stand_alone(view.predictions, call[waits], round(pause_s * 1e9))
    surely, perhaps = np.zeros(len(call), np.bool_), np.zeros(len(call), np.bool_)
    surely[waits], perhaps[waits] = ~(alone.surely | alone.perhaps), alone.perhaps
    return Called(surely, perhaps)


def perhaps_warmed_up(view: ModelView, what: str) -> InsufficientData:
    """The answer where a prediction after a load (`what`: a noun) may be one to warm the model up."""
    return view.unknown(
        f"A gap follows {what}. Gaps are long throughout, so the recording does not show whether a user waited for "
        "that prediction or whether it warmed the model up.",
        "Record the feature from the load on, with several predictions in a row.",
    )


def no_load() -> NotApplicable:
    """The answer of a check of all models where none was loaded."""
    return NotApplicable(None, "No model was loaded during the recording.")
