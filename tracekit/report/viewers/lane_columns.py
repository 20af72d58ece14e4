"""The lanes as the script of the page reads them: columns of whole numbers, deflated, as text.

A column of values from 0 on is stored by significance: first the lowest bytes of all values, then the next ones, as
many as the largest value needs. Bytes of one significance are alike, so they deflate well, and no value has to be cut.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.analysis.code.tree import without_deeper
from tracekit.analysis.ledger.causes import NAMES
from tracekit.lanes.categories import FILLINGS, Category
from tracekit.report.call_sites import caller_words
from tracekit.report.flame import MAX_LEVELS, Flame
from tracekit.report.formatting import visible
from tracekit.report.groups import INCONCLUSIVE, Group, explains
from tracekit.trace.events import Calls, Lane, Origin
from tracekit.units import format_error, format_time

if TYPE_CHECKING:
    from tracekit.analysis.ledger.explain import Why
    from tracekit.arrays import IntArray
    from tracekit.report.report import Report
    from tracekit.report.timeline import Accounts, DrawnLane, Marked, Slow, Timeline

LEVEL = 6
"""Of deflation: higher ones take several times as long and save a few percent."""

MOST_ROWS = 2_000_000
"""Rows that a page holds. Measured: a million are 6.1 MB and take a browser 337 MB, two million 11.9 MB and 468 MB."""

KEPT_LONGEST = (Lane.ACTIVITY, Lane.DATA, Lane.COMPUTE)
"""Lanes that are left out last."""


def fit_page(timeline: Timeline) -> Timeline:
    """The timeline without the lanes that are too much for a page, which say so: Core ML's last, the longest first."""
    sizes = {number: len(lane.starts) for number, lane in enumerate(timeline.lanes)}
    left_out: set[int] = set()
    order = sorted(sizes, key=lambda number: (timeline.lanes[number].id in KEPT_LONGEST, -sizes[number]))
    for number in order:
        if sum(sizes.values()) <= MOST_ROWS:
            break
        left_out.add(number)
        sizes[number] = 0
    if not left_out:
        return timeline
    lanes = tuple(_left_out(lane) if number in left_out else lane for number, lane in enumerate(timeline.lanes))

    def off_lanes(marked: Marked) -> Marked:
        gone = np.isin(marked.lanes, sorted(left_out))
        return replace(marked, lanes=np.where(gone, -1, marked.lanes), rows=np.where(gone, -1, marked.rows))

    slow = tuple(
        replace(slow, due_to=off_lanes(slow.due_to), own=off_lanes(slow.own))
        for slow in timeline.slow
        if slow.lane not in left_out
    )
    return replace(timeline, lanes=lanes, evidence=tuple(map(off_lanes, timeline.evidence)), slow=slow)


def _left_out(lane: DrawnLane) -> DrawnLane:
    words = f"{len(lane.starts):,} events, too many for a page; tracekit view draws them"
    arrays = (field.name for field in fields(lane) if isinstance(getattr(lane, field.name), np.ndarray))
    empty: dict[str, Any] = {name: np.empty(0, np.int64) for name in arrays}
    return replace(lane, words=words, depth=0, calls_inferred=None, **empty)


Facts = Sequence[tuple[str, str]]
Words = tuple[str, Facts]
"""What is said of a slow prediction: a sentence, and its parts."""
WORTH = 0.1
"""Parts of at least this share of a difference are said."""


