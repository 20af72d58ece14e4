"""`state-shapes`: a state has a width that the Neural Engine may refuse."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import code, functions_of, name_list
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
    metrics = (
        tk.Metric("ragged", f"states that are no multiple of {options.state_multiple} wide", len(ragged), "count"),
    )
    if not ragged:
        return view.passed(f"The last dimension of every state is a multiple of {options.state_multiple}.", metrics)
    shapes = name_list(f"{code(each.name)} ({default_shape(each.shape)})" for each in ragged if each.shape)
    sizes = [each.shape.dimensions[-1] or 0 for each in ragged if each.shape]
    wider = [-(-size // options.state_multiple) * options.state_multiple for size in sizes]
    return view.finding(
        f"{shapes}: the last dimension of a state is not a multiple of {options.state_multiple}, so predictions may "
        "fail on the Neural Engine.",
        metrics,
        fix=f"Make the last dimension {name_list(map(str, wider))} in the source model, fill the rest with zeros, and "
        f"slice to {name_list(map(str, sizes))} where the state is read:\n\n"
        "```python\n"
        f'self.register_buffer("{view.model.main.states[0].name if view.model.main.states else "state"}", '
        f"torch.zeros(..., {wider[0]}, dtype=torch.float16))\n```",
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
