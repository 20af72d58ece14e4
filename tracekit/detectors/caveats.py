"""What the reader of an answer must know before relying on it, worked out by the framework for every detector alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.trace.instruments.catalogue import CORE_ML, NEURAL_ENGINE

if TYPE_CHECKING:
    from tracekit.detectors.framework import AnyDetector
    from tracekit.trace.trace import Trace

INFERRED = "Predictions are inferred from hardware activity; actual durations are longer than shown."
"""Said where Core ML itself recorded no prediction."""


def caveats(detector: AnyDetector, trace: Trace) -> tuple[str, ...]:
    """One sentence for each thing that limits what the detector finds, or finds in order."""
    instruments = (*detector.needs, *detector.uses)
    sentences = []
    if trace.inferred and CORE_ML in instruments:
        sentences.append(INFERRED)
    if trace.sharing.is_shared and NEURAL_ENGINE in instruments:
        sentences.append(trace.sharing.sentence)
    return tuple(sentences)
