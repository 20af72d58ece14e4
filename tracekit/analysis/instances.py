"""What the rows inside the predictions show of the instances of one model: whether they can be the same at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.trace.events import Kind
from tracekit.trace.frames import is_any

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IntArray


USUAL = 0.8
"""Least share of an instance's calls that must agree for a property to be the instance's own: rows that are lost or
added by chance touch few (our judgment)."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What sets instances of one name apart. Shape (predictions,) each; calls of equal numbers may be of equal
    instances."""

    inputs: IntArray
    """Input copies in a call of the instance; 0 where it has none, or no usual number: buffers that need no copy leave
    no row."""
    engine: IntArray
    """1 for an instance that runs on the Neural Engine, 0 for one that does not, -1 for one that does at times."""
    gpu: IntArray
    """The same of the GPU."""
    pid: IntArray
    """Process whose GPU rows the call holds, -1 where none is named."""

    @property
    def interfaces(self) -> int:
        """Different numbers of inputs that are known."""
        return len(np.unique(self.inputs[self.inputs > 0]))

    @property
    def processes(self) -> int:
        """Different processes that are known."""
        return len(np.unique(self.pid[self.pid >= 0]))

    def kinds(self) -> IntArray:
        """Calls numbered by what sets their instances apart; what is unknown counts as what most calls have."""
        columns = (
            _filled(self.inputs, self.inputs > 0),
            *(_filled(values, values >= 0) for values in (self.engine, self.gpu, self.pid)),
        )
        return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)

    def difference(self) -> str:
        """In what the instances differ, in words; empty where nothing shows it."""
        units = any(len(np.unique(values[values >= 0])) > 1 for values in (self.engine, self.gpu))
        differences = (
            ("process", self.processes > 1),
            ("number of inputs", self.interfaces > 1),
            ("compute unit", units),
        )
        return ", ".join(name for name, differs in differences if differs)


def traits(predictions: pd.DataFrame, data: pd.DataFrame, hardware: pd.DataFrame) -> Traits:
    """Traits of the instances of one model; rows of `data` and `hardware` are linked by `prediction`.
    O((p + d + h) log p)."""
    instance = pd.factorize(predictions["instance"].to_numpy(np.int64, na_value=-1))[0]
    copies = _count(predictions, data, Kind.INPUT_COPY)
    engine, gpu = (_ran(instance, _count(predictions, hardware, kind) > 0) for kind in (Kind.ANE_EXEC, Kind.GPU_EXEC))
    return Traits(_usual(instance, copies)[instance], engine, gpu, _process(predictions, hardware))


def _ran(instance: IntArray, ran: BoolArray) -> IntArray:
    """`Traits.engine` from whether each call ran there."""
    share = np.bincount(instance, ran, minlength=1) / np.maximum(np.bincount(instance, minlength=1), 1)
    return np.select([share >= USUAL, share <= 1 - USUAL], [1, 0], -1)[instance].astype(np.int64)


def _positions_of_predictions(predictions: pd.DataFrame, rows: pd.DataFrame) -> tuple[IntArray, BoolArray]:
    """Position of the prediction that each row is linked to, and whether there is one."""
    linked = rows["prediction"].to_numpy(np.int64, na_value=-1)
    position = predictions.index.get_indexer(pd.Index(linked)).astype(np.int64)
    return position, position >= 0


def _count(predictions: pd.DataFrame, rows: pd.DataFrame, kind: Kind) -> IntArray:
    """Rows of a kind linked to each prediction."""
    position, known = _positions_of_predictions(predictions, rows)
    counted = position[known & is_any(rows["kind"], kind)]
    return np.bincount(counted, minlength=len(predictions)).astype(np.int64)


def _usual(instance: IntArray, counts: IntArray) -> IntArray:
    """The number that `USUAL` of each instance's calls with any have: shape (instances,), 0 where there is none."""
    usual = np.zeros(int(instance.max(initial=-1)) + 1, np.int64)
    some = counts > 0
    if some.any():
        pairs, times = np.unique(np.column_stack((instance[some], counts[some])), axis=0, return_counts=True)
        totals = np.bincount(instance[some], minlength=len(usual))
        often = times >= USUAL * totals[pairs[:, 0]]
        usual[pairs[often, 0]] = pairs[often, 1]
    return usual


def _process(predictions: pd.DataFrame, hardware: pd.DataFrame) -> IntArray:
    """Process that the rows inside each prediction name, -1 where they name none."""
    position, known = _positions_of_predictions(predictions, hardware)
    known &= hardware["pid"].notna().to_numpy(dtype=bool)
    pid = np.full(len(predictions), -1, np.int64)
    pid[position[known]] = hardware["pid"].to_numpy(np.int64, na_value=-1)[known]
    return pid


def _filled(values: IntArray, known: BoolArray) -> IntArray:
    """`values` with the most frequent of the known ones in place of those that are not known."""
    if not known.any():
        return values
    distinct, times = np.unique(values[known], return_counts=True)
    return np.where(known, values, distinct[np.argmax(times)])
