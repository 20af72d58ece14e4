"""Hangs instrument: times in which a main thread did not answer, and calls that risk it."""

from __future__ import annotations

from tracekit.trace.context import Field, Form

SCHEMAS = ("potential-hangs",)

FIELDS = (
    Field("hang_type", "hang-type", Form.TEXT, required=True),
    Field("process", "process", Form.PROCESS),
    Field("thread", "thread", Form.THREAD),
)

RISK_SCHEMAS = ("hang-risks",)

RISK_FIELDS = (
    Field("message", "message", Form.TEXT, required=True),
    Field("severity", "severity", Form.TEXT),
    Field("event_type", "event-type", Form.TEXT),
    Field("process", "process", Form.PROCESS),
    Field("thread", "thread", Form.THREAD),
)
