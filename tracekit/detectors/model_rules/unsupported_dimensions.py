"""`unsupported-dimensions`: a tensor is larger in one dimension than the Neural Engine takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, functions_of, name_list, no_operations
from tracekit.model_files.facts import Function, is_constant


class Options(tk.Options):
    max_size: int = tk.option(
        16_384, "elements", "Error text of the Neural Engine's compiler: depth, height and width are 1 to 16,384."
    )
    max_batch_or_channels: int = tk.option(65_536, "elements", "The same text: batch and channels are 1 to 65,536.")
    max_rank: int = tk.option(5, "dimensions", "Core ML itself refuses to convert programs with higher ranks.")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Looks at the shapes of the interface and of all results."""
    model = view.model
    functions = [function for _, function in functions_of(model)]
    results = [
        [
            (value.name, value.dimensions)
            for operation in function.operations or ()
            if not is_constant(operation)
            for value in operation.outputs
            if value.dimensions is not None
        ]
        for function in functions
    ]
    shapes = [each for function in functions for each in _interface(function)]
    shapes += [each for some in results for each in some]
    large = {name: sizes for name, sizes in shapes if len(sizes) > options.max_rank or _too_large(sizes, options)}
    largest = max((size or 0 for _, sizes in shapes for size in sizes), default=0)
    metrics = (tk.above("largest", "largest dimension", largest, "count", options.max_size + 1),)
    if large:
        shown = name_list(
            f"{code(name)} ({' × '.join('?' if size is None else str(size) for size in sizes)})"
            for name, sizes in large.items()
        )
        return view.finding(
            f"{'A shape' if len(large) == 1 else 'Shapes'} that the Neural Engine may not take, so the model or a part "
            f"of it may run on the CPU or GPU: {shown}.",
            (*metrics, tk.Metric("beyond-limits", "tensors beyond the limits", len(large), "count")),
        )
    if not all(results):
        return no_operations(view, "The file does not give the shapes that the operations compute.")
    return view.passed(f"No dimension is larger than {largest:,}.", metrics)


def _interface(function: Function) -> Iterator[tuple[str, Sequence[int | None]]]:
    """Names and shapes of inputs, outputs and states; listed shapes and the largest of a range too."""
    for feature in function.features:
        if feature.shape is not None:
            largest = tuple(size.upper for size in feature.shape.ranges)
            for sizes in (feature.shape.dimensions, *feature.shape.choices, largest):
                yield feature.name, sizes


def _too_large(sizes: Sequence[int | None], options: Options) -> bool:
    """Whether a size is beyond its limit. Of four and five dimensions the first two are batch and channels."""
    outer = 2 if len(sizes) >= 4 else 0
    return any(
        size is not None and size > (options.max_batch_or_channels if index < outer else options.max_size)
        for index, size in enumerate(sizes)
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
