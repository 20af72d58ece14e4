"""Signposts of a language model in memory: processor time until they are phases, and on lanes."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracekit.columns import Codes, Numbers
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.recording.contents import Contents, Run, TableEntry, Target
from tracekit.recording.table import Column, Process, Table, TableState, Thread
from tracekit.trace.build import build_trace

_NAMES = ("Extend", "LogitsInference", "Sample", "Decode")


@dataclass
class InMemory:
    """A recording of one table."""

    contents: Contents
    run: Run
    table: Table

    def tables(self, schema: str, **_attributes: str) -> list[Table]:
        """The table, if it is of this schema."""
        return [self.table] if schema == self.table.schema else []

    def call_stacks(self, _schema: str) -> list[object]:
        """None."""
        return []

    def forget(self, _schemas: Iterable[str]) -> None:
        """Nothing: the table is made once."""


def recording(table: Table, target: Process) -> InMemory:
    """A recording that holds only this table."""
    run = Run(
        number=1,
        target=Target(kind="attached", process=target),
        tables=(TableEntry(table.schema, table.state, table.rows),),
    )
    return InMemory(Contents("in memory", "xctrace export XML", True, (run,)), run, table)


def signposts(rows: int, target: Process) -> Table:
    """Begins and ends of four phases for each token, each begin with a message of its own."""
    pairs = rows // 2
    order = np.arange(rows)
    pair = order // 2
    constant = np.zeros(rows, np.int32)
    cells = {
        "time": Numbers(order * 1_000, np.ones(rows, np.bool_)),
        "thread": Codes(constant, (Thread("main", 7, target),)),
        "process": Codes(constant, (target,)),
        "event-type": Codes((order % 2).astype(np.int32), ("Begin", "End")),
        "identifier": Numbers(pair + 1, np.ones(rows, np.bool_)),
        "name": Codes((pair % len(_NAMES)).astype(np.int32), _NAMES),
        "subsystem": Codes(constant, ("com.apple.coreai-models.performance",)),
        "category": Codes(constant, ("performance",)),
        "message": Codes(
            np.where(order % 2 == 0, pair, -1).astype(np.int32),
            tuple(f"tokens=1, step={step}, strategy=Vanilla" for step in range(pairs)),
        ),
    }
    columns = tuple(Column(name, name) for name in cells)
    return Table("os-signpost", 1, TableState.ROWS, columns, tuple(cells.values()), rows)


def main(rows: int) -> None:
    """Print the seconds of each step and the peak memory."""
    target = Process("Chat", 7)
    made = recording(signposts(rows, target), target)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    trace = build_trace(made)  # type: ignore[arg-type]
    bound = time.process_time()
    lanes = lanes_of(trace, Grouping.LANES)
    drawn = sum(len(lane.events) for lane in lanes if lane.events is not None and lane.id.startswith("phases"))
    done = time.process_time()
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    print(f"{rows:,} rows: {len(trace.phases):,} phases bound in {bound - begun:.2f} s, {drawn:,} on lanes in", end=" ")
    print(f"{done - bound:.2f} s; {more:,.0f} MB more")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
