"""What an app does between the calls of a model: `pipeline-gaps` and `serial-predictions` ask the same questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis import idle as idleness
from tracekit.analysis.autoregression import ONLY_OPENING, opened_by_another_model, opens_sequence
from tracekit.analysis.code.sites import CallSite
from tracekit.analysis.code.threads import Between, work_between
from tracekit.analysis.pace import (
    BEAT_SPREAD,
    BLUR,
    CERTAINTY,
    MIN_STRETCH,
    SAME_PACE,
    Pacing,
    frame_rate,
    paced_stretches,
    pacing,
    quartile_distance,
    spread,
)
from tracekit.analysis.quantities import median_of
from tracekit.analysis.statistics import medians_by_group, top_calls
from tracekit.analysis.throughput import burst_numbers
from tracekit.trace.calls.stacks import STATEFUL, copied_by, stacks_in
from tracekit.trace.events import SETUP_KINDS
from tracekit.units import format_rate

WORK_SPREAD = 0.3
"""Gaps whose half distance between quartiles is at most this share of their median are taken for work of the app.
Events that it waits for come by chance, and the spread of such times is 0.8 (heuristic)."""

CHANCE_SPREAD = 0.5
"""Waits of any length up to some longest one vary so, and others vary more (uniform distribution). Of few waits, by
chance, less: the standard error of this measure is `CHANCE_ERROR` over the root of their number (the same)."""
CHANCE_ERROR = 0.71

WORK_LONGEST_NS = 100_000_000
"""Longer gaps are not taken for work by their regularity alone (heuristic)."""

SLEEP_SPREAD = 0.07
"""Gaps that vary by no more may be a sleep for a fixed time that ends up to a third late, at any time (half the
distance between their quartiles, as a share of the median). Work on inputs that differ varies more (heuristic)."""

SLEEP_SHORTEST_NS = 16_666_667
"""Nobody lets an app sleep for less than a frame at 60 fps between two predictions (heuristic)."""

MARKED_SHARE = 0.5
"""Part of the gaps that signposts of the app must cover to show that it works in them (heuristic)."""

RUNNING_SHARE = 0.5
"""Part of the gaps in which call stacks must show code of the app, on any thread, for the same (heuristic)."""

WORKED_SHARE = 0.5
"""Part of the extra time of a prompt in which compute units work for it; a call that warms up waits (heuristic)."""


class Activity(StrEnum):
    """What the app does in the gaps."""

    PACED = "paced"
    """Something sets the pace of calls, such as a camera: they keep a beat, and nothing shows that it is work."""
    WORK = "work"
    """It works: each call follows the one before after about the same time, or signposts of the app say so."""
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, eq=False)
class SequenceGaps:
    """Gaps in the sequences of a model's calls."""

    idle: idleness.Idle
    activity: Activity
    marked: tuple[str, ...] = ()
    """Names of the app's signposts that lie in the gaps and show that it works, most time first; else empty."""
    between: Between | None = None
    """What code of the app ran in the gaps; None without call stacks."""
    culprit: str = ""
    """Model before whose calls most of the time is lost; empty without gaps."""
    beats_ns: tuple[float, ...] = ()
    """Where calls keep a beat: its usual distance in each stretch that keeps one."""

    @property
    def by_stacks(self) -> bool:
        """Whether call stacks show that the app works in them."""
        return self.between is not None and self.between.running >= RUNNING_SHARE

    @property
    def seen(self) -> str:
        """What signposts or call stacks show in them, as a clause; empty without."""
        if self.marked:
            return f"the app's signposts are in the gaps: {', '.join(self.marked)}"
        if self.between is None:
            return ""
        return f"call stacks show code of the app for {tk.format_share(self.between.running)} of the gaps"

    @property
    def sites(self) -> tuple[CallSite, ...]:
        """Functions that run in them, most first."""
        return () if self.between is None else self.between.sites


def find_gaps(view: tk.ModelView, min_calls: int) -> SequenceGaps | tk.NotEvaluated:
    """`read_gaps`, or why there is none to judge."""
    gaps = read_gaps(view, min_calls)
    if len(gaps.idle.distance_ns):
        return gaps
    count = len(view.predictions)
    found = f"found {count}" if count < min_calls else f"long gaps separate the {count:,} recorded"
    return view.unknown(
        f"Needs {min_calls} predictions in a row; {found}.",
        "Record the feature while it processes many inputs in a row.",
    )


def unclear(view: tk.ModelView, gaps: SequenceGaps, rests: str) -> tk.NotEvaluated:
    """The answer where the gaps may be work or waiting; `rests` says what is idle and for how much of the time."""
    why = ", but the recording does not show whether the app works or waits for input in the gaps"
    if gaps.seen:
        why = f"; {gaps.seen}, but not what it waits for in the rest"
    return view.unknown(
        f"{rests} of the time between successive predictions{why}.",
        "Mark the app's own work with signposts (OSSignposter) and add the os_signpost instrument.",
    )


