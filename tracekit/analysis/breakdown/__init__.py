"""Where the time of each prediction went.

`rows` finds what lies in each prediction, `sweep_line` gives every instant to one layer of it, `partition` makes parts
of that, `work` says what the compute units did (`device_runs`), and `summary` adds up many predictions.
"""

from tracekit.analysis.breakdown.device_runs import UNITS, DeviceRuns, Handoffs, device_runs
from tracekit.analysis.breakdown.partition import REASONS, Breakdown, Part, Unknown, breakdown
from tracekit.analysis.breakdown.summary import BreakdownSummary, PartSummary, compute_shares, summarize_breakdown

__all__ = [
    "REASONS",
    "UNITS",
    "Breakdown",
    "BreakdownSummary",
    "DeviceRuns",
    "Handoffs",
    "Part",
    "PartSummary",
    "Unknown",
    "breakdown",
    "compute_shares",
    "device_runs",
    "summarize_breakdown",
]
