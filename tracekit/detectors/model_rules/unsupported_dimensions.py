"""`unsupported-dimensions`: a tensor is larger than the Neural Engine takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import boundary, code, name_list, no_operations
from tracekit.grouping import grouped
from tracekit.model_files.engine import of_apple
from tracekit.model_files.engine_limits import SIZES, Bounds, holds, largest_shape, size_limit
from tracekit.model_files.facts import Function, is_constant


class Options(tk.Options):
    max_size: int = tk.option(
        16_384, "elements", "Error text of the Neural Engine's compiler up to A16 and M3: depth, height, width."
    )
    max_size_newer: int = tk.option(65_536, "elements", "ANEForge, on an M5: the same, accepted from A17 and M4 on.")
    max_batch_or_channels: int = tk.option(65_536, "elements", "The same text: batch and channels are 1 to 65,536.")
    max_rank: int = tk.option(4, "dimensions", "FluidAudio#679: a model with rank 5 did not compile, with 4 it did.")
    max_elements: int = tk.option(
        67_108_864, "elements", "Heuristic: 1 × 3 × 5568 × 5568 was reported not to run; no limit is published."
    )


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Looks at the shapes of the interface and of all results."""
    bounds = Bounds(**{name: getattr(options, name) for name in options.__dataclass_fields__})
    own = of_apple(view.model)
    computing = [part for part in view.model.parts if part.has_operations]
    tensors = [
        (f"{code(name)} ({_times(sizes)})", sizes, size_limit(sizes, bounds, network=part.is_network))
        for part in computing
        for function in part.functions
        for name, sizes in (*_interface(function, own), *_results(function))
    ]
    # Files of networks give few shapes; those of programs, all of them.
    listed = all(any(_results(function)) or part.is_network for part in computing for function in part.functions)
    chip = view.placements[0].chip if view.placements else None
    beyond = grouped((limit, words) for words, _, limit in tensors if limit is not None and holds(limit, chip))
    largest = max((size or 0 for _, sizes, _ in tensors for size in sizes), default=0)
    metrics = (
        tk.above("largest", "largest dimension", largest, "count", options.max_size + 1),
        tk.Metric("beyond-limits", "tensors beyond the limits", sum(map(len, beyond.values())), "count"),
    )
    said = [f"{limit.words}{boundary(limit)}: {name_list(names)}" for limit, names in beyond.items()]
    if said:
        return view.finding(f"May not run on the Neural Engine: {'; '.join(said)}.", metrics)
    if ranks := view.limits(SIZES):
        high = name_list(words for words, sizes, _ in tensors if len(sizes) > options.max_rank)
        return view.finding(f"{high}: {ranks[0].words} ({ranks[0].says}).", metrics, fix=_RANK_FIX)
    if not computing or not listed:
        return no_operations(view)
    where = " in what the file gives of its shapes" if any(part.is_network for part in computing) else ""
    return view.passed(f"No dimension is larger than {largest:,}{where}.", metrics)


_RANK_FIX = """Keep four dimensions at most: split what the fifth one counts into tensors of their own, such as keys and
values of a cache.

```python
# One cache of (2, 1, heads, length, size) becomes two of (1, heads, length, size).
keys, values = cache[0], cache[1]
```
"""


def _interface(function: Function, own: frozenset[str]) -> Iterator[tuple[str, Sequence[int | None]]]:
    """Names and largest shapes of inputs, outputs and states, but for what Apple's own stages take."""
    for feature in function.features:
        if feature.shape is not None and feature.name not in own:
            yield feature.name, largest_shape(feature.shape)


def _results(function: Function) -> Iterator[tuple[str, Sequence[int | None]]]:
    for operation in function.operations or ():
        for value in () if is_constant(operation) else operation.outputs:
            if value.dimensions is not None:
                yield value.name, value.dimensions


def _times(sizes: Sequence[int | None]) -> str:
    return " × ".join("?" if size is None else str(size) for size in sizes)


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
