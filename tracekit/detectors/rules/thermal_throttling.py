"""`thermal-throttling`: predictions are slower while the device is hot."""

from __future__ import annotations

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN
from tracekit.analysis.ledger.patterns import HEAT_RATIO, MIN_IN_STATE
from tracekit.detectors.shared.stands_out import Alike, judge_alike


class Options(tk.Options):
    slowdown: float = tk.option(
        HEAT_RATIO,
        "times the median while cooler",
        "Heuristic: below a fifth, other work of the system can explain a difference as well.",
    )


def _stayed_cool(view: tk.ModelView, _options: Options) -> tk.Outcome | None:
    thermal = view.trace.table(tk.Thermal)
    if thermal is None or not thermal.state.is_any(THERMAL_STATES[0]).all():
        return None
    return view.passed("The device stayed cool: the thermal state was always Nominal.")


@judge_alike((tk.Cause.HEAT,))
def detect(calls: Alike, options: Options) -> tk.Outcome:
    """Compares predictions in the hottest thermal state with those in the coolest."""
    view, state = calls.view, np.where(calls.warm, calls.thermal, UNKNOWN)
    enough = np.flatnonzero(np.bincount(state[state != UNKNOWN]) >= MIN_IN_STATE)
    if not len(enough):
        return view.unknown(
            f"The thermal state is known for fewer than {MIN_IN_STATE} comparable predictions.",
            "Record with the Thermal State instrument from start to end.",
        )
    coolest, hottest = (THERMAL_STATES[place] for place in (calls.usual.thermal, enough[-1]))
    if hottest == coolest:
        return view.unknown(
            f"Nearly all comparable predictions ran in thermal state {coolest}, so there is nothing to compare them "
            "with.",
            "Start recording on a cool device and continue until it is warm.",
        )
    usual, typical = calls.usual.ns, calls.typical_ns(state == enough[-1])
    metrics = (
        tk.above("ratio", "hottest to coolest state", typical / usual, "ratio", options.slowdown),
        tk.Metric(f"median-{coolest.lower()}", f"median in state {coolest}", usual, "ns"),
        tk.Metric(f"median-{hottest.lower()}", f"median in state {hottest}, for the same work", typical, "ns"),
    )
    if not tk.reached(metrics, "ratio"):
        words = f"Heat makes predictions take {typical / usual:.2f}x as long in thermal state {hottest}"
        return view.passed(f"{words} as in {coolest}.", metrics)
    # How many ran in one state is no number of intervals: there may be a state between.
    summary = (
        f"In thermal state {hottest}, predictions took {view.time(typical)} (median), {typical / usual:.1f}x the "
        f"{view.time(usual)} in {coolest}."
    )
    words = f"Time predictions in hotter states took beyond the median in {coolest}"
    return calls.finding(state > calls.usual.thermal, (summary, metrics), words)


DETECTOR = tk.Detector(
    needs=("Core ML", "Thermal State"),
    origins=(tk.Origin.CALL_STACKS, tk.Origin.HARDWARE),
    options=Options,
    asks=(tk.any_prediction, _stayed_cool),
    causes=(tk.Cause.HEAT,),
    detect=detect,
)
