"""The code behind the numbers: which functions of the app call Core ML, as the report gives and words it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

import numpy as np

from tracekit.analysis.code.phases import phase_name
from tracekit.analysis.code.sites import MAIN, MIXED, OTHER, Busy, CallSite, Place, all_sites
from tracekit.analysis.code.threads import own_code
from tracekit.grouping import grouped
from tracekit.trace.calls.stacks import Api, LoadPhase
from tracekit.trace.filter import Shown, reach_ranges
from tracekit.trace.samples import APP
from tracekit.trace.trace import Trace
from tracekit.units import format_count, format_percent, format_time

THREADS: Final = {MAIN: "main thread", OTHER: "background thread", MIXED: "main and background threads"}
"""Where a place calls from, in words; nothing where it is not known."""
NOUNS: Final = {
    Api.LOAD: "load",
    Api.RELOAD: "reload",
    Api.COMPILE: "compilation",
    Api.PREDICTION: "prediction",
    Api.ELEMENT: "sample",
    Api.BETWEEN: "sample",
}
"""What is counted of each kind of call."""
LABELS: Final = {Api.LOAD: "load", Api.COMPILE: "compilation", Api.PREDICTION: "prediction", Api.ELEMENT: "data"}
"""What a call site is for."""
ELEMENTS: Final = "MLMultiArray, element by element"
LEAST_SHARE, MAIN_SHARE = 0.005, 0.1
"""Phases and units of fewer samples of a call are not worth a word, or not one in the short report."""


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What the call stacks of a recording show."""

    samples: int
    """Of running threads; one each millisecond for each of them, unless they are taken by `unit`."""
    unit: str | None
    """What the CPU counted from sample to sample, as `CPU cycles`; None where they are taken by time."""
    weight: int | None
    """What all samples stand for in `unit`; None where they are taken by time, and where it is not stated."""
    stacks: int
    """Samples that caught a call stack."""
    named: float | None
    """Share of the frames of these stacks whose function has a name; None without frames."""
    source_lines: bool
    """Whether frames of the app have source lines."""
    inferred: bool
    """Whether Core ML recorded no call, so that all of `call_sites` is inferred from call stacks."""
    call_sites: tuple[CallSite, ...]
    """By what is called: loads, compilations, predictions, element access; the place with most calls first."""
    notes: tuple[str, ...]
    """What could not be read and what it cost, one sentence each."""
    own_share: float | None
    """Share of the time in which a thread of the app ran, or Core ML was called, that is code of its own, of its
    libraries and other runtimes; None where samples do not show it."""
    own_site: CallSite | None
    """The function that was innermost in most of these samples; its `share` is of them."""


def code_info(trace: Trace, shown: Shown | None) -> CodeInfo | None:
    """What the call stacks show of what is `shown`; None where none were recorded."""
    sampled = trace.profiled
    if sampled is None:
        return None
    stacks, weights = sampled.stacks, sampled.weights
    is_app = stacks.owner.is_any(APP)
    sites = [] if shown is not None and shown.foreign else all_sites(trace, shown.models if shown else None)
    if shown is not None and shown.ranges is not None:
        times = np.array([(site.first_ns, site.last_ns + 1) for site in sites], np.int64).reshape(-1, 2)
        sites = [*compress(sites, reach_ranges(shown.ranges, *times.T))]
    # It is about the app, and about all of its time.
    is_part = shown is not None and (shown.foreign or shown.ranges is not None)
    own_share, own_site = (not is_part and own_code(trace)) or (None, None)
    return CodeInfo(
        samples=len(sampled.samples),
        unit=sampled.unit,
        weight=None if weights is None else int(weights.sum()),
        stacks=int(sampled.samples.stack.known.sum()),
        named=float(stacks.function.known.mean()) if len(stacks) else None,
        source_lines=bool(is_app.any()) and bool(stacks.line.known[is_app].any()),
        inferred=trace.inferred,
        call_sites=tuple(sites),
        notes=sampled.notes,
        own_share=own_share,
        own_site=own_site,
    )


def symbols_sentence(code: CodeInfo) -> str:
    """Whether functions and lines are known."""
    if code.named is None:
        return "no call stack was caught"
    if not code.named:
        return "only libraries are known: the recording has no symbols"
    names = "every function has a name" if code.named == 1 else f"{format_percent(code.named)} of frames have a name"
    return f"{names}; source lines of the app are {'known' if code.source_lines else 'not known'}"


def place(where: CallSite | Place) -> str:
    """`StyleView.apply (StyleView.swift:42)`."""
    if where.function is None:
        return "no function of the app"
    if where.file is None:
        return where.function
    return f"{where.function} ({line_of(where)})"


