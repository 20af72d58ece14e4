"""App Life Cycle instrument: launch phases of the target. Its duration column stands elsewhere in some versions."""

from __future__ import annotations

from tracekit.trace.context import Field, Form

SCHEMAS = ("life-cycle-period",)

FIELDS = (
    Field("period", "period", Form.TEXT, required=True),
    Field("group", "group", Form.TEXT),
    Field("process", "process", Form.PROCESS),
    Field("narrative", "narrative", Form.TEXT),
)
