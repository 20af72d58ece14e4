"""How a call that Core ML did not record is known, and between which times it began and ended."""

from __future__ import annotations

from collections.abc import Iterator

from tracekit.report.formatting import moment
from tracekit.trace.events import Calls, Origin
from tracekit.units import format_error

INFERRED_FROM = {Origin.CALL_STACKS: "call stacks", Origin.HARDWARE: "hardware rows"}
RECORDED_AS = ("recorded as", "Core ML's signpost")


def inferred_facts(calls: Calls) -> Iterator[tuple[tuple[str, str], ...]]:
    """Names and words for each of these rows of the Activity lane; none for one that Core ML recorded. O(rows)."""
    cells = (calls.origin.as_objects(), calls.resolution_ns, calls.single, *calls.bounds)
    columns = (cell.tolist() for cell in cells)
    for origin, resolution, single, start_min, start_max, end_min, end_max in zip(*columns, strict=True):
        if origin == Origin.CORE_ML:
            yield ()
            continue
        if origin == Origin.SIGNPOSTS:
            yield (RECORDED_AS,)
            continue
        began, latest, earliest, over = (moment(ns, 1_000) for ns in (start_min, start_max, end_min, end_max))
        facts = [("inferred from", INFERRED_FROM[Origin(origin)])]
        if origin == Origin.HARDWARE:
            facts += [("started", f"at {latest} or before"), ("ended", f"at {earliest} or later")]
        else:
            facts += [("resolution", format_error(resolution))]
            facts += [("started", f"{began} to {latest}"), ("ended", f"{earliest} to {over}")]
        if not single:
            facts += [("calls", "one or more")]
        yield tuple(facts)
