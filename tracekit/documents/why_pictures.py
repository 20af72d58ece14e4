"""Pictures of a slow prediction: the parts of its time beside a usual one, and the chain of what it waited for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.ledger.causes import NAMES, PREPARING, QUEUED, Cause
from tracekit.characters import visible
from tracekit.documents.lanes import lanes
from tracekit.documents.pictures import bar, drawing, group_class, legend, pair
from tracekit.documents.why import LAYERS, why_document
from tracekit.grouping import grouped
from tracekit.lanes.categories import Category
from tracekit.render.blocks import Document, Figure, section
from tracekit.render.markup import Html, tag
from tracekit.report.formatting import moment
from tracekit.report.viewers.lane_columns import fit_page
from tracekit.trace.events import DEVICE_NAMES
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.analysis.ledger.explain import Why
    from tracekit.report.report import Report
    from tracekit.report.timeline import Marked, Slow, Timeline
    from tracekit.report.why import WhyReport

LINKS = 12
"""Most lines of a chain, those nearest to the prediction; a line above counts the others."""
GROUP_OF = {group.name: group_class(group) for group in GROUPS}
QUEUE, DATA, REST = (GROUP_OF[name] for name in ("queued", "data", "unexplained"))
LAYER_LOOKS = {str(device): GROUP_OF[name] for device, name in DEVICE_NAMES.items()} | {"data": DATA, "rest": REST}
LOOKS = {
    **dict.fromkeys(QUEUED, QUEUE),
    **dict.fromkeys(PREPARING, "c-compile"),
    Cause.COPIES: DATA,
    Cause.NOT_VISIBLE: REST,
}
"""Colors of causes; the others are work that took longer, and look alike."""
LONGER = "longer"


def why_page(said: WhyReport, path: str, report: Report, timeline: Timeline) -> Document:
    """`why_document` with pictures, and with the lanes at the first prediction; `slow` of the timeline are those that
    are explained."""
    drawn = fit_page(replace(timeline, flame=None))
    pictures = {slow.why.prediction: why_pictures(drawn, slow) for slow in drawn.slow}
    return why_document(said, path, pictures, section("Timeline", lanes(report, drawn, marked=True), name="timeline"))


def why_pictures(timeline: Timeline, slow: Slow) -> Figure:
    """Both pictures of a prediction; the second only where something that it waited for is on the lanes."""
    chain = _chain(timeline, slow)
    return Figure(tag("div", _parts(slow.why), chain, class_="why-pictures"))


def _parts(why: Why) -> Html:
    """A usual prediction and this one, on one scale: what is usual first, then each part beyond it."""
    usual = [(LAYER_LOOKS.get(layer, LONGER), LAYERS.get(layer, layer), ns) for layer, ns in why.usual.items()]
    longer = [(LOOKS.get(part.cause, LONGER), NAMES[part.cause], part.ns) for part in why.parts if part.ns > 0]
    # What took less than usual shortens what is usual.
    kept = max(why.usual_ns + sum(part.ns for part in why.parts if part.ns < 0), 0) / (why.usual_ns or 1)
    own = [(looks, words, round(ns * kept)) for looks, words, ns in usual] + longer
    longest, rows = max(why.duration_ns, why.usual_ns, 1), []
    for name, times, whole_ns in (("usual", usual, why.usual_ns), ("this one", own, why.duration_ns)):
        pieces = [
            (looks, f"{words} {format_time(ns, why.resolution_ns)}", 100 * max(ns, 0) / longest)
            for looks, words, ns in times
        ]
        rows.append(pair(name, bar(name, pieces), format_time(whole_ns, why.resolution_ns)))
    kinds: Mapping[str, list[str]] = grouped(
        (looks, words) for looks, words, ns in (*usual, *longer) if ns >= longest / 200
    )
    words = {looks: ", ".join(dict.fromkeys(names)) for looks, names in kinds.items()}
    title = tag("figcaption", "Where its time went, beside a usual prediction")
    return tag("figure", title, *rows, legend(words), class_="pairs")


Held = tuple[int, int, Category]


class Link(NamedTuple):
    """A line of the chain: one prediction, or what else held the unit."""

    name: str
    called: tuple[int, int]
    """When it was called and done; of what is no prediction, from its first to its last row."""
    held: list[Held]
    """When it held the unit."""


def _chain(timeline: Timeline, slow: Slow) -> Html | None:
    """A line for each prediction that it waited for, in order, and its own below them; None where none is drawn."""
    why, links = slow.why, _links(timeline, slow)
    if not links or not any(part.behind for part in why.parts):
        return None
    right = why.start_ns + why.duration_ns
    own = Link("this one", (why.start_ns, right), _held(timeline, slow.own))
    left = min([why.start_ns, *(start for link in links for start, _, _ in link.held)])
    lines = list[Html]()
    for link in (*links[-LINKS:], own):
        ns = sum(end - start for start, end, _ in link.held)
        titles = f"{link.name}: {'ran' if link is own else 'held the unit for'} {format_time(ns)}"
        bars = [(*link.called, QUEUE if link is own else "in-flight"), *((a, b, _looks(c)) for a, b, c in link.held)]
        scale = 100 / (right - left)
        marks = [
            tag(
                "rect",
                x=scale * (max(start, left) - left),
                y=0,
                width=scale * (end - max(start, left)),
                height=10,
                class_=looks,
            )
            for start, end, looks in ((a, min(b, right), looks) for a, b, looks in bars)
            if end > max(start, left)
        ]
        lines.append(pair(link.name, drawing(marks, "0 0 100 10", titles, class_="parts"), format_time(ns)))
    more = len(links) - LINKS
    above = tag("p", f"{format_count(more, 'earlier one')} not drawn", class_="dim") if more > 0 else None
    kinds = {_looks(category): category.title for link in (*links, own) for _, _, category in link.held}
    words = kinds | {"in-flight": "in flight", QUEUE: "queued"}
    axis = tag("div", tag("span", moment(left)), tag("span", moment(right)), class_="x")
    title = tag("figcaption", "What it waited for: calls by their start, and how long each held the unit")
    return tag("figure", title, above, *lines, axis, legend(words), class_="pairs chain")


def _looks(category: Category) -> str:
    return f"c-{category.name.lower().replace('_', '-')}"


def _held(timeline: Timeline, marked: Marked) -> list[Held]:
    """The intervals of some rows, those that are on a lane."""
    return [
        (start, end, Category(int(timeline.lanes[lane].categories[row])))
        for start, end, lane, row in zip(*(column.tolist() for column in astuple(marked)), strict=True)
        if lane >= 0
    ]


def _links(timeline: Timeline, slow: Slow) -> list[Link]:
    """What held the unit, by prediction where the rows are of one, in the order of their first rows."""
    activity, links = timeline.lanes[slow.lane], []
    calls = {int(activity.predictions[at]): at for at in np.flatnonzero(activity.calls).tolist()}
    on_lanes = slow.of[slow.due_to.lanes >= 0].tolist()
    by_call = grouped(
        ((at, "") if (at := calls.get(of, -1)) >= 0 else (at, held[2].title), held)
        for of, held in zip(on_lanes, _held(timeline, slow.due_to), strict=True)
        # Pipelines are compiled during it and hold no unit.
        if held[2] is not Category.COMPILE
    )
    for (at, name), held in by_call.items():
        if at < 0:
            links.append(Link(name, (held[0][0], max(end for _, end, _ in held)), held))
            continue
        called, model = (int(activity.starts[at]), int(activity.ends[at])), timeline.texts[activity.models[at]]
        whose = "" if model == visible(slow.why.model) else f"{model} "
        links.append(Link(f"{whose}at {moment(called[0])}", called, held))
    return links
