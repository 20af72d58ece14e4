"""`engine-pieces`: operations that the Neural Engine may not run cut the model into many pieces."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import no_operations


class Options(tk.Options):
    max_pieces: int = tk.option(
        10, "pieces", "Heuristic; one model went from 13.19 ms in 13 pieces to 4.60 ms in one (coreai-model-zoo)."
    )


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Counts parts on alternating compute units, along the graph."""
    listed = [each for each in view.placements if each.pieces and not each.unknown]
    if not listed:
        return no_operations(view)
    known = [each for each in listed if not each.decided]
    if not known:
        return view.not_applicable(f"The model may not run there at all: {listed[0].decided[0].words}.")
    most = max(known, key=lambda each: each.pieces)
    metrics = (tk.above("pieces", "pieces", most.pieces, "count", options.max_pieces + 1),)
    if most.pieces <= options.max_pieces:
        words = f"{most.pieces} pieces on alternating compute units" if most.pieces > 1 else "The model is in one piece"
        return view.passed(f"{words}.", metrics)
    return view.finding(
        f"{len(most.certain):,} operations that the Neural Engine may not run cut the model into {most.pieces:,} "
        f"pieces: {most.pieces - 1:,} hand-offs in every prediction.",
        metrics,
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
