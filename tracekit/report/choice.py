"""What the user wants to see of a recording, by name. An error about a name that it does not hold offers those it
holds, without what a report leaves out: all names of signposts, for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.errors import UsageError, unknown
from tracekit.intervals import Intervals
from tracekit.report.formatting import visible
from tracekit.report.limits import within_limits
from tracekit.report.redact import PrivateFacts, private_facts, redact_text
from tracekit.trace.filter import (
    everything,
    matching,
    model_names,
    only_models,
    only_process,
    only_ranges,
    process_names,
    spellings,
)
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace

_ASK = "'tracekit analyze --no-redact' names those of other processes"


def shown_of(
    trace: Trace,
    *,
    models: Sequence[str] = (),
    process: str | int | None = None,
    part: Part | None = None,
    redact: bool = True,
) -> Shown | None:
    """What is shown of some models (shell patterns of base names), of one process (name or pid) and of a part of the
    time; None: everything. Of more models than a report holds it is those in which most time was spent.

    Raises `UsageError` where a pattern matches no model, where nothing in the recording names the process, and where
    the app has no such signpost; `redact` keeps names of others out of its text. O(rows) per frame.
    """
    if not models and process is None and part is None:
        return within_limits(trace, None)
    shown = everything(trace)
    if part is not None:
        shown = only_ranges(shown, trace, ranges_of(trace, part), *part.words)
    if process is not None:
        if not any(str(process) in spellings(*pair) for pair in process_names(trace)):
            raise unknown_process(trace, str(process), redact=redact)
        shown = only_process(shown, trace, process)
    if models:
        names = model_names(trace)
        chosen: set[str] = set()
        for pattern in models:
            matches = matching(names, pattern)
            if not matches:
                raise unknown_model(trace, pattern, redact=redact)
            chosen |= matches
        shown = only_models(shown, trace, chosen)
    return within_limits(trace, shown)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the time of a recording, as a user describes it."""

    start_ns: int | None = None
    """None: from the beginning."""
    end_ns: int | None = None
    """None: to the end."""
    signpost: str | None = None
    """Name of intervals of the app; None: all of the time."""

    @property
    def words(self) -> tuple[str, str]:
        """Where it is, behind `starting`, and its name."""
        where = [] if self.signpost is None else [f"within signpost {self.signpost}"]
        where += [] if self.start_ns is None else [f"from {self.start_ns / 1e9:g} s"]
        if self.end_ns is not None:
            where.append(f"{'before' if self.start_ns is None else 'to'} {self.end_ns / 1e9:g} s")
        return " ".join(where), "this range" if self.signpost is None else "these intervals"


def ranges_of(trace: Trace, part: Part) -> Intervals:
    """The ranges of time of a part, sorted and disjoint. Raises `UsageError` for a signpost that the app does not have.

    Signposts of other processes do not count where the recording has a target.
    """
    low = 0 if part.start_ns is None else part.start_ns
    high = np.iinfo(np.int64).max if part.end_ns is None else part.end_ns
    if part.signpost is None:
        return Intervals(np.array([low]), np.array([high]))
    signposts, target = trace.context.get("signposts"), trace.run.target.process
    if signposts is None or signposts.empty:
        raise UsageError("the recording has no signpost intervals; record with --instrument os_signpost")
    if target is not None:
        signposts = signposts[(signposts["pid"] == target.pid).fillna(value=False).to_numpy(dtype=bool)]
    rows = signposts[(signposts["name"] == part.signpost).to_numpy(dtype=bool)]
    if rows.empty:
        others = format_count(signposts["name"].nunique(), "other name")
        raise UsageError(
            f"unknown signpost '{visible(part.signpost)}' (the app has intervals of {others}; names of signposts are "
            "private, and 'tracekit export' writes them)"
        )
    return Intervals.from_rows(rows).clipped(low, high).union()


def unknown_model(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a pattern that no model matches. `redact` leaves out models that only other processes ran."""
    names = model_names(trace)
    offered = sorted(set(names) - set(private_facts(trace).foreign_models)) if redact else names
    return _error("model", wanted, offered, hidden=len(names) - len(offered))


def unknown_process(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a process that nothing in the recording names. `redact` offers the pids of all but the target."""
    pairs = process_names(trace)
    target = trace.run.target.process
    if not redact:
        return _error("process", wanted, sorted({name for name, _ in pairs}), hidden=0)
    offered = [] if target is None else [target.name]
    others = [pid for name, pid in pairs if name not in offered]
    known = [str(pid) for pid in others if pid is not None]
    return _error("process", wanted, [*offered, *known], hidden=len(others))


def plain(text: str) -> str:
    """A sentence with words of a file of settings, without what is private by its form and what could steer a
    terminal."""
    return visible(redact_text(text, PrivateFacts((), (), None), ()))


def _error(what: str, wanted: str, names: list[str], *, hidden: int) -> UsageError:
    error = unknown(what, visible(wanted), map(visible, names))
    return UsageError(f"{error}; {_ASK}") if hidden else error
