"""What the reader of an answer must know before relying on it, worked out by the framework for every detector alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML, GPU, NEURAL_ENGINE

if TYPE_CHECKING:
    from tracekit.detectors.framework import AnyDetector
    from tracekit.trace.trace import Coverage, Trace

INFERRED = "Predictions are inferred from hardware activity; actual durations are longer than shown."
"""Said where Core ML itself recorded no prediction."""


def units_not_recorded(trace: Trace) -> tuple[Coverage, ...]:
    """Coverage of the Neural Engine and the GPU, where their work was not recorded or cannot be read."""
    entries = map(trace.coverage_of, (NEURAL_ENGINE, GPU))
    return tuple(entry for entry in entries if entry.state not in (TableState.ROWS, TableState.EMPTY))


def caveats(detector: AnyDetector, trace: Trace) -> tuple[str, ...]:
    """One sentence for each thing that limits what the detector finds, or finds in order."""
    instruments = (*detector.needs, *detector.uses)
    sentences = []
    if trace.inferred and CORE_ML in instruments:
        sentences.append(INFERRED)
    if trace.sharing.is_shared and NEURAL_ENGINE in instruments:
        sentences.append(trace.sharing.sentence)
    return tuple(sentences)