def payload(
    report: Report,
    timeline: Timeline,
    origin_ns: int | None = None,
    words: Callable[[Why], Words] | None = None,
    about: Callable[[Group], Iterable[tuple[str, str]]] = lambda _: (),
) -> tuple[str, str]:
    """What the script needs to draw the lanes: JSON, and the columns it describes in base64. `origin_ns`: the time
    above that of another recording; None for no other. `words` of slow predictions; None leaves out why any was.
    `about`: what is said of a finding, with the name of each fact."""
    pieces: list[bytes] = []
    sites = report.code.call_sites if report.code is not None else ()
    # The row of the Activity lane of each prediction that the app called, by its id; -1 for others, and at the end.
    last = max((int(lane.predictions.max(initial=-1)) for lane in timeline.lanes), default=-1)
    rows_of = np.full(last + 2, -1, np.int64)
    if (activity := next((lane for lane in timeline.lanes if lane.id == Lane.ACTIVITY), None)) is not None:
        calls = np.flatnonzero(activity.calls)
        rows_of[activity.predictions[calls]] = calls
    lanes = [_lane(lane, rows_of, pieces) for lane in timeline.lanes]
    flame = _flame(timeline.flame, pieces) if timeline.flame is not None else None
    findings = []
    for answers in timeline.findings(report.results):
        drawn = [(check, marked) for check, marked in answers if len(marked.starts)]
        if drawn:
            total = sum(check.evidence_total for check, _ in drawn)
            head = {"id": drawn[0][0].id, "title": drawn[0][0].title, "total": total}
            group = Group(tuple(check for check, _ in drawn))
            head["severity"] = INCONCLUSIVE if explains(group.first, report.summary) else group.severity
            head["facts"] = [[name, visible(said)] for name, said in about(group)]
            findings.append(head | _evidence([marked for _, marked in drawn], pieces))
    accounts = timeline.accounts if words is not None else None
    meta = {
        "accounts": _accounts(accounts, rows_of, pieces) if accounts is not None else None,
        "start": timeline.start_ns,
        "end": timeline.end_ns,
        "source": visible(report.recording.source),
        "categories": [[category.name.lower(), category.title] for category in Category],
        "outlined": sorted(FILLINGS),
        "texts": timeline.texts,
        "lanes": lanes,
        "flame": flame,
        "findings": findings,
        "sites": [(site.api, site.model and visible(site.model), visible(caller_words(site))) for site in sites],
        "slow": [_slow(slow, words, pieces) for slow in timeline.slow] if words is not None else [],
    }
    if origin_ns is not None:
        meta["origin"] = origin_ns
    return _packed(meta, pieces)


def flame_payload(flame: Flame, source: str) -> tuple[str, str]:
    """What the script needs to draw call stacks alone, as `payload`."""
    pieces: list[bytes] = []
    meta = {"source": visible(source), "lanes": [], "flame": _flame(flame, pieces), "findings": []}
    return _packed(meta, pieces)


def _packed(meta: dict[str, Any], pieces: list[bytes]) -> tuple[str, str]:
    return page_json(meta), b64encode(zlib.compress(b"".join(pieces), LEVEL)).decode("ascii")


def page_json(value: Any) -> str:
    """JSON that can stand in an element of a page: nothing in it ends the element."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


def _lane(lane: DrawnLane, rows_of: IntArray, pieces: list[bytes]) -> dict[str, Any]:
    """What is said of a lane; its columns are added to the pieces."""
    head: dict[str, Any] = {"id": lane.id, "title": lane.title, "section": lane.section, "words": lane.words}
    head |= {"strip": lane.strip, "depth": lane.depth, "count": len(lane.starts)}
    if not len(lane.starts):
        return head
    first = int(lane.starts[0])
    # The prediction that each row belongs to, which is no part of itself.
    rows = rows_of[lane.predictions]
    is_itself = (lane.id == Lane.ACTIVITY) & (rows == np.arange(len(rows)))
    # Neighbors differ little. From 0 on, steps of 0, -1, 1, -2, … become 0, 1, 2, 3, ….
    steps = np.diff(np.where(is_itself, 0, rows + 1), prepend=0)
    columns = {
        "gaps": np.diff(lane.starts, prepend=first),
        "durations": lane.ends - lane.starts,
        "categories": lane.categories.astype(np.int64),
        "labels": lane.labels + 1,
        "works": lane.works,
        "models": lane.models + 1,
        "flags": lane.flags,
        "predictions": np.where(steps < 0, -2 * steps - 1, 2 * steps),
    }
    head |= {"first": first, "planes": [_planes(values, pieces) for values in columns.values()]}
    if lane.sizes is not None:
        times, held = lane.sizes.times, lane.sizes.bytes
        planes = [_planes(np.diff(times, prepend=times[:1]), pieces), _planes(held, pieces)]
        head["sizes"] = {"first": int(times[0]), "count": len(times), "planes": planes}
    return head if lane.calls_inferred is None else head | {"inferred": _inferred(lane, lane.calls_inferred, pieces)}


def _accounts(accounts: Accounts, rows_of: IntArray, pieces: list[bytes]) -> dict[str, Any]:
    """What predictions took beyond a usual one: of each its row, and the usual; of each cause those for which it is a
    part that is worth a word, and its time in µs."""
    known = accounts.predictions < len(rows_of) - 1
    rows = np.where(known, rows_of[np.where(known, accounts.predictions, -1)], -1)
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    extra = sum(accounts.parts.values(), np.zeros(len(rows), np.int64))[order]
    least = np.where(np.abs(extra) > accounts.least_ns[order], WORTH * np.abs(extra), np.inf)
    head = [_planes(np.diff(rows[order], prepend=0), pieces), _planes(accounts.usual_ns[order], pieces)]
    causes = []
    for cause, ns in accounts.parts.items():
        at = np.flatnonzero(ns[order] * np.sign(extra) >= least)
        if at.size:
            planes = [_planes(np.diff(at, prepend=0), pieces), _planes(np.abs(ns[order][at]) // 1_000, pieces)]
            causes.append([NAMES[cause], len(at), planes])
    return {"count": len(order), "planes": head, "causes": causes}


def _inferred(lane: DrawnLane, calls: Calls, pieces: list[bytes]) -> dict[str, Any]:
    """What is said of inferred calls; how far their bounds are from their times is added to the pieces."""
    flags = HARDWARE * calls.origin.is_any(Origin.HARDWARE) + SEVERAL * ~calls.single
    flags += SIGNPOST * calls.origin.is_any(Origin.SIGNPOSTS)
    start_min, start_max, end_min, end_max = calls.bounds
    ahead = (lane.starts - start_min, start_max - lane.starts, lane.ends - end_min, end_max - lane.ends)
    planes = [_planes(values, pieces) for values in (flags, *ahead)]
    return {"resolution": format_error(int(calls.resolution_ns.max(initial=0))), "planes": planes}


HARDWARE, SEVERAL, SIGNPOST = 1, 2, 4
"""Flags of an inferred call: hardware rows alone show it; it may be several calls; Core ML's signpost shows it."""


