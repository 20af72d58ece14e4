"""`unsupported-operations`: operations that the Neural Engine may not run."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import boundary, code, name_list, no_operations
from tracekit.grouping import grouped
from tracekit.model_files.engine import SHAPE_OF
from tracekit.model_files.engine_limits import UNSUPPORTED


class Options(tk.Options):
    min_operations: int = tk.option(1, "operations", "Each one may split the model.")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Goes through the table of what is known."""
    total = sum(dict(view.model.counts).values())
    if not total:
        return no_operations(view)
    # Shapes are known before the model runs, and what others saw run is no loss where nothing comes before it.
    found = [
        each
        for placement in view.placements
        for each in placement.obstacles
        if each.limit.check == UNSUPPORTED and each.operation.type not in SHAPE_OF
        if not (each.limit.doubtful and each.number in placement.leading)
    ]
    metrics = (tk.above("unsupported", "unsupported operations", len(found), "count", options.min_operations),)
    if len(found) < options.min_operations:
        return view.passed("No operation that is known to be missing on the Neural Engine splits the model.", metrics)
    words = name_list(
        f"{len(alike):,} {code(kind)}{f' ({limit.words})' if limit.words else ''}{boundary(limit)} ({limit.certainty})"
        for (kind, limit), alike in grouped(((each.operation.type, each.limit), each) for each in found).items()
    )
    return view.finding(f"{words} among {total:,}: may run on the CPU or GPU, and may split the rest.", metrics)


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
