"""Thermal State instrument. Part of the Time Profiler and System Trace templates, not of Core ML's."""

from __future__ import annotations

from tracekit.trace.context import Field, Form

SCHEMAS = ("device-thermal-state-intervals",)

FIELDS = (
    Field("state", "thermal-state", Form.TEXT, required=True),
    Field("track", "track-label", Form.TEXT),
    Field("induced", "is-induced", Form.INTEGER),
)
"""`Nominal`, `Fair`, `Serious`, `Critical`, `Unknown`; `induced` is 1 where a developer's condition forced it."""
