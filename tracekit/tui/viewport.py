"""Which part of a recording is on screen, and how columns and times correspond. Pure integer arithmetic.

Column c of W shows `[start + c * span // W, start + (c + 1) * span // W)`. A span is never shorter than one ns for each
column, so that no column is without length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

ZOOM_STEP = 2.0
"""Factor of one step of zooming. Our judgment: ten steps lead from a second to a millisecond."""
PAN_STEP = 0.25
"""Share of the span that one step pans, so that three quarters of what was seen stay in sight."""
MARGIN = 0.1
"""Share of an interval shown on each side of it when zooming to it."""
HISTORY_LIMIT = 200
"""Views kept for going back."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open interval in ns; never empty."""

    start_ns: int
    span_ns: int

    @property
    def end_ns(self) -> int:
        """First ns after it."""
        return self.start_ns + self.span_ns

    def moved(self, by_ns: int) -> Span:
        """A span of the same length, `by_ns` later."""
        return replace(self, start_ns=self.start_ns + by_ns)


Bounds = Span
"""All that there is to see of a recording."""
Viewport = Span
"""What is seen."""


def span_between(start_ns: int, end_ns: int) -> Span:
    """The span between two times in either order, at least 1 ns long."""
    low, high = min(start_ns, end_ns), max(start_ns, end_ns)
    return Span(low, max(high - low, 1))


def clamp(view: Viewport, bounds: Bounds, columns: int) -> Viewport:
    """The nearest view that lies inside the bounds and gives each column at least 1 ns."""
    span = max(min(view.span_ns, bounds.span_ns), columns, 1)
    latest = max(bounds.end_ns - span, bounds.start_ns)
    return Viewport(min(max(view.start_ns, bounds.start_ns), latest), span)


def zoom(view: Viewport, factor: float, at_ns: int, bounds: Bounds, columns: int) -> Viewport:
    """The view magnified by `factor` (below 1: reduced), with `at_ns` staying where it is on screen."""
    # Rounded up, so that zooming out again shows no less than before.
    span = max(math.ceil(view.span_ns / factor), columns, 1)
    span = min(span, max(bounds.span_ns, columns))
    before = (at_ns - view.start_ns) * span // view.span_ns
    return clamp(Viewport(at_ns - before, span), bounds, columns)


def pan(view: Viewport, share: float, bounds: Bounds, columns: int) -> Viewport:
    """The view moved by a share of its span; to the right where it is positive. At least 1 ns."""
    step = round(view.span_ns * share) or (1 if share > 0 else -1)
    return clamp(replace(view, start_ns=view.start_ns + step), bounds, columns)


def around(what: Span, bounds: Bounds, columns: int) -> Viewport:
    """The view that shows an interval with a margin on both sides."""
    margin = max(round(what.span_ns * MARGIN), 1)
    return clamp(Viewport(what.start_ns - margin, what.span_ns + 2 * margin), bounds, columns)


def revealing(view: Viewport, what: Span, bounds: Bounds, columns: int) -> Viewport:
    """The view, moved as far as needed to show the beginning of an interval; centered on it where it was outside."""
    if view.start_ns <= what.start_ns < view.end_ns:
        return view
    span_ns = min(what.span_ns, view.span_ns)
    return clamp(replace(view, start_ns=what.start_ns - (view.span_ns - span_ns) // 2), bounds, columns)


def center_view(view: Viewport, time_ns: int, bounds: Bounds, columns: int) -> Viewport:
    """The view moved so that a time lies in its middle."""
    return clamp(replace(view, start_ns=time_ns - view.span_ns // 2), bounds, columns)


def time_of(view: Viewport, columns: int, column: int) -> int:
    """First ns of a column; `column` may be `columns`, for the end of the view."""
    return view.start_ns + column * view.span_ns // columns


def column_of(view: Viewport, columns: int, time_ns: int) -> int:
    """The column that shows a time; below 0 or at least `columns` where it is not in view. Inverse of `time_of`."""
    return ((time_ns - view.start_ns + 1) * columns - 1) // view.span_ns


def columns_of(bounds: Bounds, columns: int, what: Span) -> tuple[int, int]:
    """First column and the one after the last that show any of an interval, inside 0 to `columns`; at least one."""
    first = min(max(column_of(bounds, columns, what.start_ns), 0), columns - 1)
    last = min(max(column_of(bounds, columns, what.end_ns - 1), first), columns - 1)
    return first, last + 1


@dataclass(frozen=True, slots=True)
class History:
    """Views gone through, as a browser keeps pages."""

    past: tuple[Viewport, ...] = ()
    future: tuple[Viewport, ...] = ()

    def leaving(self, view: Viewport) -> History:
        """The history after going from `view` to a new one."""
        if self.past and self.past[-1] == view:
            return History(self.past)
        return History((*self.past, view)[-HISTORY_LIMIT:])

    def back(self, view: Viewport) -> tuple[Viewport, History]:
        """The view before this one, and the history then; this view where there is none."""
        if not self.past:
            return view, self
        return self.past[-1], History(self.past[:-1], (view, *self.future))

    def forward(self, view: Viewport) -> tuple[Viewport, History]:
        """The view that `back` left, and the history then; this view where there is none."""
        if not self.future:
            return view, self
        return self.future[0], History((*self.past, view), self.future[1:])

    def moved(self, by_ns: int) -> History:
        """The same views of a recording that is shifted."""
        return History(tuple(v.moved(by_ns) for v in self.past), tuple(v.moved(by_ns) for v in self.future))