def _flame(flame: Flame, pieces: list[bytes]) -> dict[str, Any]:
    """What is said of the call stacks; their columns are added to the pieces."""
    first = int(flame.times[0])
    tree, drawn = without_deeper(flame.tree, MAX_LEVELS)
    columns = (np.diff(flame.times, prepend=first), drawn[flame.leaves], tree.parent + 1, tree.name, tree.place + 1)
    return {
        "first": first,
        "samples": len(flame.times),
        "nodes": len(tree.parent),
        "planes": [_planes(values, pieces) for values in columns],
        "functions": [[*row] for row in zip(tree.names, tree.images, map(int, tree.is_app), strict=True)],
        "places": tree.places,
    }


def _planes(values: IntArray, pieces: list[bytes]) -> int:
    """Add a column; how many bytes each of its values has."""
    needed = max((int(values.max(initial=0)).bit_length() + 7) // 8, 1)
    pieces += [((values >> (8 * byte)) & 0xFF).astype(np.uint8).tobytes() for byte in range(needed)]
    return needed


def _slow(slow: Slow, words: Callable[[Why], Words], pieces: list[bytes]) -> dict[str, Any]:
    """What is said of a slow prediction; where what it is due to lies is added to the pieces."""
    sentence, parts = words(slow.why)
    plain: dict[str, Any] = {"model": visible(slow.why.model), "sentence": visible(sentence)}
    plain["length"] = format_time(slow.why.duration_ns, slow.why.resolution_ns)
    plain["parts"] = [[visible(name), visible(value)] for name, value in parts]
    return plain | {"lane": slow.lane, "row": slow.row} | _evidence([slow.due_to], pieces)


def _evidence(evidence: Sequence[Marked], pieces: list[bytes]) -> dict[str, Any]:
    """Rows of lanes as lane, number of rows and their gaps; what is on no lane by its times."""
    lanes, rows, starts, ends = (
        np.concatenate([getattr(marked, name) for marked in evidence]) for name in ("lanes", "rows", "starts", "ends")
    )
    on = [(lane, np.sort(rows[lanes == lane])) for lane in np.unique(lanes[lanes >= 0]).tolist()]
    gaps = [np.diff(lane_rows, prepend=0) for _, lane_rows in on]
    loose = np.flatnonzero(lanes < 0)
    loose = loose[np.argsort(starts[loose], kind="stable")]
    first = int(starts[loose[0]]) if loose.size else 0
    columns = (
        np.concatenate([*gaps, np.zeros(0, np.int64)]),
        np.diff(starts[loose], prepend=first),
        ends[loose] - starts[loose],
    )
    head = {"lanes": [[lane, len(lane_rows)] for lane, lane_rows in on], "loose": len(loose), "first": first}
    return head | {"planes": [_planes(values, pieces) for values in columns]}
