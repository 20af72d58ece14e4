"""The latency of one model's predictions: how long they take, whether that changes, and what values it gathers around.

`summary` distinguishes cold from warm; `trends` finds slow changes and sudden shifts, `growth` the rise inside
sequences, `modes` the values that latencies gather around; `trend_summary` puts these together for a report.
"""

from tracekit.analysis.latency.growth import Growth, GrowthRule, growth
from tracekit.analysis.latency.modes import Modes, modes
from tracekit.analysis.latency.summary import Latency, summarize_latency, warm_mask
from tracekit.analysis.latency.trend_summary import LatencyTrend, Level, Mode, summarize_latency_trend
from tracekit.analysis.latency.trends import Segment, Trend, change_point_segments, medians_of_thirds, trend

__all__ = [
    "Growth",
    "GrowthRule",
    "Latency",
    "LatencyTrend",
    "Level",
    "Mode",
    "Modes",
    "Segment",
    "Trend",
    "change_point_segments",
    "growth",
    "medians_of_thirds",
    "modes",
    "summarize_latency",
    "summarize_latency_trend",
    "trend",
    "warm_mask",
]
