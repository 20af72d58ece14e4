"""Which recordings a report can be made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.errors import UnreadableRecording

if TYPE_CHECKING:
    from tracekit.trace.trace import Trace

MAX_MODELS = 1_500
"""Models of one report. Each takes 36 ms and 33 kB of JSON, from 125 models to 1,000: all together about a minute.
Apps have fewer than twenty."""
MAX_NAME_CHARS = 1_000
"""Characters of the name of a model in a report, which repeats it in every check. It is the name of a file, and those
have 255 bytes."""
MAX_INSTANCE_SPAN_NS = 2**62
"""Instances of models times the span of their rows: an instance has gaps no longer than the span, and no sum of
gaps may wrap around in 64 bits. In ten hours that is 128,000 instances."""


def check_limits(trace: Trace) -> None:
    """Raise `UnreadableRecording` where a report would be too large, or its sums would wrap around."""
    models = trace.models
    if models.empty:
        return
    if len(models) > MAX_MODELS:
        raise UnreadableRecording(
            f"the recording has {len(models):,} models, more than the {MAX_MODELS:,} that fit in a report; record one "
            "app at a time"
        )
    if int(models["name"].str.len().max() or 0) > MAX_NAME_CHARS:
        raise UnreadableRecording(
            f"the recording has a model name of more than {MAX_NAME_CHARS:,} characters, longer than any file name; "
            "record the app again"
        )
    instances = int(models["instances"].fillna(1).clip(lower=1).sum())
    span_ns = int(models["last_ns"].max()) - int(models["first_ns"].min())
    if instances * span_ns > MAX_INSTANCE_SPAN_NS:
        raise UnreadableRecording(
            f"the recording has too many model instances ({instances:,}) over too long a time for 64-bit sums; record "
            "the app again, for a shorter time"
        )
