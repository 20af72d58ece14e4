"""Runs detectors over a trace. Decides by itself where a detector could not look, and never lets one failure end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tracekit.detectors.answers import RECORD_EARLIER
from tracekit.detectors.caveats import caveats
from tracekit.detectors.checking import check_outcome
from tracekit.detectors.foreign import ForeignCodeFailed, copy_of, run_foreign
from tracekit.detectors.framework import Detector, Judgment
from tracekit.detectors.options import check_settings, configure, configure_model, matches
from tracekit.detectors.outcomes import (
    DetectorFailed,
    Finding,
    InsufficientData,
    NotApplicable,
    Outcome,
    Passed,
)
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.selection import choose
from tracekit.detectors.views import model_views, unnamed_predictions
from tracekit.errors import words_of
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tracekit.detectors.framework import AnyDetector
    from tracekit.detectors.options import ModelSettings, Settings
    from tracekit.trace.trace import Trace


def run_detectors(
    trace: Trace,
    *,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    model_skip: Mapping[str, Collection[str]] | None = None,
    detectors: Sequence[AnyDetector] = DETECTORS,
) -> tuple[Judgment, ...]:
    """Every chosen detector's outcome for every model, or one for the recording where it is about that, or where there
    is no model to judge. `model_settings` hold for the models that match, and outweigh `settings`; `model_skip` gives
    detectors that those models are not judged by.

    Raises `UsageError` for an unknown detector id, option or value.
    """
    general, special = settings or {}, model_settings or {}
    check_settings(detectors, general, special)
    chosen = choose(detectors, only, skip)
    options = configure(detectors, general)
    applied = _Settings(detectors, general, special, model_skip or {}, options)
    outcomes = _outcomes([detector for detector in chosen if not _is_foreign(detector)], trace, applied)
    for detector in chosen:
        if _is_foreign(detector):
            outcomes |= _outcomes([detector], trace, applied)
    unnamed = _unnamed(trace)
    for detector in chosen:
        if isinstance(detector, Detector) and _missing_evidence(detector, trace) is None:
            answers = outcomes[detector.id] + unnamed
            outcomes[detector.id] = answers or [NotApplicable(None, "No model load or prediction was recorded.")]
    limits = {detector.id: caveats(detector, trace) for detector in chosen}
    return tuple(
        Judgment(detector, outcome, limits[detector.id] if isinstance(outcome, Finding | Passed) else ())
        for detector in chosen
        for outcome in outcomes[detector.id]
    )


class _Settings(NamedTuple):
    """What is set, for all models and for some."""

    detectors: Sequence[AnyDetector]
    general: Settings
    special: ModelSettings
    model_skip: Mapping[str, Collection[str]]
    options: dict[str, Any]
    """Of every detector by id, where no model has its own."""

    def of(self, model: str) -> dict[str, Any]:
        """Options of every detector for a model."""
        return configure_model(self.detectors, self.general, self.special, model) if self.special else self.options


def _outcomes(detectors: Sequence[AnyDetector], trace: Trace, settings: _Settings) -> dict[str, list[Outcome]]:
    """Outcomes of detectors by id: for each model, or one for the recording.

    A detector that is not ours gets a trace of its own: no other answer depends on what it does to it.
    """
    outcomes = {detector.id: _of_recording(detector, settings.options[detector.id], trace) for detector in detectors}
    judging = [detector for detector in detectors if isinstance(detector, Detector) and not outcomes[detector.id]]
    copied = copy_of(trace) if any(map(_is_foreign, judging)) else trace
    # Model by model: what is cut from the trace for one is let go before the next.
    for view in model_views(copied) if judging else ():
        options = settings.of(view.name)
        left_out = _left_out(settings.model_skip, view.name)
        for detector in judging:
            outcomes[detector.id].append(
                NotApplicable(view.name, "Skipped for this model by the config file.")
                if detector.id in left_out
                else _detect(detector, view, options[detector.id], view.name)
            )
    return outcomes


_OWN = frozenset(map(id, DETECTORS))


def _is_foreign(detector: AnyDetector) -> bool:
    """Whether its code is not tracekit's own."""
    return id(detector) not in _OWN


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
    return [_detect(detector, copy_of(trace) if _is_foreign(detector) else trace, options, None)]


def _unnamed(trace: Trace) -> list[Outcome]:
    """The outcome for predictions without a model, if there are any."""
    unnamed = unnamed_predictions(trace)
    if not unnamed:
        return []
    return [
        InsufficientData(
            model=None,
            reason=(
                f"{format_count(unnamed, 'prediction has', 'predictions have')} no model name, so they cannot be "
                "evaluated by model."
            ),
            record=RECORD_EARLIER,
        )
    ]


def _missing_evidence(detector: AnyDetector, trace: Trace) -> InsufficientData | None:
    """Why the detector could not look, if one of the instruments it needs holds no rows."""
    for instrument in detector.needs:
        coverage = trace.coverage_of(instrument)
        stand_in = instrument == CORE_ML and detector.on_inferred and trace.inferred
        if coverage.state is not TableState.ROWS and not stand_in:
            return InsufficientData(model=None, reason=coverage.conclusion, record=coverage.advice)
    return None


def answer_of(detector: AnyDetector, seen: Any, options: Any) -> Outcome:
    """What a detector says of what it sees, a `ModelView` or the `Trace`, or why its preconditions keep it from
    looking."""
    for asks in detector.asks if isinstance(detector, Detector) else ():
        outcome = asks(seen, options)
        if outcome is not None:
            return outcome
    # What a view or the trace is, is for the two classes of detectors to say.
    return detector.detect(seen, options)


def _detect(detector: AnyDetector, seen: Any, options: Any, model: str | None) -> Outcome:
    """The answer of one detector; whatever its function raises becomes an outcome, so that the others still run."""

    def answer() -> Outcome:
        outcome = answer_of(detector, seen, options)
        check_outcome(outcome, model)
        return outcome

    try:
        return run_foreign(answer) if _is_foreign(detector) else answer()
    except ForeignCodeFailed as error:
        return DetectorFailed(model=model, error=str(error))
    except Exception as error:
        return DetectorFailed(model=model, error=words_of(error))