def caller_words(site: CallSite) -> str:
    """`in StyleView.apply (StyleView.swift:42), main thread · 350 of 373 loads`, and how sure that is."""
    thread = THREADS.get(site.thread)
    some = site.samples if site.calls is None else site.calls
    of = format_count(site.of, NOUNS[Api(site.api)])
    count = f"all {of}" if some == site.of > 1 else of if some == site.of else f"{some:,} of {of}"
    doubt = f" ({site.ambiguous:,} of {format_count(site.samples, 'sample')} ambiguous)" if site.ambiguous else ""
    between = "between calls, " if site.api == Api.BETWEEN else ""
    where = f"{between}in {place(site)}{f', {thread}' if thread else ''}"
    work = main_work(site) if site.inferred and site.calls is not None else ""
    return " · ".join(filter(None, (where, f"{count}{doubt}", work)))


def merge_sites(sites: Iterable[CallSite]) -> tuple[CallSite, ...]:
    """Places of several models as one list: calls from one place are added up."""
    listed, total = list(sites), Counter[str]()
    for site in listed:
        total[site.api] += site.samples if site.calls is None else site.calls
    by_place = grouped(((site.api, site.function, site.file, site.line), site) for site in listed)
    sites_by_place: list[CallSite] = []
    for group in by_place.values():
        of = total[group[0].api]
        first = group[0]
        samples = sum(site.samples for site in group)
        calls = None if first.calls is None else sum(site.calls or 0 for site in group)
        busy = grouped((kind.what, (site.samples, kind)) for site in group for kind in site.busy)
        merged = []
        for counted in busy.values():
            share = sum(count * kind.share for count, kind in counted) / max(samples, 1)
            merged.append(replace(counted[0][1], samples=sum(kind.samples for _, kind in counted), share=share))
        threads, models = {site.thread for site in group}, {site.model for site in group}
        sites_by_place.append(
            replace(
                first,
                model=first.model if len(models) == 1 else None,
                thread=first.thread if len(threads) == 1 else MIXED if threads <= set(THREADS) else "unknown",
                calls=calls,
                of=of,
                share=(samples if calls is None else calls) / of,
                samples=samples,
                ambiguous=sum(site.ambiguous for site in group),
                first_ns=min(site.first_ns for site in group),
                last_ns=max(site.last_ns for site in group),
                busy=tuple(merged),
                longest_ns=max(site.longest_ns for site in group),
            )
        )
    return tuple(sorted(sites_by_place, key=lambda site: (-site.share, site.first_ns)))


def busy_words(site: CallSite) -> str:
    """All that the calls were busy with, in shares of their time or samples; empty where nothing is known of it."""
    words = _share_words(site, LEAST_SHARE)
    return f"{words} of {'the time' if site.resolution_ns else format_count(site.samples, 'sample')}" if words else ""


def main_work(site: CallSite) -> str:
    """The large parts of it, in few words. Where a program was compiled, getting it was hardly anything else."""
    busy = {busy.what for busy in site.busy}
    left_out = LoadPhase.PROGRAM if LoadPhase.COMPILING in busy else None
    words = _share_words(site, MAIN_SHARE, left_out)
    return f"nothing compiled, {words}" if site.api == Api.LOAD and words and LoadPhase.COMPILING not in busy else words


def _share_words(site: CallSite, min_share: float, left_out: str | None = None) -> str:
    """Phases with their share of a load, those inside one behind it in parentheses; or, of a prediction,
    the CPU time in code that works for a compute unit, which says nothing about how long the unit itself worked."""
    large = [busy for busy in site.busy if busy.share >= min_share and busy.what != left_out]
    if site.api == Api.PREDICTION:
        return ", ".join(f"{phase_name(busy.what)} {format_percent(busy.share)}" for busy in large)
    inside = grouped((None if busy.within == left_out else busy.within, busy) for busy in large)

    def words(phase: Busy, pattern: str = "{0} {1}") -> str:
        within = ", ".join(words(part, "{1} {0}") for part in inside.get(phase.what, ()))
        text = pattern.format(phase.what, format_percent(phase.share))
        return f"{text} ({within})" if within else text

    return ", ".join(map(words, inside.get(None, ())))


def line_of(site: CallSite | Place) -> str:
    """`main.swift:1261`; empty where the file is not known."""
    return "" if site.file is None else site.file if site.line is None else f"{site.file}:{site.line}"


def calls_words(site: CallSite) -> str:
    """How many calls, of what, and how long they took. Not for `Api.BETWEEN`."""
    if site.calls is None:
        return f"{format_count(site.samples, 'sample')} reading or writing {ELEMENTS}"
    noun = NOUNS[Api(site.api)]
    count = f"{'at least ' if site.inferred else ''}{format_count(site.calls, noun)}"
    of_model = f" of {site.model}" if site.model else ""
    if site.calls == 1:
        return f"{count}{of_model}, {format_time(site.longest_ns, site.resolution_ns)}"
    return f"{count}{of_model}, median {format_time(site.median_ns, site.resolution_ns)}"
