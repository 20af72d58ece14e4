"""`sequential-operations`: recurrent layers and control flow."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, name_list, no_operations
from tracekit.model_files.engine_limits import RECURRENT, SEQUENTIAL_TYPES


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Counts them."""
    model = view.model
    counts = dict(model.counts)
    if not counts:
        return no_operations(view)
    sequential = {name: counts[name] for name in counts if name in SEQUENTIAL_TYPES}
    metrics = (tk.Metric("sequential", "recurrent and control-flow operations", sum(sequential.values()), "count"),)
    if not sequential:
        return view.passed("No recurrent or control-flow operation.", metrics)
    words = name_list((f"{count:,} {code(name)}" for name, count in sequential.items()), "type")
    total = sum(counts.values())
    among = f" among {tk.format_count(total, 'operation')}" if total > sum(sequential.values()) else ""
    return view.finding(
        f"{words}{among}: may run on the CPU{', and may split the rest' if among else ''}.",
        metrics,
        fix=_RECURRENT_FIX if sequential.keys() <= set(RECURRENT) else "",
    )


_RECURRENT_FIX = """
Replace the recurrent layers by convolutions or attention over a fixed window, and train again. Or leave them: where
they are most of the model, load it for the CPU alone, so that no time goes into trying the Neural Engine.

```swift
configuration.computeUnits = .cpuOnly
```
"""


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
