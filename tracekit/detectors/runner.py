"""Runs detectors over a trace. Decides by itself where a detector could not look, and never lets one failure end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.detectors.caveats import caveats
from tracekit.detectors.framework import Detector
from tracekit.detectors.options import check_settings, configure, configure_model, matches
from tracekit.detectors.outcomes import DetectorFailed, InsufficientData, NotApplicable, Outcome
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.views import model_views, unnamed_predictions
from tracekit.errors import UsageError, unknown
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from tracekit.detectors.framework import AnyDetector, ModelView
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
    views = model_views(trace)
    options: dict[str | None, dict[str, Any]] = {None: configure(detectors, general)}
    options |= {view.name: configure_model(detectors, general, special, view.name) for view in views}
    left_out = {
        (detector, view.name)
        for pattern, names in (model_skip or {}).items()
        for detector in names
        for view in views
        if matches(view.name, pattern)
    }
    return tuple(
        Judgement(detector, outcome, caveats(detector, outcome, trace))
        for detector in choose(detectors, only, skip)
        for outcome in _judge(detector, options, left_out, trace, views)
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


def _judge(
    detector: AnyDetector,
    options: Mapping[str | None, Mapping[str, Any]],
    left_out: Collection[tuple[str, str]],
    trace: Trace,
    views: Sequence[ModelView],
) -> list[Outcome]:
    """Outcomes of one detector. `options` are those of all detectors for each model, and for the recording (None);
    `left_out` holds detectors with the models that they do not judge."""
    blind = _missing_evidence(detector, trace)
    if blind is not None:
        return [blind]
    if not isinstance(detector, Detector):
        return [_detect(detector.detect, trace, options[None][detector.id], None)]
    outcomes = [
        NotApplicable(view.name, "Left out for this model by the settings.")
        if (detector.id, view.name) in left_out
        else _detect(detector.detect, view, options[view.name][detector.id], view.name)
        for view in views
    ]
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
        stand_in = instrument == CORE_ML and detector.on_inferred and trace.inferred
        if coverage.state is not TableState.ROWS and not stand_in:
            return InsufficientData(model=None, reason=coverage.conclusion, record=coverage.advice)
    return None


def _detect(detect: Callable[[Any, Any], Outcome], seen: Any, options: Any, model: str | None) -> Outcome:
    """The answer of one detector function; whatever it raises becomes an outcome, so that the others still run."""
    try:
        return detect(seen, options)
    except Exception as error:
        return DetectorFailed(model=model, error=f"{type(error).__name__}: {error}")
