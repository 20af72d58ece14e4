"""Readers: from a path to tables, as they were recorded."""

from __future__ import annotations

from tracekit.recording.open import open_contents, open_recording
from tracekit.recording.progress import Progress
from tracekit.recording.xctrace.reading import Asking

__all__ = ["Asking", "Progress", "open_contents", "open_recording"]
