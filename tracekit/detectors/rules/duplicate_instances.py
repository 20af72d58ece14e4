"""`duplicate-instances`: a model is loaded several times and one instance would do."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.instances import Instances, Traits, instances_by_kind
from tracekit.analysis.load_waits import awaited
from tracekit.analysis.loads import uses_of_loads
from tracekit.analysis.quantities import median_of
from tracekit.detectors.shared.instances import ALIKE, MIN_SWITCHES, PARALLEL_SHARE, Turns, before_comparing, traits_of
from tracekit.detectors.shared.loads import beside_cold
from tracekit.detectors.shared.wording import RECORD_APP


class Options(tk.Options):
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")
    min_switches: int = tk.option(
        MIN_SWITCHES,
        "switches between instances",
        "Heuristic: when one instance replaces another, a few predictions may alternate.",
    )
    parallel_share: float = tk.option(
        PARALLEL_SHARE,
        "share of busy time",
        "Heuristic: instances that run concurrently for longer than chance exist for that purpose.",
    )
    unused_s: float = tk.option(10.0, "s", "Heuristic: an instance may be loaded some time before its first use.")
    alike: float = tk.option(
        ALIKE,
        "times",
        "Heuristic: instances whose times differ more run differently, for example on other compute "
        "units, another function or other inputs.",
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for instances that take turns, and for loads that only another load's instance was used after."""
    answer = before_comparing(view, options.min_predictions)
    if answer is not None:
        return answer
    known, turns = traits_of(view), Turns(options.min_switches, options.parallel_share, options.alike)
    parts = instances_by_kind(view.loads, view.predictions, known, options.min_predictions // 2)
    unused, perhaps = _unused_loads(view, options)
    # Those that could be one come first, then those that change places most often.
    instances = max(parts, key=lambda part: (turns.one_suffices(part), turns.taken(part), part.switches))
    metrics = (
        tk.Metric("instances", "instances", instances.count, "count"),
        tk.above("switches", "switches between instances", instances.switches, "count", options.min_switches),
        tk.below("parallel", "time with several busy", instances.parallel_share, "share", options.parallel_share),
        tk.below("spread", "slowest to fastest instance", instances.spread, "ratio", options.alike),
        tk.Metric("unused-loads", "unused loads", len(unused), "count"),
    )
    doubled = turns.one_suffices(instances)
    # Loads name no process: where several may have been recorded, each has loads of its own.
    elsewhere = view.trace.run.target.kind == "all-processes"
    if (doubled and elsewhere and (known.pid < 0).any()) or (len(unused) and elsewhere and not doubled):
        return view.unknown(
            "All processes were recorded, and the rows do not show which process each instance belongs to.", RECORD_APP
        )
    if turns.taken(instances) and instances.spread is None:
        return view.unknown(
            "Several instances alternate, but each has too few predictions to tell whether they do the same work.",
            "Record longer, with more predictions of each instance.",
        )
    if not doubled and not len(unused):
        if perhaps and not known.difference():
            return view.unknown(
                f"{perhaps:,} of {len(view.loads):,} loads {'has' if perhaps == 1 else 'have'} no prediction so far, "
                "although the model was used afterwards: for later use, or another configuration.",
                f"Record {options.unused_s:g} s or longer after the last load, with the feature in use.",
            )
        return view.passed(_purpose(view, instances, known, options), metrics)
    unused = unused[: 0 if elsewhere else None]
    rows = view.loads.take(np.union1d(instances.together if doubled else instances.together[:0], unused))
    waited = tk.Intervals.from_rows(rows).where(awaited(rows, view.trace)).union()
    why, first_use = [], np.sort(np.unique(view.predictions.instance.filled(), return_index=True)[1])
    if doubled:
        why.append(f"{instances.count:,} instances alternate and hardly ever run at the same time")
    if len(unused):
        noun = "load was" if len(unused) == 1 else "loads were"
        why.append(f"{len(unused):,} {noun} never used, although the model was used later")
    words = "; ".join(why)
    took = tk.format_time(tk.covered_ns(rows)) + ("" if len(waited) else ", which no prediction waited for")
    time = f"the unnecessary loads took {took}" if len(rows) else "their loads were not recorded"
    return view.finding(
        f"{words[0].upper()}{words[1:]}; {time}. Each instance also holds memory.",
        metrics,
        rows=rows if len(rows) else view.predictions.take(first_use),
        cost=view.cost(waited.covered_ns, "Time of these loads that something waited for") if len(waited) else None,
        affected=waited,
        call_sites=sites_of(view.trace, rows.id),
    )


def _unused_loads(view: tk.ModelView, options: Options) -> tuple[tk.IntArray, int]:
    """Positions of loads that nothing used, although the model was used afterwards: from the cache, as long as one
    that was used, with enough calls after them. And how many more may be such loads.

    A cold load that nothing used prepares the model for the next one, which some apps do on purpose.
    """
    loads = view.loads
    uses = uses_of_loads(loads, view.predictions)
    durations = loads.duration_ns.astype(np.float64)
    used = np.isin(np.arange(len(loads)), uses.load)
    usual = median_of(durations[used]) if used.any() else np.inf
    same = (durations <= usual * options.alike) & (durations * options.alike >= usual)
    ends = tk.Intervals.from_rows(loads).ends
    starts = view.predictions.start_ns
    later = len(starts) - np.searchsorted(starts, ends)
    again = np.ones(len(loads), np.bool_)
    again[::-1][np.unique(loads.instance.filled()[::-1], return_index=True)[1]] = False
    long = (starts[-1] - ends >= options.unused_s * 1e9) | again
    cold = loads.kind.is_any(tk.Kind.LOAD_UNCACHED)
    perhaps = ~used & ~cold & ~beside_cold(loads, either_side=True) & (later > 0)
    surely = perhaps & same & long & (later >= options.min_predictions)
    return np.flatnonzero(surely).astype(np.int64), int((perhaps & ~surely).sum())


def _purpose(view: tk.ModelView, instances: Instances, known: Traits, options: Options) -> str:
    numbers = view.predictions.instance
    count, used = tk.format_count(instances.count, "instance"), len({*numbers.values[numbers.known].tolist()})
    if known.difference():
        return f"The instances differ ({known.difference()}); none duplicates another."
    if used < instances.count:
        return (
            f"{used:,} of {count} {'was' if used == 1 else 'were'} used; loads of the others specialized the model or "
            "came after its last prediction."
        )
    if used == 1:
        return f"One instance, loaded {len(view.loads):,} times."
    if instances.switches < options.min_switches:
        return f"{count}, used one after another."
    if instances.parallel_share >= options.parallel_share:
        return f"{count} that run in parallel."
    return (
        f"{count} alternate but differ in latency ({instances.spread:.1f}x), as with other compute units or another "
        "function."
    )


DETECTOR = tk.Detector(needs=("Core ML",), uses=("Neural Engine", "GPU", "Call Stacks"), options=Options, detect=detect)
