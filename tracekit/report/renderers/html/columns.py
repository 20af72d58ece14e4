"""The lanes as the script of the page reads them: columns of whole numbers, deflated, as text.

A column of values from 0 on is stored by significance: first the lowest bytes of all values, then the next ones, as
many as the largest value needs. Bytes of one significance are alike, so they deflate well, and no value has to be cut.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.lanes.categories import LOOKS
from tracekit.report.formatting import visible

if TYPE_CHECKING:
    from tracekit.arrays import IntArray
    from tracekit.report.flame import Flame
    from tracekit.report.report import Report
    from tracekit.report.timeline import DrawnLane, Timeline

LEVEL = 6
"""Of deflation: higher ones take several times as long and save a few percent."""


def payload(report: Report, timeline: Timeline, origin_ns: int | None = None) -> tuple[str, str]:
    """What the script needs to draw the lanes: JSON, and the columns it describes in base64. `origin_ns` is the time
    that stands above that of another recording; None where there is no other."""
    pieces: list[bytes] = []
    lanes = [_lane(lane, pieces) for lane in timeline.lanes]
    meta = {
        "start": timeline.start_ns,
        "end": timeline.end_ns,
        "source": visible(report.recording.source),
        "categories": [[category.name.lower(), look.title] for category, look in LOOKS.items()],
        "texts": timeline.texts,
        "lanes": lanes,
        "findings": _findings(report, timeline),
        "flame": _flame(timeline.flame, pieces) if timeline.flame is not None else None,
    }
    if origin_ns is not None:
        meta["origin"] = origin_ns
    text = json.dumps(meta, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    return text, b64encode(zlib.compress(b"".join(pieces), LEVEL)).decode("ascii")


def _lane(lane: DrawnLane, pieces: list[bytes]) -> dict[str, Any]:
    """What is said of a lane; its columns are added to the pieces."""
    head: dict[str, Any] = {"id": lane.id, "title": lane.title, "section": lane.section, "words": lane.words}
    head |= {"strip": lane.strip, "depth": lane.depth, "count": len(lane.starts)}
    if not len(lane.starts):
        return head
    first = int(lane.starts[0])
    columns = {
        "gaps": np.diff(lane.starts, prepend=first),
        "durations": lane.ends - lane.starts,
        "categories": lane.categories.astype(np.int64),
        "labels": lane.labels + 1,
        "works": lane.works,
        "models": lane.models + 1,
        "flags": lane.flags,
    }
    return head | {"first": first, "planes": [_planes(values, pieces) for values in columns.values()]}


def _flame(flame: Flame, pieces: list[bytes]) -> dict[str, Any]:
    """What is said of the call stacks; their columns are added to the pieces."""
    tree, first = flame.tree, int(flame.times[0])
    columns = (np.diff(flame.times, prepend=first), flame.leaves, tree.parent + 1, tree.name)
    return {
        "first": first,
        "samples": len(flame.times),
        "nodes": len(tree.parent),
        "planes": [_planes(values, pieces) for values in columns],
        "functions": [[*each] for each in zip(tree.names, tree.images, map(int, tree.is_app), strict=True)],
    }


def _planes(values: IntArray, pieces: list[bytes]) -> int:
    """Add a column; how many bytes each of its values has."""
    needed = max((int(values.max()).bit_length() + 7) // 8, 1)
    pieces += [((values >> (8 * place)) & 0xFF).astype(np.uint8).tobytes() for place in range(needed)]
    return needed


def _findings(report: Report, timeline: Timeline) -> list[dict[str, Any]]:
    """Evidence by check: for each interval start, duration, lane and row."""
    found: dict[str, dict[str, Any]] = {}
    for check, places in zip(report.checks, timeline.evidence, strict=True):
        if check.outcome != "finding" or not check.evidence:
            continue
        entry = found.setdefault(check.id, {"id": check.id, "title": check.title, "total": 0, "evidence": []})
        entry["total"] += check.evidence_total
        entry["evidence"] += [
            [each.start_ns, each.end_ns - each.start_ns, *place]
            for each, place in zip(check.evidence, places, strict=True)
        ]
    return list(found.values())
