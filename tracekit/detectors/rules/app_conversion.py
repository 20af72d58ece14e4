"""`app-conversion`: the app converts pixels or audio samples between predictions."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.detectors.shared.call_stacks import AppWorkWords, core_ml_in_stacks, judge_app_work
from tracekit.detectors.shared.options import AppWorkOptions


def detect(view: tk.RecordingView, options: AppWorkOptions) -> tk.Outcome:
    """Looks for samples in which a thread that predicts converts pixels or audio samples."""
    return judge_app_work(view, tk.Api.BETWEEN, options, _WORDS)


_WORDS = AppWorkWords(
    which="of threads that predict",
    counted="samples in conversions",
    threads="these threads",
    none="No call stack shows the app converting pixels or audio between predictions.",
    little="of the samples of threads that predict are in conversions.",
    summary="Between predictions, the app converts pixels or audio in {samples} of the threads that predict ({share}).",
    saved="Inputs that arrive in the format of the model need none of it.",
)


DETECTOR = tk.RecordingDetector(
    needs=("Call Stacks",), options=AppWorkOptions, asks=(core_ml_in_stacks,), detect=detect
)
