"""`deployment-target`: the model does not load on the system named, or gives away what that system could do."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules import state_in_interface
from tracekit.detectors.model_rules.interface_conversion import FLOAT16_INTERFACE
from tracekit.detectors.model_rules.shared import convert_code, name_list
from tracekit.model_files.facts import Kind
from tracekit.model_files.versions import NEWEST, Target, needs_of, release_of


def detect(view: tk.InspectedModel, options: tk.NoOptions) -> tk.Outcome:
    """Compares the specification version with that of the target."""
    model, target = view.model, view.target
    version = model.specification_version
    if version is None:
        return view.unknown("The file names no specification version.", "Inspect the model itself.")
    if target is None:
        return view.unknown(
            "The oldest system that the app supports was not given.",
            "Pass the oldest supported system, such as `--system iOS17`.",
        )
    metrics = (
        tk.Metric("version", "specification version", version, "count"),
        tk.Metric("newest-version", f"newest version for {target.words}", target.version, "count"),
    )
    if version > target.version:
        lost = [need.words for need in needs_of(model) if need.version > target.version]
        summary = f"Does not load on {target.words}: specification version {version} needs {_words(version)}."
        if lost:
            summary += f" Converted for {target.words}, it would lose {name_list(lost)}."
        elif version <= NEWEST and model.kind == Kind.ML_PROGRAM and target.version >= min(version, 6):
            summary += f" Nothing in its interface or weights needs that: convert it for {target.words}."
        return view.finding(summary, metrics, fix=_fix(target))
    gains = _gains(view, version, target, options)
    if gains:
        return view.finding(
            f"Loads on {target.words}, but is made for {_words(version)}: with that target it could have "
            f"{name_list(gains)}.",
            metrics,
            fix=_fix(target),
        )
    return view.passed(f"Loads on {target.words}.", metrics)


def _fix(target: Target) -> str:
    """Converting for the target; ML programs begin with iOS 15."""
    if target.version < 6:
        return f"Convert the source to a neural network, since {target.words} loads no ML programs:\n\n" + (
            '```python\nmodel = ct.convert(source, convert_to="neuralnetwork")\n```'
        )
    return f"Convert the source for {target.words}:\n\n{convert_code([], target.version)}"


def _gains(view: tk.InspectedModel, version: int, target: Target, options: tk.NoOptions) -> list[str]:
    """What the target has and the model could use."""
    model = view.model
    gains = []
    if version < 6 <= target.version and model.is_network:
        gains.append("the ML program format, with a compute precision of its own")
    conversions = [entry for function in model.functions for entry in function.conversions or ()]
    if version < FLOAT16_INTERFACE <= target.version and conversions:
        gains.append("Float16 inputs and outputs")
    if version < state_in_interface.STATES <= target.version and isinstance(
        state_in_interface.detect(view, options), tk.Finding
    ):
        gains.append("states that the model keeps itself")
    return gains


def _words(version: int) -> str:
    release = release_of(version)
    return f"{release.words} or later" if release else "a system newer than this tool knows"


DETECTOR = tk.ModelFileDetector(options=tk.NoOptions, detect=detect)
