"""Narrows a trace to some models or to one process.

Filtering changes what is counted, so every filter leaves a note that says what it did and what it could not tell.
Coverage stays as it is: what an instrument recorded does not depend on what one wants to look at.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.errors import unknown
from tracekit.trace.frames import sorted_events
from tracekit.trace.models import model_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from tracekit.trace.model import Trace

    Mask = npt.NDArray[np.bool_]

EVENT_FRAMES = ("activity", "data", "compute", "other", "hardware")
"""Frames of `Trace` that share the columns of `tracekit.trace.events`."""
CORE_ML_FRAMES = ("activity", "data", "compute", "other")
"""Those of the Core ML instrument, whose table has no process column."""


def filter_trace(trace: Trace, *, models: Sequence[str] = (), process: str | int | None = None) -> Trace:
    """The trace with only the rows of some models and of one process; the same object where nothing is asked for.

    `models` are case-sensitive shell patterns of base names; a pipeline keeps the rows of its stages. `process` is a
    name or a pid. Raises `UsageError` where a pattern matches no model, or where no row is of that process.
    O(rows) per frame.
    """
    if process is not None:
        trace = _only_process(trace, process)
    if models:
        trace = _only_models(trace, models)
    return trace


def cut_to_range(trace: Trace, start_ns: int, end_ns: int) -> Trace:
    """The trace with only the rows that start in `[start_ns, end_ns)`, and with all rows of the predictions among them.

    So each prediction is there as a whole or not at all; what of an earlier one starts in the range is there without
    it. Rows of the context stay where they reach into the range: a state holds until the next one. O(rows) per frame.
    """
    chosen = rows_in_range(trace, start_ns, end_ns)
    context = {
        name: frame if name in _TIMELESS else frame[_reaching(frame, start_ns, end_ns)].reset_index(drop=True)
        for name, frame in trace.context.items()
    }
    note = (
        f"Only what starts from {start_ns / 1e9:.6f} s to {end_ns / 1e9:.6f} s of the run is counted, predictions with "
        "all that belongs to them. It is judged as if nothing else had been recorded: a load before that time or a use "
        "after it is not seen."
    )
    return _narrowed(replace(trace, context=context), chosen, note)


def rows_in_range(trace: Trace, start_ns: int, end_ns: int) -> dict[str, Mask]:
    """For each event frame the rows that `cut_to_range` keeps: shape (rows,) each. O(rows) per frame."""

    def started(frame: pd.DataFrame) -> Mask:
        starts = frame["start_ns"].to_numpy()
        return np.asarray((starts >= start_ns) & (starts < end_ns))

    # Twice, because a row in a stage of a pipeline belongs to the stage, which belongs to the call.
    called = started(trace.activity)
    called |= _belonging(trace.activity, called)
    frames = {name: getattr(trace, name) for name in EVENT_FRAMES}
    return {name: started(frame) | _belonging(frame, called) for name, frame in frames.items()}


_TIMELESS = ("processes", "clock")
"""Context that holds for the whole run."""


def _belonging(frame: pd.DataFrame, activity: Mask) -> Mask:
    """Rows whose prediction is among the chosen rows of the Activity lane."""
    prediction = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
    chosen: Mask = np.append(activity, False)[prediction]
    return chosen


def _reaching(frame: pd.DataFrame, start_ns: int, end_ns: int) -> Mask:
    """Rows that lie in the range at least in part; an instant counts as 1 ns."""
    starts = frame["start_ns"].to_numpy()
    lengths = np.maximum(frame["duration_ns"].to_numpy(), 1) if "duration_ns" in frame else np.ones_like(starts)
    return np.asarray((starts < end_ns) & (starts + lengths > start_ns))


def _only_models(trace: Trace, patterns: Sequence[str]) -> Trace:
    """Rows that name one of the models, or a stage of one."""
    names = model_names(trace)
    chosen: set[str] = set()
    for pattern in patterns:
        # A name is also a pattern for itself, even where it holds brackets.
        matches = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not matches:
            raise unknown("model in this recording", pattern, names)
        chosen |= matches

    def keep(frame: pd.DataFrame) -> Mask:
        of_model = frame["model"].isin(chosen) | frame["parent_model"].isin(chosen)
        return of_model.to_numpy(dtype=bool)

    note = f"Only rows of {_listed('model', sorted(chosen))} are counted; rows that name no model are left out."
    return _narrowed(trace, {name: keep(getattr(trace, name)) for name in EVENT_FRAMES}, note)


def model_names(trace: Trace) -> list[str]:
    """Base names that any event frame mentions, sorted."""
    found: set[str] = set()
    for name in EVENT_FRAMES:
        frame: pd.DataFrame = getattr(trace, name)
        for column in ("model", "parent_model"):
            found.update(str(value) for value in frame[column].dropna().unique())
    return sorted(found)


def _only_process(trace: Trace, process: str | int) -> Trace:
    """Rows of the process, and those that could be its own because their table names no process."""
    wanted = str(process)
    target = trace.run.target.process
    is_target = target is not None and wanted in _spellings(target.name, target.pid)
    if not is_target:
        _require_process(trace, wanted)

    def keep(frame: pd.DataFrame) -> Mask:
        return _of_process(frame, wanted)

    # The list of processes stays whole: redaction knows from it which names are private.
    context = {
        name: frame if name == "processes" else frame[_of_process(frame, wanted)].reset_index(drop=True)
        for name, frame in trace.context.items()
    }
    hardware = trace.hardware[keep(trace.hardware)]
    notes = [f"Only rows of process {wanted} are counted"]
    unnamed = int(hardware["process"].isna().to_numpy().sum())
    if unnamed:
        notes.append(f"{unnamed} hardware rows name no process and are counted too")
    if target is None and trace.inferred:
        notes.append("predictions inferred from hardware are counted unless their rows name another process")
    elif target is None:
        notes.append("Core ML rows name no process and are all counted")
    elif not is_target:
        notes.append("Core ML rows name no process; they belong to the target, so none is counted")
    by_process = ("hardware", "activity") if trace.inferred else ("hardware",)
    kept = {name: keep(getattr(trace, name)) for name in by_process}
    narrowed = _narrowed(replace(trace, context=context), kept, "; ".join(notes) + ".")
    if target is not None and not is_target:
        narrowed = _narrowed(narrowed, {name: _none(getattr(narrowed, name)) for name in CORE_ML_FRAMES}, "")
    return narrowed


def _require_process(trace: Trace, wanted: str) -> None:
    """Raise `UsageError` if no row of the recording is of that process."""
    names: set[str] = set()
    for frame in (trace.hardware, *trace.context.values()):
        if {"process", "pid"} <= set(frame.columns):
            pairs = frame[["process", "pid"]].dropna(subset=["process"]).drop_duplicates()
            for name, pid in pairs.itertuples(index=False):
                if wanted in _spellings(str(name), None if pd.isna(pid) else int(pid)):
                    return
                names.add(str(name))
    target = trace.run.target.process
    raise unknown("process in this recording", wanted, sorted(names | ({target.name} if target else set())))


def _spellings(name: str, pid: int | None) -> tuple[str, ...]:
    """How a user may write a process."""
    return (name,) if pid is None else (name, str(pid))


def _of_process(frame: pd.DataFrame, wanted: str) -> Mask:
    """Rows of the process, and rows without one; all rows of a frame that knows no processes."""
    if not {"process", "pid"} <= set(frame.columns):
        return np.ones(len(frame), dtype=bool)
    own = frame["process"].astype("object").eq(wanted) | frame["pid"].astype("string").eq(wanted).fillna(value=False)
    return (own | frame["process"].isna()).to_numpy(dtype=bool)


def _none(frame: pd.DataFrame) -> Mask:
    """No row at all."""
    return np.zeros(len(frame), dtype=bool)


def _narrowed(trace: Trace, kept: Mapping[str, Mask], note: str) -> Trace:
    """The trace with only the kept rows of the frames that are named, links and models brought in line."""
    activity_kept = kept.get("activity")
    frames: dict[str, pd.DataFrame] = {}
    for name in EVENT_FRAMES:
        frame: pd.DataFrame = getattr(trace, name)
        mask = kept.get(name)
        frame = frame if mask is None else frame[mask].reset_index(drop=True)
        frames[name] = frame if activity_kept is None else _relinked(frame, activity_kept)
    narrowed = replace(
        trace,
        activity=frames["activity"],
        data=frames["data"],
        compute=frames["compute"],
        other=frames["other"],
        hardware=frames["hardware"],
        notes=(*trace.notes, note) if note else trace.notes,
    )
    return replace(narrowed, models=model_frame(sorted_events([frames[name] for name in CORE_ML_FRAMES])))


def _relinked(frame: pd.DataFrame, activity_kept: Mask) -> pd.DataFrame:
    """`frame` with `prediction` pointing at the new places of the kept activity rows; null where the row is gone."""
    place = np.where(activity_kept, np.cumsum(activity_kept) - 1, -1)
    old = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
    new = np.full(len(old), -1, dtype=np.int64)
    new[old >= 0] = place[old[old >= 0]]
    return frame.assign(prediction=pd.arrays.IntegerArray(np.maximum(new, 0), mask=new < 0))


def _listed(what: str, names: Sequence[str]) -> str:
    """`model A`, or `models A, B`."""
    return f"{what}{'s' if len(names) > 1 else ''} {', '.join(names)}"
