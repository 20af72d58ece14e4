"""`shape-switching`: calls fall into fast and slow ones, as with inputs of several shapes."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.ledger.account import spent_by_layer
from tracekit.analysis.ledger.layers import UNITS
from tracekit.detectors.shared.interface import shapes_words
from tracekit.detectors.shared.options import SwitchOptions
from tracekit.detectors.shared.stands_out import SWITCHING, Alike, alternating, groups_of, judge_alike
from tracekit.detectors.shared.wording import FOLLOWS_INPUT_SIZE

_PAGE = tk.page_beside(__file__)
_HINT = _PAGE.fix_from("If the shape rarely changes")


@judge_alike(SWITCHING)
def detect(calls: Alike, options: SwitchOptions) -> tk.Outcome:
    """Looks for two groups of calls whose work differs and which take turns."""
    view, found = calls.view, alternating(calls, options)
    count = tk.format_count(int(calls.warm.sum()), "prediction")
    if found is None:
        hidden = calls.took(*SWITCHING) + calls.by(tk.Cause.NOT_VISIBLE)
        if not calls.usual.layers_ns[UNITS].any() and groups_of(hidden[calls.warm], options).any():
            words = "Predictions are fast or slow, but the recording does not show whether the slow ones work or wait."
            return view.unknown(
                words, "Record with the Core ML template, which includes the Neural Engine and the GPU."
            )
        return view.passed(f"The latencies of {count} form no separate slow group.")
    if not found.take_turns and view.trace.inferred and tk.all_reached(found.metrics):
        return view.unknown("Predictions are fast or slow, but call stacks do not show for what.", tk.RECORD_CORE_ML)
    if not found.take_turns:
        words = "Some predictions are slow, but they do not form a separate group that comes and goes."
        return view.passed(words, found.metrics)
    spent, _ = spent_by_layer(view.trace, calls.calls.id[found.slow])
    main, units = int(spent[:, UNITS].sum(axis=0).argmax()), list(tk.DEVICE_NAMES.values())
    if main != calls.usual.main_unit:
        what = f"the slow ones run mainly on the {units[main]}, the fast ones on the {units[calls.usual.main_unit]}"
    elif calls.has_larger_inputs(found.slow):
        return view.passed(FOLLOWS_INPUT_SIZE, found.metrics)
    else:
        what = f"the slow ones work longer on the {units[main]}"
    note, fix = shapes_words(view)
    share, switches, fast_ns, slow_ns = (
        tk.value_of(found.metrics, name) for name in ("slow-share", "switches", "fast-median", "slow-median")
    )
    summary = (
        f"{int(found.slow.sum()):,} of {count} ({tk.format_share(share)}) take {view.time(slow_ns)} instead of "
        f"{view.time(fast_ns)} (medians) and switch groups {switches:,} times; {what}. {note}"
    )
    words = "Time that predictions of the slow group took beyond a usual one, of the fast group"
    return calls.finding(found.slow, (summary, found.metrics), words, fix=fix and f"{fix}\n\n{_HINT}\n")


DETECTOR = tk.Detector(
    page=_PAGE,
    needs=("Core ML",),
    origins=(tk.Origin.CALL_STACKS,),
    counts=True,
    uses=("Neural Engine", "GPU", "Thermal State"),
    options=SwitchOptions,
    causes=SWITCHING,
    detect=detect,
)
