"""Clock of the run: mach times that belong to its start. mach ticks = mabs_epoch + ns × denominator / numerator."""

from __future__ import annotations

from tracekit.trace.context import Field, Form

SCHEMAS = ("time-info",)

FIELDS = (
    Field("mabs_epoch", "mabs-epoch", Form.INTEGER),
    Field("mct_epoch", "mct-epoch", Form.INTEGER),
    Field("timebase", "timebase-info", Form.TEXT),
    Field("trace_start_time", "trace-start-time", Form.INTEGER),
)
"""`timebase` is a fraction as text, for example `125/3`; `trace_start_time` ns since 1970."""
