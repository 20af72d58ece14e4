"""Where the time of each prediction went.

`rows` finds what lies in each prediction, `sweep_line` gives every instant to one layer of it, `partition` makes parts
of that, `work` tells what the compute units did, and `summary` adds up many predictions.
"""

from tracekit.analysis.breakdown.partition import REASONS, Breakdown, Part, Unknown, breakdown
from tracekit.analysis.breakdown.summary import BreakdownSummary, PartSummary, summarize_breakdown
from tracekit.analysis.breakdown.work import Handoffs

__all__ = [
    "REASONS",
    "Breakdown",
    "BreakdownSummary",
    "Handoffs",
    "Part",
    "PartSummary",
    "Unknown",
    "breakdown",
    "summarize_breakdown",
]
