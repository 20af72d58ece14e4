"""`element-wise-access`: the app reads or writes a multi-array one element at a time."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.call_stacks import AppWorkWords, core_ml_in_stacks, judge_app_work
from tracekit.detectors.shared.options import AppWorkOptions


class Options(AppWorkOptions):
    share: float = tk.option(
        0.1,
        "share of samples",
        "Heuristic: below a tenth, other work comes first. A public recording of a speech recognizer has a fifth.",
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for samples in which the app reads or writes single elements."""
    return judge_app_work(view, tk.Api.ELEMENT, options, _WORDS)


_WORDS = AppWorkWords(
    which="outside of loads",
    counted="samples in element access",
    threads="its threads",
    none="No call stack shows the app reading or writing single elements.",
    little="of the samples of its threads are in reading or writing single elements.",
    summary="{samples} outside of loads read or write single elements of MLMultiArray ({share}).",
    saved="Reading or writing through a pointer takes a small part of it.",
)


DETECTOR = tk.RecordingDetector(needs=("Call Stacks",), options=Options, asks=(core_ml_in_stacks,), detect=detect)
