"""A detector for tracekit: the app predicts late after its first load."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk


class Options(tk.Options):
    """Thresholds."""

    wait_s: float = tk.option(1.0, "s", "Who opens a camera expects a first result within a second (an example).")


def detect(view: tk.ModelView, options: Options) -> tk.Outcome:
    """Looks at the time between the end of the first load and the first prediction after it."""
    loads, starts = view.loads, view.predictions.start_ns
    if not len(loads):
        return view.not_applicable("Its load was not recorded.")
    loaded = int(loads.ends_ns[0])
    later = starts[starts >= loaded]
    if not len(later):
        return view.not_applicable("No prediction after its first load was recorded.")
    used = int(later[0])
    wait = tk.above("first-use", "time to the first prediction", used - loaded, "ns", round(options.wait_s * 1e9))
    if not wait.reached or used == loaded:
        return view.passed(f"Used {tk.format_time(used - loaded)} after it was loaded.", (wait,))
    # Shown by a time between rows; a finding that rows show is made by `view.finding`.
    return tk.Finding(
        model=view.name,
        summary=f"Loaded, and first used {tk.format_time(used - loaded)} later.",
        metrics=(wait,),
        cost=tk.Cost(
            used - loaded,
            (used - loaded) / (used - int(loads.start_ns[0])),
            "Time from the end of the first load to the first prediction, as a share of the time since its start.",
            of="the time since the load began",
        ),
        evidence=(tk.Evidence(loaded, used, view.name, "wait", loads.table.item(0) or "", int(loads.row[0])),),
        affected=tk.Intervals(np.array([loaded]), np.array([used])),
    )


DETECTOR = tk.Detector(
    id="first-call",
    page=tk.page_beside(__file__, "first-call"),
    needs=("Core ML",),
    options=Options,
    detect=detect,
)
