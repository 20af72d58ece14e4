"""`float32-compute`: the model computes in Float32."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import functions_of, name_list, no_precision


def detect(view: tk.InspectedModel, _options: tk.NoOptions) -> tk.Outcome:
    """Looks at the type that most operations of each function compute."""
    model = view.model
    known = [(where, function.precision) for where, function in functions_of(model) if function.precision]
    if not known:
        return no_precision(view)
    wide = [(where, types) for where, types in known if types[0] in ("Float32", "Double")]
    if wide:
        where = name_list(name for name, _ in wide if name)
        mixed = ", some of it in Float16" if any("Float16" in types for _, types in wide) else ""
        return view.finding(
            f"{where or 'The model'} computes in {wide[0][1][0]}{mixed}, so it may run on the CPU or GPU only."
        )
    rest = name_list(name for _, types in known for name in types[1:])
    return view.passed(f"Computes in Float16{f', in part in {rest}' if rest else ''}.")


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
