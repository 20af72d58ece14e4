"""`recompiled-each-run`: the app compiles a model on the device again and again."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.code.sites import sites_of
from tracekit.analysis.loads import cold_loads
from tracekit.detectors.shared.instances import traits_of


class Options(tk.Options):
    min_compiles: int = tk.option(
        2,
        "compilations",
        "A downloaded model needs one compilation. Its result can be kept, so every further one is avoidable.",
    )
    min_engine_compiles: int = tk.option(
        3,
        "compilations of one part",
        "Heuristic: two configurations of a model may need one compilation each on the Neural Engine; a "
        "third is a repetition.",
    )
    min_lost_ms: float = tk.option(
        100.0, "ms", "Heuristic: less in total is hardly felt; the Hangs instrument reports no delay below 100 ms."
    )


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks for compilations beyond those that a model needs."""
    compiles, hardware = view.compiles, view.hardware
    named = hardware.attribution.is_any(tk.Attribution.LABEL, tk.Attribution.EXACT)
    of_programs = named & hardware.kind.is_any(tk.Kind.ANE_COMPILE)
    if not len(compiles) and not of_programs.any():
        if cold_loads(view.loads, view.trace).cold.any():
            return view.not_applicable("The app compiled no model itself; cold-load reports compilations during loads.")
        return view.passed("No compilation of this model was recorded.", _metrics(options, 0, 0, 0, 0))
    programs = hardware.where(of_programs)
    again = compiles.take(slice(1 if len(compiles) >= max(options.min_compiles, 2) else len(compiles), None))
    programs_again = repeated_programs(programs, options.min_engine_compiles)
    repeated_ns = tk.covered_ns(again, programs_again)
    of_one_part = int(programs.label.counts().max(initial=0))
    metrics = _metrics(options, len(compiles), of_one_part, repeated_ns, tk.covered_ns(compiles, programs))
    if repeated_ns and repeated_ns >= options.min_lost_ms * 1e6:
        # Whether one name stands for several models or processes.
        known = traits_of(view) if len(again) else None
        if known is not None and (known.interfaces > 1 or known.processes > 1):
            return view.unknown(
                f"Compiled {len(compiles)} times, but several models share this name: their predictions copy "
                "different numbers of inputs or run in different processes. Which model each compilation belongs to "
                "is not recorded.",
                "Give each model file its own name.",
            )
        why = [f"The app compiled the model {len(again) + 1:,} times"] if len(again) else []
        if len(programs_again):
            count = int(programs_again.label.counts().max()) + 1
            why.append(f"{'the' if why else 'The'} same part was compiled for the Neural Engine {count:,} times")
        return view.finding(
            f"{', and '.join(why)}; all but the first took {view.time(repeated_ns)} in total.",
            metrics,
            rows=tk.Shown.of(again, programs_again),
            cost=view.cost(repeated_ns, "Time covered by the compilations after the first one", once=True),
            call_sites=sites_of(view.trace, again.id),
        )
    if len(compiles) == 1 and tk.covered_ns(compiles) >= options.min_lost_ms * 1e6:
        return view.unknown(
            f"Compiled once, in {view.time(tk.covered_ns(compiles))}; one launch does not show whether this "
            "happens at every launch. A downloaded model needs one compilation, a model shipped with the app none.",
            "Record a second launch: if the app compiles again, it does not keep the result.",
        )
    counted = tk.format_count(len(compiles) + len(programs), "compilation")
    time = view.time(tk.covered_ns(compiles, programs))
    return view.passed(f"{counted} in {time}; no long one was repeated.", metrics)


def _metrics(options: Options, calls: int, of_one_part: int, repeated_ns: int, total_ns: int) -> tuple[tk.Metric, ...]:
    return (
        tk.above("app-compilations", "compilations by the app", calls, "count", options.min_compiles),
        tk.above(
            "engine", "most Neural Engine compilations of one part", of_one_part, "count", options.min_engine_compiles
        ),
        tk.above("repeated-time", "repeated compilation time", repeated_ns, "ns", round(options.min_lost_ms * 1e6)),
        tk.Metric("total-time", "total compilation time", total_ns, "ns"),
    )


def repeated_programs(programs: tk.Events, minimum: int) -> tk.Events:
    """Rows after the first of their label, where that label occurs at least `minimum` times. O(n log n)."""
    again = np.append(programs.label.counts(), 0)[programs.label.codes] >= max(minimum, 2)
    again[np.unique(programs.label.codes, return_index=True)[1]] = False
    return programs.where(again)


DETECTOR = tk.Detector(
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.SIGNPOSTS),
    joins=True,
    uses=("Neural Engine", "Call Stacks"),
    caused_by=("reload-before-predict",),
    options=Options,
    asks=(),
    causes=(tk.Cause.SPECIALIZING, tk.Cause.FIRST),
    detect=detect,
)
