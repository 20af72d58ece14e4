"""`unsupported-operations`: operations that the Neural Engine may not run."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import boundary, code, name_list, no_operations
from tracekit.grouping import grouped
from tracekit.model_files.engine_limits import UNSUPPORTED


class Options(tk.Options):
    min_operations: int = tk.option(1, "operations", "Each one may split the model.")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Goes through the table of what is known."""
    total = sum(dict(view.model.counts).values())
    if not total:
        return no_operations(view)
    # What others saw run is no loss where nothing comes before it.
    found = [
        each
        for placement in view.placements
        for each in placement.obstacles
        if each.limit.check == UNSUPPORTED
        if not (each.limit.doubtful and each.number in placement.leading)
    ]
    metrics = (tk.above("unsupported", "unsupported operations", len(found), "count", options.min_operations),)
    if len(found) < options.min_operations:
        return view.passed("No operation that is known to be missing on the Neural Engine splits the model.", metrics)
    words = name_list(
        f"{len(alike):,} {code(kind)}{boundary(limit)} ({'; '.join(filter(None, (limit.words, limit.says)))})"
        for (kind, limit), alike in grouped(((each.operation.type, each.limit), each) for each in found).items()
    )
    return view.finding(
        f"{words} among {total:,}: may run on the CPU or GPU, and may split the rest.",
        metrics,
        fix=_KERNEL_FIX if all("kernel wider" in each.limit.words for each in found) else "",
    )


_KERNEL_FIX = """Split each wide kernel into narrower ones, and add what they give:

```python
wide = conv(x)                                                     # kernel (1, 24), no padding
same = left(x[..., :-12]) + right(x[..., 12:])                     # two kernels (1, 12)
```
"""


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
