"""Which recordings a report can be made of, and of how much of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tracekit.errors import UnreadableRecording
from tracekit.trace.events import LOAD_KINDS, Kind
from tracekit.trace.filter import everything, shown_model_names
from tracekit.trace.frames import is_any
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace

MAX_MODELS = 1_500
"""Models of one report. Each takes 36 ms and 33 kB of JSON, from 125 models to 1,000: all together about a minute.
Apps have fewer than twenty."""
LEFT_OUT = "are left out of all counts"
"""Marks the note on models that are not in a report, which comparisons repeat."""
MAX_NAME_CHARS = 1_000
"""Characters of the name of a model in a report, which repeats it in every check. It is the name of a file, and those
have 255 bytes."""
MAX_INSTANCE_SPAN_NS = 2**62
"""Instances of models times the span of their rows: an instance has gaps no longer than the span, and no sum of
gaps may wrap around in 64 bits. In ten hours that is 128,000 instances."""


def within_limits(trace: Trace, shown: Shown | None) -> Shown | None:
    """What is shown of as many models as a report holds, those in which most time was spent; a note says what of the
    others is left out. O(rows)."""
    if len(trace.models) <= MAX_MODELS:
        return shown
    shown = everything(trace) if shown is None else shown
    names = shown_model_names(trace, shown)
    if len(names) <= MAX_MODELS:
        return shown
    calls = trace.activity[shown.rows["activity"]]
    times = calls.groupby(calls["model"].astype("object"))["duration_ns"].sum()
    others = frozenset(sorted(names, key=lambda name: (-int(times.get(name, 0)), name))[MAX_MODELS:])
    hidden = calls[calls["model"].isin(others).to_numpy(dtype=bool)]
    predictions, loads = (int(is_any(hidden["kind"], *kinds).sum()) for kinds in ((Kind.PREDICTION,), LOAD_KINDS))
    note = (
        f"{len(names):,} models: shown are the {MAX_MODELS:,} with most time; {len(others):,} with "
        f"{format_count(predictions, 'prediction')} and {format_count(loads, 'load')} "
        f"({format_duration(int(hidden['duration_ns'].sum()))}) {LEFT_OUT}. Checks ran on all; others: --model NAME."
    )
    rows = {
        name: mask & ~getattr(trace, name)["model"].isin(others).to_numpy(dtype=bool)
        for name, mask in shown.rows.items()
    }
    return replace(shown, rows=rows, models=names - others, notes=(*shown.notes, note))


def check_limits(trace: Trace) -> None:
    """Raise `UnreadableRecording` where a report would be too large, or its sums would wrap around."""
    models = trace.models
    if models.empty:
        return
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
