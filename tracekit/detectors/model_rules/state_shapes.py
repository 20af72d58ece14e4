"""`state-shapes`: a state has a width that the Neural Engine may refuse."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, functions_of, literal, name_list
from tracekit.model_files.engine import ragged_states
from tracekit.model_files.words import default_shape


class Options(tk.Options):
    state_multiple: int = tk.option(32, "elements", "apple/coremltools#2631: 256 works and 270 fails (M4, macOS 15.2).")


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Looks at the last dimension of every state."""
    states = [each for _, function in functions_of(view.model) for each in function.states]
    if not states:
        return view.not_applicable("The model has no states.")
    ragged = [
        each for _, function in functions_of(view.model) for each in ragged_states(function, options.state_multiple)
    ]
    metrics = (tk.Metric("ragged", "states of another width", len(ragged), "count"),)
    if not ragged:
        return view.passed(f"The last dimension of every state is a multiple of {options.state_multiple}.", metrics)
    shapes = name_list(f"{code(each.name)} ({default_shape(each.shape)})" for each in ragged if each.shape)
    size, *_ = (each.shape.dimensions for each in ragged if each.shape)
    width = size[-1] or 0
    wider = -(-width // options.state_multiple) * options.state_multiple
    zeros = f"torch.zeros({', '.join(map(str, (*size[:-1], wider)))}, dtype=torch.float16)"
    return view.finding(
        f"{shapes}: the last dimension of a state is not a multiple of {options.state_multiple}, so predictions may "
        "fail on the Neural Engine.",
        metrics,
        fix=f"Make the last dimension {wider} in the source model, and slice to {width} where the state is read:\n\n"
        f"```python\nself.register_buffer({literal(ragged[0].name)}, {zeros})\n```",
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
