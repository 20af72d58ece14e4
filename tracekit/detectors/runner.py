"""Runs detectors over a trace. Decides by itself where a detector could not look, and never lets one failure end it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tracekit.analysis.ledger.account import ledger
from tracekit.detectors.answers import RECORD_EARLIER
from tracekit.detectors.checking import check_outcome
from tracekit.detectors.foreign import ForeignCodeFailed, copy_of, run_foreign
from tracekit.detectors.framework import AnyDetector, Detector, Judgment
from tracekit.detectors.inference import Variant, either_of, settled, source_sentence, stands_in, unsure, variants
from tracekit.detectors.options import ChosenChecks, ModelSettings, Settings, check_settings, choose, configure
from tracekit.detectors.outcomes import DetectorFailed, Finding, NotApplicable, NotEvaluated, Outcome, Passed
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.views import RecordingView, model_views, unnamed_predictions
from tracekit.errors import words_of
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML, NEURAL_ENGINE
from tracekit.trace.requests.frame import INSTRUMENT as FOUNDATION_MODELS
from tracekit.trace.trace import Trace
from tracekit.units import format_count


def run_detectors(
    trace: Trace,
    *,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    settings: Settings | None = None,
    model_settings: ModelSettings | None = None,
    model_skip: Mapping[str, Collection[str]] | None = None,
    detectors: Sequence[AnyDetector] = DETECTORS,
    models: Collection[str] = (),
) -> tuple[Judgment, ...]:
    """Every chosen detector's outcome for every model, or one for the recording where it is about that, or where there
    is no model to judge. `model_settings` hold for the models that match, and outweigh `settings`; `model_skip` gives
    detectors that those models are not judged by. Without `models`, all are judged.

    Raises `UsageError` for an unknown detector id, option or value.
    """
    checks = ChosenChecks(settings=settings or {}, model_settings=model_settings or {}, model_skip=model_skip or {})
    check_settings(detectors, checks.settings, checks.model_settings)
    chosen = choose(detectors, only, skip)
    options = configure(detectors, checks.settings)

    def of_model(name: str) -> tuple[dict[str, Any], Collection[str]]:
        of_all = configure(detectors, checks.settings_of(name)) if checks.model_settings else options
        return of_all, checks.skipped_checks(name)

    own = [detector for detector in chosen if not _is_foreign(detector)]
    outcomes = _outcomes(own, trace, options, of_model, models)
    bounded = [detector for detector in own if trace.inferred and detector.origins]
    others: dict[str, list[tuple[Variant, dict[str | None, Outcome]]]] = {detector.id: [] for detector in detectors}
    for variant in variants(trace) if bounded else ():
        names = {each.id for each in bounded if any(variant.is_asked(each, said) for said in outcomes[each.id])}
        names = names.union(*map(either_of, names))
        asked = [each for each in detectors if each.id in names and not _is_foreign(each)]
        for name, answers in _outcomes(asked, variant.trace, options, of_model, models).items():
            others[name].append((variant, {outcome.model: outcome for outcome in answers}))
    for detector in bounded:
        outcomes[detector.id] = settled(detector, outcomes[detector.id], others, trace)
    for detector in chosen:
        if _is_foreign(detector):
            outcomes |= _outcomes([detector], trace, options, of_model, models)
    count = unnamed_predictions(trace)
    counted = format_count(count, "prediction has", "predictions have")
    reason = f"{counted} no model name, so they cannot be evaluated by model."
    unnamed: list[Outcome] = [NotEvaluated(None, reason, RECORD_EARLIER)] if count else []
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


def _outcomes(
    detectors: Sequence[AnyDetector],
    trace: Trace,
    options: Mapping[str, Any],
    of_model: Callable[[str], tuple[dict[str, Any], Collection[str]]],
    models: Collection[str],
) -> dict[str, list[Outcome]]:
    """Outcomes of detectors by id: for each of the models, or one for the recording. `options` are those of every one;
    `of_model` gives them for a model, and the detectors that do not judge it.

    A detector that is not ours gets a trace of its own: no other answer depends on what it does to it.
    """
    outcomes = {detector.id: _of_recording(detector, options[detector.id], trace) for detector in detectors}
    judging = [detector for detector in detectors if isinstance(detector, Detector) and not outcomes[detector.id]]
    copied = copy_of(trace) if any(map(_is_foreign, judging)) else trace
    if any(detector.causes for detector in judging):
        # Most ask for it. What it takes meanwhile does not stand in memory beside the rows of a model.
        ledger(copied)
    # Model by model: what is cut from the trace for one is let go before the next.
    for view in model_views(copied) if judging else ():
        if models and view.name not in models:
            continue
        own_options, left_out = of_model(view.name)
        origin = trace.activity.origin.take(trace.activity.model.is_any(view.name)) if trace.inferred else None
        for detector in judging:
            outcomes[detector.id].append(
                NotApplicable(view.name, "Skipped for this model by the config file.")
                if detector.id in left_out
                else unsure(trace, view.name, "Its calls are known by their work on the hardware alone.")
                if origin is not None and CORE_ML in detector.needs and not stands_in(detector, origin)
                else _detect(detector, view, own_options[detector.id], view.name)
            )
        del view
    return outcomes


_OWN = frozenset(map(id, DETECTORS))


def _is_foreign(detector: AnyDetector) -> bool:
    """Whether its code is not tracekit's own."""
    return id(detector) not in _OWN


def _of_recording(detector: AnyDetector, options: Any, trace: Trace) -> list[Outcome]:
    """The one outcome of a detector that could not look, or that judges the recording; none where it judges models."""
    blind = _missing_evidence(detector, trace)
    if blind is not None:
        return [blind]
    if isinstance(detector, Detector):
        return []
    return [_detect(detector, RecordingView(copy_of(trace) if _is_foreign(detector) else trace), options, None)]


def _missing_evidence(detector: AnyDetector, trace: Trace) -> NotEvaluated | None:
    """Why the detector could not look, if one of the instruments it needs holds no rows."""
    for instrument in detector.needs:
        coverage = trace.coverage_of(instrument)
        stand_in = instrument == CORE_ML and trace.inferred and stands_in(detector, trace.activity.origin)
        if coverage.state is not TableState.ROWS and not stand_in:
            return NotEvaluated(model=None, reason=coverage.conclusion, record=coverage.advice)
    return None


def answer_of(detector: AnyDetector, seen: Any, options: Any) -> Outcome:
    """What a detector says of a `ModelView` or a `RecordingView`, or why what it asks first keeps it from looking."""
    for asks in detector.asks:
        outcome = asks(seen, options)
        if outcome is not None:
            return outcome
    # Which of the two it takes is for the classes of detectors to say.
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


def caveats(detector: AnyDetector, trace: Trace) -> tuple[str, ...]:
    """One sentence for each thing that limits what the detector finds, or finds in order."""
    instruments = (*detector.needs, *detector.uses)
    sentences = []
    if trace.inferred and (CORE_ML in instruments or detector.origins):
        sentences.append(source_sentence(trace))
    if trace.sharing.is_shared and NEURAL_ENGINE in instruments:
        sentences.append(trace.sharing.sentence)
    if FOUNDATION_MODELS in instruments and trace.requests.unvalidated.any():
        sentences.append("Unvalidated: no public recording shows rows of the Foundation Models instrument.")
    return tuple(sentences)
