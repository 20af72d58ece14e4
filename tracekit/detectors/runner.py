"""Runs detectors over a trace. Decides by itself where a detector could not look, and never lets one failure end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.detectors.caveats import caveats
from tracekit.detectors.framework import Detector
from tracekit.detectors.options import check_settings, configure, configure_model, matches
from tracekit.detectors.outcomes import (
    DetectorFailed,
    Finding,
    InsufficientData,
    NotApplicable,
    Outcome,
    Passed,
    check_outcome,
)
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.views import model_views, unnamed_predictions
from tracekit.errors import UsageError, unknown
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tracekit.detectors.framework import AnyDetector
    from tracekit.detectors.options import ModelSettings, Settings
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
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    model_skip: Mapping[str, Collection[str]] | None = None,
    detectors: Sequence[AnyDetector] = DETECTORS,
) -> tuple[Judgement, ...]:
    """Every chosen detector's outcome for every model, or one for the recording where it is about that, or where there
    is no model to judge. `model_settings` hold for the models that match, and outweigh `settings`; `model_skip` gives
    detectors that those models are not judged by.

    Raises `UsageError` for an unknown detector id, option or value.
    """
    general, special = settings or {}, model_settings or {}
    check_settings(detectors, general, special)
    chosen = choose(detectors, only, skip)
    options = configure(detectors, general)
    outcomes = {detector.id: _of_recording(detector, options[detector.id], trace) for detector in chosen}
    judging = [detector for detector in chosen if isinstance(detector, Detector) and not outcomes[detector.id]]
    # Model by model: what is cut from the trace for one is let go before the next.
    for view in model_views(trace) if judging else ():
        own = configure_model(detectors, general, special, view.name) if special else options
        left_out = _left_out(model_skip or {}, view.name)
        for detector in judging:
            outcomes[detector.id].append(
                NotApplicable(view.name, "Left out for this model by the settings.")
                if detector.id in left_out
                else _detect(detector.detect, view, own[detector.id], view.name)
            )
    unnamed = _unnamed(trace)
    for detector in judging:
        answers = outcomes[detector.id] + unnamed
        outcomes[detector.id] = answers or [NotApplicable(None, "No load and no prediction of a model was recorded.")]
    limits = {detector.id: caveats(detector, trace) for detector in chosen}
    return tuple(
        Judgement(detector, outcome, limits[detector.id] if isinstance(outcome, Finding | Passed) else ())
        for detector in chosen
        for outcome in outcomes[detector.id]
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


def _left_out(model_skip: Mapping[str, Collection[str]], model: str) -> set[str]:
    """Ids of the detectors that do not judge this model."""
    return {name for pattern, names in model_skip.items() if matches(model, pattern) for name in names}


def _of_recording(detector: AnyDetector, options: Any, trace: Trace) -> list[Outcome]:
    """The one outcome of a detector that could not look, or that judges the recording; none where it judges models."""
    blind = _missing_evidence(detector, trace)
    if blind is not None:
        return [blind]
    if isinstance(detector, Detector):
        return []
    return [_detect(detector.detect, trace, options, None)]


def _unnamed(trace: Trace) -> list[Outcome]:
    """The outcome for predictions without a model, if there are any."""
    unnamed = unnamed_predictions(trace)
    if not unnamed:
        return []
    return [
        InsufficientData(
            model=None,
            reason=f"{unnamed} predictions carry no model name, so they cannot be judged per model.",
            record="Start the recording before the app loads its models: names come from the load.",
        )
    ]


def _missing_evidence(detector: AnyDetector, trace: Trace) -> InsufficientData | None:
    """Why the detector could not look, if one of the instruments it needs holds no rows."""
    for instrument in detector.needs:
        coverage = trace.cover(instrument)
        stand_in = instrument == CORE_ML and detector.on_inferred and trace.inferred
        if coverage.state is not TableState.ROWS and not stand_in:
            return InsufficientData(model=None, reason=coverage.conclusion, record=coverage.advice)
    return None


def _detect(detect: Callable[[Any, Any], Outcome], seen: Any, options: Any, model: str | None) -> Outcome:
    """The answer of one detector function; whatever it raises, exits too, becomes an outcome, so that the others
    still run."""
    try:
        outcome = detect(seen, options)
        check_outcome(outcome, model)
        return outcome
    except (Exception, SystemExit) as error:
        return DetectorFailed(model=model, error=f"{type(error).__name__}: {error}")
