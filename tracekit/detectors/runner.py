"""Runs detectors over a trace. Decides by itself where a detector could not look, and never lets one failure end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.detectors.framework import Detector
from tracekit.detectors.options import configure
from tracekit.detectors.outcomes import DetectorFailed, InsufficientData, NotApplicable, Outcome
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.views import model_views, unnamed_predictions
from tracekit.errors import UsageError, unknown
from tracekit.recording.table import TableState

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tracekit.detectors.framework import AnyDetector, ModelView
    from tracekit.trace.model import Trace


class Judgement(NamedTuple):
    """One answer of one detector."""

    detector: AnyDetector
    outcome: Outcome
    caveats: tuple[str, ...] = ()
    """What the reader must know before relying on the answer, one sentence each."""


def run_detectors(
    trace: Trace,
    *,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Mapping[str, str | int | float] | None = None,
    detectors: Sequence[AnyDetector] = DETECTORS,
) -> tuple[Judgement, ...]:
    """Every chosen detector's outcome for every model, or one for the recording where it is about that, or where there
    is no model to judge.

    Raises `UsageError` for an unknown detector id, option or value.
    """
    options = configure(detectors, settings or {})
    views = model_views(trace)
    return tuple(
        Judgement(detector, outcome, ())
        for detector in choose(detectors, only, skip)
        for outcome in _judge(detector, options[detector.id], trace, views)
    )


def choose(detectors: Sequence[AnyDetector], only: Collection[str], skip: Collection[str]) -> tuple[AnyDetector, ...]:
    """The detectors named in `only` (all where it is empty) less those in `skip`. Raises `UsageError` for others."""
    ids = [detector.id for detector in detectors]
    for name in (*only, *skip):
        if name not in ids:
            raise unknown("detector", name, ids)
    chosen = tuple(d for d in detectors if (not only or d.id in only) and d.id not in skip)
    if not chosen:
        raise UsageError("no detector is left to run: everything is skipped")
    return chosen


def _judge(detector: AnyDetector, options: Any, trace: Trace, views: Sequence[ModelView]) -> list[Outcome]:
    """Outcomes of one detector."""
    blind = _missing_evidence(detector, trace)
    if blind is not None:
        return [blind]
    if not isinstance(detector, Detector):
        return [_detect(detector.detect, trace, options, None)]
    outcomes = [_detect(detector.detect, view, options, view.name) for view in views]
    unnamed = unnamed_predictions(trace)
    if unnamed:
        outcomes.append(
            InsufficientData(
                model=None,
                reason=f"{unnamed} predictions carry no model name, so they cannot be judged per model.",
                record="Start the recording before the app loads its models: names come from the load.",
            )
        )
    return outcomes or [NotApplicable(model=None, reason="No load and no prediction of a model was recorded.")]


def _missing_evidence(detector: AnyDetector, trace: Trace) -> InsufficientData | None:
    """Why the detector could not look, if one of the instruments it needs holds no rows."""
    for instrument in detector.needs:
        coverage = trace.cover(instrument)
        if coverage.state is not TableState.ROWS:
            return InsufficientData(model=None, reason=coverage.conclusion, record=coverage.advice)
    return None


def _detect(detect: Callable[[Any, Any], Outcome], seen: Any, options: Any, model: str | None) -> Outcome:
    """The answer of one detector function; whatever it raises becomes an outcome, so that the others still run."""
    try:
        return detect(seen, options)
    except Exception as error:
        return DetectorFailed(model=model, error=f"{type(error).__name__}: {error}")
