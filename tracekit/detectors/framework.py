"""What a detector is, and what it is given.

A detector is metadata, typed options with defaults, and one pure function from a `ModelView` to an outcome. The
runner decides by itself whether a detector could look at all, so a detector never has to abstain for lack of a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from tracekit.detectors.outcomes import Outcome
    from tracekit.trace.model import Trace

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a fact or an advice comes from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """What a detector sees of one model that the app called. Every frame is sorted by start and keeps its index."""

    name: str
    trace: Trace
    loads: pd.DataFrame
    """Its load rows of the Activity lane."""
    predictions: pd.DataFrame
    """Its prediction rows of the Activity lane, level `top`."""
    data: pd.DataFrame
    """Data rows of the model and, for a pipeline, of its stages; `prediction` names a row of `predictions`."""
    compute: pd.DataFrame
    """Compute rows, chosen and linked in the same way."""


@dataclass(frozen=True, slots=True)
class Detector(Generic[Options]):
    """One antipattern. File name = id with underscores."""

    id: str
    """Noun of what is found, kebab case."""
    title: str
    """Describes the good state."""
    finding_title: str
    """States the problem."""
    description: str
    """Markdown page for `tracekit explain`: what it is, how it is measured, what can look like it and is not."""
    why: str
    """One sentence: what it costs the user."""
    fix: str
    """Markdown with Swift or coremltools code: the API to call."""
    references: tuple[Reference, ...]
    needs: tuple[str, ...]
    """Instruments (names in `Trace.coverage`) whose tables must hold rows."""
    options: type[Options]
    """Frozen dataclass; every field is made by `option`."""
    detect: Callable[[ModelView, Options], Outcome]
