"""What is known of the time that compute units worked for the predictions of a model, and what Core ML's own rows
suggest where the hardware was not recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import Part
from tracekit.analysis.instances import SHOWN_BY, suggested_unit
from tracekit.analysis.statistics import top_calls
from tracekit.intervals import CoveredTime
from tracekit.rows import sums_by
from tracekit.trace.calls.stacks import Unit

_PARTS = {
    tk.Device.ANE: (Part.ANE, Part.ANE_REQUESTED, tk.Lane.NEURAL_ENGINE),
    tk.Device.GPU: (Part.GPU, Part.GPU_REQUESTED, tk.Lane.GPU),
}


class Work(NamedTuple):
    """What is known of the time that units worked for a model's predictions, in ns."""

    known_ns: dict[tk.Device, int]
    """What rows show, or samples of a thread that computes."""
    open_ns: dict[tk.Device, int]
    """What the unit may have worked beyond that: time without known work in predictions where it is not known."""
    predicted_ns: int
    """Time of the predictions."""
    by_prediction: dict[tk.Device, tk.IntArray]
    """What rows show of each prediction: shape (predictions,)."""

    @property
    def shown_ns(self) -> int:
        """Time in which some unit is known to have worked."""
        return sum(self.known_ns.values())

    def share(self, device: tk.Device) -> float:
        """Share of the known work."""
        return self.known_ns[device] / self.shown_ns if self.shown_ns else 0.0

    def mostly_elsewhere(self, device: tk.Device) -> float:
        """Share of the predictions with known work for which other units did half of it or more."""
        shown = np.sum(list(self.by_prediction.values()), axis=0)
        elsewhere = 2 * self.by_prediction[device] <= shown
        return float(elsewhere[shown > 0].mean()) if shown.any() else 0.0

    @property
    def words(self) -> str:
        """The units with known work, the busiest first, with their shares."""
        busy = sorted(filter(self.known_ns.get, self.known_ns), key=lambda unit: -self.known_ns[unit])
        return ", ".join(f"{tk.DEVICE_NAMES[device]} {tk.format_share(self.share(device))}" for device in busy)


def known_work(view: tk.ModelView) -> Work:
    """Work of the units in the predictions of the model."""
    times = view.breakdown
    durations = times.every.duration_ns[times.chosen]
    known: dict[tk.Device, tk.IntArray] = {tk.Device.CPU: times.part(Part.CPU).filled(0)}
    unknown: dict[tk.Device, tk.BoolArray] = {tk.Device.CPU: times.unknown[Part.CPU] >= 0}
    for device, (executed, requested, _) in _PARTS.items():
        known[device] = times.part(executed).filled(0) + times.part(requested).filled(0)
        unknown[device] = (times.unknown[executed] >= 0) & (known[device] == 0)
    on_units = known[tk.Device.ANE] + known[tk.Device.GPU]
    known[tk.Device.CPU] = np.maximum(known[tk.Device.CPU], np.minimum(sampled_ns(view), durations - on_units))
    rest = durations - np.sum(list(known.values()), axis=0)
    still = {device: np.where(unknown[device], rest, 0) for device in known}
    predicted = tk.Intervals.from_rows(view.predictions)
    for device, (_, _, lane) in _PARTS.items():
        unattributed = _unattributed_times(view.trace)[lane].within(predicted.starts, predicted.ends)
        still[device] = np.maximum(still[device], np.minimum(unattributed, rest))
    order = tuple(tk.DEVICE_NAMES)
    return Work(
        {device: int(known[device].sum()) for device in order},
        {device: int(still[device].sum()) for device in order},
        int(durations.sum()),
        known,
    )


def sampled_ns(view: tk.ModelView) -> tk.IntArray:
    """Time of each prediction in which call stacks show its thread compute for it, of what Core ML did not record."""
    sites = view.trace.sites
    if sites is None:
        return np.zeros(len(view.predictions), np.int64)
    return sums_by(view.predictions.id, sites.id, sites.samples_in(Unit.CPU)) * view.predictions.resolution_ns


@tk.cached_by_trace
def _unattributed_times(trace: tk.Trace) -> dict[tk.Lane, CoveredTime]:
    """When each unit executed rows of which nothing says whose they are: the same for all models of a recording."""
    hardware = trace.hardware
    executed = hardware.kind.is_any(tk.Kind.ANE_EXEC, tk.Kind.GPU_EXEC)
    unattributed = executed & hardware.attribution.is_any(tk.Attribution.UNATTRIBUTED)
    times = tk.Intervals.from_rows(hardware)
    return {
        lane: times.where(unattributed & hardware.lane.is_any(lane)).covered_time()
        for lane in (tk.Lane.NEURAL_ENGINE, tk.Lane.GPU)
    }


def unit_suggestion(view: tk.ModelView) -> str:
    """The unit that they suggest, and that this is weaker evidence: a sentence after a space, or nothing."""
    suggestion = suggested_unit(view.trace, view.predictions.id)
    if suggestion is None:
        return ""
    device, count = suggestion
    return (
        f" Core ML's own rows suggest the {tk.DEVICE_NAMES[device]} for {count:,} of "
        f"{tk.format_count(len(view.predictions), 'prediction')} ({SHOWN_BY[device]}): weaker evidence than rows of "
        "the hardware."
    )


def unit_suggestion_notes(trace: tk.Trace, models: Iterable[str]) -> tuple[str, ...]:
    """The unit that they suggest for each of these models, in one sentence; none where they suggest nothing."""
    called = top_calls(trace, tk.Kind.PREDICTION)
    words = []
    for model in models:
        suggestion = suggested_unit(trace, called.id[called.model.is_any(model)])
        if suggestion is not None:
            words.append(f"{model} on the {tk.DEVICE_NAMES[suggestion[0]]} ({SHOWN_BY[suggestion[0]]})")
    if not words:
        return ()
    return (f"Hardware was not recorded; Core ML's own rows suggest, as weaker evidence: {'; '.join(words)}.",)