def pacing_words(view: tk.ModelView, gaps: SequenceGaps) -> str:
    """Says that calls keep a rate, and what is seen between them; at no rate of frames, loads may be what makes it."""
    calls, loads = (
        tk.Intervals.from_rows(view.predictions),
        tk.Intervals.from_rows(top_calls(view.trace, *SETUP_KINDS)),
    )
    between = (loads.starts >= calls.starts[0]) & (loads.ends <= calls.starts[-1])
    free = any(frame_rate(np.array([beat])) is None for beat in gaps.beats_ns)
    if free and 2 * between.sum() >= len(gaps.idle.distance_ns):
        return "Models are loaded between these predictions: see reload-before-predict and load-churn."
    low, high = (1e9 / bound(gaps.beats_ns) for bound in (max, min))
    if high > SAME_PACE * low:
        rates = f"steady rates ({format_rate(low)} to {format_rate(high)})"
    else:
        rates = f"a steady rate ({format_rate(1e9 / median_of(np.array(gaps.beats_ns)))})"
    seen = f"; {gaps.seen}" if gaps.seen else ", as where a camera or a timer starts them"
    return f"Predictions run at {rates}{seen}."


def read_gaps(view: tk.ModelView, min_calls: int) -> SequenceGaps:
    """Gaps in sequences of at least `min_calls` calls. O(n log n), once for all numbers that the same sequences
    reach: checks ask for different ones, and most apps call a model in long sequences."""
    has_length = view.durations > 0
    rows = view.predictions.where(has_length)
    sequence = view.cache.get((read_gaps, "sequences"), lambda: burst_numbers(rows))
    counts = np.bincount(sequence)
    fewest = int(counts[counts >= min_calls].min(initial=np.iinfo(np.int64).max))
    return view.cache.get((read_gaps, fewest), lambda: _gaps(view, rows, sequence, fewest))


def _gaps(view: tk.ModelView, rows: tk.Calls, sequence: tk.IntArray, min_calls: int) -> SequenceGaps:
    models = view.trace.activity.model.values
    work, model_code = idleness.core_ml_calls(view.trace), models.index(view.name)
    idle = idleness.idle_times(work, model_code, rows.start_ns, sequence, min_calls)
    error_ns = int(rows.resolution_ns.max(initial=0)) if view.trace.inferred else 0
    stretch = paced_stretches(idle, rows, error_ns)
    # Sampling alone may make distances vary so: where each start is off by chance, each distance makes up for the one
    # before as on a beat; unless they vary so little that the beat is sure.
    perhaps = bool(error_ns and (stretch >= 0).any()) and quartile_distance(idle.distance_ns) < BLUR * error_ns
    perhaps = perhaps and spread(idle.distance_ns) > BEAT_SPREAD
    rest = (stretch < 0) | perhaps
    beats: tuple[float, ...] = ()
    if not rest.all() and int(rest.sum()) < max(min_calls, MIN_STRETCH):
        numbers, group = np.unique(stretch[~rest], return_inverse=True)
        beats = tuple(medians_by_group(idle.distance_ns[~rest], group, len(numbers)).tolist())
    elif not rest.all():
        # What waits for a camera at times says nothing of the rest, which is judged by itself.
        idle = idle.of_steps(rest)
    named = idle.next_model >= 0
    by_model = np.bincount(idle.next_model[named], weights=idle.gaps.durations[named])
    culprit = models[int(by_model.argmax())] if by_model.any() else ""
    marked = () if perhaps else _signposts_in_gaps(view, idle)
    between = work_between(view.trace, idle.gaps)
    gaps = SequenceGaps(idle, Activity.UNCLEAR, marked, between, culprit, beats)
    # Even work keeps a beat too, and what is seen to work does not wait; a camera may still set its pace.
    seen = marked or (between is not None and between.calling >= RUNNING_SHARE)
    if beats and not (seen and any(frame_rate(np.array([beat])) is None for beat in beats)):
        return replace(gaps, activity=Activity.PACED)
    # Call stacks know better than lengths.
    by_length = between is None and pacing(idle.distance_ns, idle.busy_ns) is Pacing.FOLLOWING
    by_length = by_length and _like_work(idle.distance_ns - idle.busy_ns)
    works = not perhaps and (marked or gaps.by_stacks or by_length)
    return replace(gaps, activity=Activity.WORK) if works else gaps


def _like_work(gap_ns: tk.IntArray) -> bool:
    """Whether gaps, shape (steps,), vary as work does: less than waiting by chance, more than a sleep."""
    variation, usual = spread(gap_ns), median_of(gap_ns)
    sleeps = variation <= SLEEP_SPREAD and usual >= SLEEP_SHORTEST_NS
    by_chance = CHANCE_SPREAD - CERTAINTY * CHANCE_ERROR / len(gap_ns) ** 0.5
    return variation <= min(WORK_SPREAD, by_chance) and usual <= WORK_LONGEST_NS and not sleeps


