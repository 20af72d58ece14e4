"""Processes of the machine while it was recorded."""

from __future__ import annotations

from tracekit.trace.context import Field, Form

SCHEMAS = ("process-info",)

FIELDS = (
    Field("process", "process", Form.PROCESS),
    Field("process_name", "process-name", Form.TEXT),
    Field("unique_id", "unique-id", Form.INTEGER),
)
