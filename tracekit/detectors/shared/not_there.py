"""Why a model does not run on a unit: what its loads, its file and its plan say."""

from __future__ import annotations

import tracekit.detectors as tk
from tracekit.analysis.code.call_sites import call_sites
from tracekit.detectors.shared.planned import of_units
from tracekit.rows import sums_by
from tracekit.trace.calls.stacks import LoadPhase
from tracekit.trace.instruments.tables import engine_events

MIN_SAMPLES = 5
"""Samples of a load in which the Neural Engine was tried, or the model compiled, from which on that is no chance
(heuristic)."""


def tried_ns(view: tk.ModelView) -> tk.IntArray:
    """Time of each load in which call stacks show the Neural Engine tried: shape (loads,), 0 where they show none."""
    return _sampled_ns(view, LoadPhase.NEURAL_ENGINE)


def nothing_logged(view: tk.ModelView) -> bool:
    """Whether the engine's table is empty, and the kernel logged nothing of its driver."""
    return view.trace.coverage_of("Neural Engine").state == "empty" and not engine_events(view.trace.run)


def _sampled_ns(view: tk.ModelView, phase: LoadPhase) -> tk.IntArray:
    sites, sampled = call_sites(view.trace), view.trace.sampled
    if sites is None or sampled is None:
        return view.loads.duration_ns * 0
    samples = sums_by(view.loads.id, sites.id, sites.samples_in(phase))
    return samples * (samples >= MIN_SAMPLES) * sampled.period_ns


def why_not(view: tk.ModelView, unit: tk.Device) -> str:
    """What explains that the model is not on a unit: sentences after a space, or nothing."""
    said = ""
    if unit is tk.Device.ANE:
        tried, compiled = int(tried_ns(view).sum()), int(_sampled_ns(view, LoadPhase.COMPILING).sum())
        if tried:
            said = f" Its load tried the Neural Engine for {view.time(tried)}, so the app allows it."
        elif compiled:
            said = f" Its load compiled it for {view.time(compiled)}, never trying the engine: check `computeUnits`."
    return said + by_file(view, unit)


def by_file(view: tk.ModelView, unit: tk.Device) -> str:
    """What its file and its plan say of the unit: sentences after a space, or nothing."""
    said = ""
    if unit is tk.Device.ANE and view.model_file is not None:
        # Most recordings come without the files of their models.
        from tracekit.model_files.engine import placements_of, verdict
        from tracekit.model_files.engine_limits import chip_of
        from tracekit.model_files.versions import recorded_target

        device = view.trace.run.device
        target = recorded_target(device.platform, device.os_version)
        placed = placements_of(view.model_file, chip_of(device.model), target)
        verdicts = "; ".join(dict.fromkeys(map(verdict, placed)))
        said = f" Will it run on the Neural Engine, by its file: {verdicts}."
    return said + of_units(view, tk.DEVICE_NAMES[unit])
