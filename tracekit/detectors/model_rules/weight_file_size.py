"""`weight-file-size`: the weights are more than the Neural Engine may take."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.model_rules.shared import no_weights
from tracekit.model_files.engine_limits import WEIGHTS


class Options(tk.Options):
    max_mib: int = tk.option(2_048, "MiB", "Error text of the Neural Engine's compiler: 2,147,483,648 bytes.")
    max_mib_macos27: int = tk.option(
        1_024,
        "MiB",
        "macOS 27.0.1 on an M2: 1,072,681,458 bytes ran on the Neural Engine, 1,074,770,418 on the CPU.",
    )


def detect(view: tk.InspectedModel, options: Options) -> tk.Outcome:
    """Compares the bytes of the weights with the limit of the system."""
    size = view.model.weights.bytes
    if size is None:
        return no_weights(view)
    if not size:
        return view.not_applicable("The model has no weights.")
    metrics = (tk.Metric("weights", "weights", size, "bytes"),)
    known = [limit.words for limit in view.limits(WEIGHTS)]
    if not known:
        return view.passed(f"{tk.format_bytes(size)} of weights.", metrics)
    where = "" if size > options.max_mib << 20 else " on macOS 27 and later; older systems take 2 GiB"
    return view.finding(
        f"{tk.format_bytes(size)} of weights are more than the Neural Engine may take{where}: the whole model may run "
        "on the CPU, without a message.",
        metrics,
    )


DETECTOR = tk.ModelFileDetector(options=Options, detect=detect)
