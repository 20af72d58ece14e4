"""Readers: from a path to tables, as they were recorded."""

from __future__ import annotations

from tracekit.recording.open import XctraceOptions, open_contents, open_recording
from tracekit.recording.progress import Progress

__all__ = ["Progress", "XctraceOptions", "open_contents", "open_recording"]