def _signposts_in_gaps(view: tk.ModelView, idle: idleness.Idle) -> tuple[str, ...]:
    """Names of signpost intervals of the app that lie inside gaps, if they cover enough of them."""
    signposts = view.trace.table(tk.Signposts)
    if signposts is None or not len(signposts) or not len(idle.gaps):
        return ()
    target = view.trace.run.target.process
    system = signposts.subsystem.passing(lambda subsystem: subsystem.startswith("com.apple."))
    own = signposts.process.is_any(*[target.name] if target else ()) | ~signposts.process.known
    signposts = signposts.where(own & ~system)
    times = tk.Intervals.from_rows(signposts)
    index = np.searchsorted(idle.gaps.starts, times.starts, side="right") - 1
    inside = (index >= 0) & (times.ends > times.starts) & (times.ends <= idle.gaps.ends[np.maximum(index, 0)])
    if times.where(inside).covered_ns < MARKED_SHARE * int(idle.gaps.durations.sum()):
        return ()
    names = signposts.name.take(inside)
    time_ns = tk.sums_by(np.arange(len(names.values)), names.codes, signposts.duration_ns[inside])
    longest = dict(zip(names.values, (-time_ns).tolist(), strict=True))
    return tuple(sorted(names.held(), key=lambda name: (longest[name], name))[:2])


def one_after_another(
    view: tk.ModelView, idle: idleness.Idle, metrics: tuple[tk.Metric, ...]
) -> tk.Passed | tk.NotEvaluated | None:
    """The answer where each call seems to need the one before, or may need it; None where nothing shows that."""
    sequence, sampled, copies = burst_numbers(view.predictions), view.trace.sampled, copies_in(view, idle)
    if sampled is not None and stacks_in(sampled, STATEFUL).any():
        return view.passed("Predictions go on from the state that the one before left.", metrics)
    # At least two sequences, of which most open with a prompt, of this model or of another.
    opens = opens_sequence(view.durations, sequence).any()
    if opens or opened_by_another_model(view.trace, view.predictions, sequence):
        words = "Each prediction seems to need the previous result, as with the tokens of a language model."
        return view.passed(words, metrics)
    if copies and copies.calling >= RUNNING_SHARE:
        words = "The app copies arrays in between, like the state of a decoder: see copies-between-predictions."
        return view.passed(words, metrics)
    if sequence[-1]:
        return None
    busy = np.sum([view.breakdown.busy(device).filled(0) for device in tk.DEVICE_NAMES], axis=0)
    more, longer = (float(each[0] - median_of(each)) for each in (busy, view.durations))
    # The first call of a single sequence is long enough for a prompt, and units work for it for much of the extra time
    # as far as rows show; or it follows a call of a model that hardly does else.
    works = not busy.any() or more >= WORKED_SHARE * longer
    prompt = works and opens_sequence(view.durations, sequence, ONLY_OPENING)[0]
    if prompt or opened_by_another_model(view.trace, view.predictions, sequence, 1):
        return view.unknown(
            "The only sequence starts like a language model: a long prediction for the prompt, then one per token. If "
            "each needs the previous result, none can overlap.",
            "Use the feature twice in one recording, with a gap in between.",
        )
    return None


def copies_in(view: tk.ModelView, idle: idleness.Idle) -> Between | None:
    """What the app copies in gaps, on threads that predict; None without call stacks."""
    return work_between(view.trace, idle.gaps, copied_by)


def gap_finding(
    view: tk.ModelView,
    idle: idleness.Idle,
    summary: str,
    metrics: tuple[tk.Metric, ...],
    sites: tuple[CallSite, ...],
    lost_ns: tk.IntArray | None = None,
    basis: str = "Time between predictions without a load, compilation or prediction",
) -> tk.Finding:
    """The finding that gaps show, with what they cost at most; `lost_ns` is how much of each: all, unless given."""
    ends, lost_ns = idle.gaps.ends, idle.gaps.durations if lost_ns is None else lost_ns
    gaps, lost = tk.Intervals(ends - lost_ns, ends).where(lost_ns > 0), int(lost_ns.sum())
    cost = tk.Cost(
        lost,
        lost / max(int(idle.distance_ns.sum()), 1),
        f"{basis}, as a share of the time from the first to the last prediction of the sequences.",
        of="the time from first to last prediction",
    )
    activity = view.trace.activity
    following = tk.Shown.of(activity).take(np.searchsorted(activity.start_ns, gaps.ends, side="left"))
    # Each gap is shown by the row that ends it.
    label = following.label.recoded(lambda label: f"before {label}")
    rows = replace(following, start_ns=gaps.starts, duration_ns=gaps.durations, label=label)
    return view.finding(summary, metrics, rows=rows, cost=cost, affected=gaps, call_sites=sites[:5])
