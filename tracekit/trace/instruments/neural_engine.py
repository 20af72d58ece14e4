"""Neural Engine instrument: when the engine was active, for the whole machine.

The table was renamed in Xcode 27; its columns stayed. It names no process. Identical rows are one interval written
twice (public evidence).
"""

from __future__ import annotations

import pandas as pd

from tracekit.recording.table import Process
from tracekit.trace.binding import required_values
from tracekit.trace.collect import Rows
from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.frames import ColumnValues, fixed_categorical
from tracekit.trace.instruments.hardware import active, hardware_frame
from tracekit.trace.instruments.instrument import Hardware, Instrument, Work
from tracekit.trace.labels import KnownModels, neural_engine_label


def bind(rows: Rows, known: KnownModels, target: Process | None) -> tuple[pd.DataFrame, None]:
    """Active intervals of the Neural Engine. Raises `MissingColumn` where the table has no time or no label."""
    rows = active(rows)
    label = required_values(rows.table, "event-label")
    meanings = [neural_engine_label(str(value), known) for value in label.values]
    kind = fixed_categorical("kind", label.codes, [meaning.kind for meaning in meanings]).fillna(Kind.OTHER)
    columns: dict[str, ColumnValues | str] = {"lane": Lane.NEURAL_ENGINE, "kind": kind, "device": Device.ANE}
    return hardware_frame(rows, label, label.codes, meanings, target, **columns), None


INSTRUMENT = Instrument(
    "Neural Engine",
    "Neural Engine activity of the whole device, without process names",
    hardware=Hardware(Lane.NEURAL_ENGINE, ("ane-hw-intervals", "ane-hw-intervals-internal"), bind, once=True),
    kinds={
        Kind.ANE_EXEC: Work("ANE", "Neural Engine execution"),
        Kind.ANE_LOAD: Work("LOAD", "Neural Engine load"),
        Kind.ANE_COMPILE: Work("COMPILE", "Neural Engine compilation"),
    },
    added_as="Neural Engine",
    in_template=True,
)
