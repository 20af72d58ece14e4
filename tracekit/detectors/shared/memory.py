"""What the rules about memory share."""

from __future__ import annotations

from typing import Any

import tracekit.detectors as tk
from tracekit.analysis.memory import sizes
from tracekit.detectors.shared.wording import RECORD_APP
from tracekit.trace.instruments.memory import ENGINE_MEMORY, counts_engine

MB = 1_000_000


def min_mb_option() -> Any:
    """Option: fewest MB that are worth a finding."""
    return tk.option(20.0, "MB", "Heuristic: less is hard to tell from what an app itself allocates and frees.")


def engine_memory(view: tk.ModelView | tk.RecordingView) -> str:
    """Whether the footprints of a recording include memory of the Neural Engine, as a sentence."""
    return ENGINE_MEMORY[counts_engine(view.trace.run.device.os_version)]


def held(size: float, trace: tk.Trace) -> float:
    """A size as a share of the highest footprint."""
    return min(max(size / int(sizes(trace).bytes.max(initial=1)), 0.0), 1.0)


def unsampled(view: tk.ModelView | tk.RecordingView) -> tk.NotEvaluated | None:
    """The answer where no footprint of the target was recorded; None where one was."""
    entry = view.trace.coverage_of("Activity Monitor")
    if entry.state != tk.TableState.ROWS:
        return view.unknown(entry.conclusion, entry.advice)
    if len(sizes(view.trace)):
        return None
    return view.unknown("The footprint of the target was not sampled; the rows are of other processes.", RECORD_APP)
