"""What is known of a call that Core ML did not record: what shows it, and between which times it began and ended."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tracekit.report.formatting import exact_moment
from tracekit.trace.events import BOUNDS, Origin
from tracekit.units import format_error

INFERRED_FROM = {Origin.CALL_STACKS: "call stacks", Origin.HARDWARE: "hardware rows"}
RECORDED_AS = ("recorded as", "Core ML's signpost")


def inferred_facts(calls: pd.DataFrame) -> Iterator[tuple[tuple[str, str], ...]]:
    """Names and words for each of these rows of the Activity lane; none for one that Core ML recorded. O(rows)."""
    columns = (calls[name].tolist() for name in ("origin", "resolution_ns", "single", *BOUNDS))
    for origin, resolution, single, start_min, start_max, end_min, end_max in zip(*columns, strict=True):
        if origin == Origin.CORE_ML:
            yield ()
            continue
        if origin == Origin.SIGNPOSTS:
            yield (RECORDED_AS,)
            continue
        facts = [("inferred from", INFERRED_FROM[Origin(origin)])]
        if origin == Origin.HARDWARE:
            facts += [("started", f"at {_time(start_max)} or before"), ("ended", f"at {_time(end_min)} or later")]
        else:
            facts += [("resolution", format_error(resolution))]
            facts += [("started", f"{_time(start_min)} to {_time(start_max)}")]
            facts += [("ended", f"{_time(end_min)} to {_time(end_max)}")]
        if not single:
            facts += [("calls", "one or more")]
        yield tuple(facts)


def _time(ns: int) -> str:
    return exact_moment(ns, 1_000)
