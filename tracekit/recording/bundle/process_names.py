"""Names of processes and threads: references to shared arrays lead to numbers, and these tables to names.

process-info, thread-info        recordings with the Core ML template
developer-thread-name-update     recordings with the Time Profiler template
form.template                    the target and its threads, where none of these tables is there
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.decoding import ordered_columns
from tracekit.recording.bundle.values import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.arrays import UInt64Array
    from tracekit.recording.bundle.files import BundleFiles
    from tracekit.recording.bundle.stores import Store
    from tracekit.recording.bundle.values import RunValues, TargetNames

NO_NAME = 0xFFFF_FFFF_FFFF_FFFF
"""Name of a thread that has none."""


def read_names(files: BundleFiles, stores: Sequence[Store], values: RunValues, target: TargetNames) -> Names:
    """All names that a run states. Where it states two, the later one holds: a process may start another program.

    Raises `DamageError` where a table and the shared arrays disagree: then they are not from the same run.
    """
    names = Names(dict(target.processes), {}, set(target.main_threads))
    for store in stores:
        if store.damage or not store.rows:
            continue
        if store.spec.schema == "process-info":
            _add_processes(names, files, store, values)
        elif store.spec.schema == "thread-info":
            _add_threads(names, files, store, values)
        elif store.spec.schema == "developer-thread-name-update":
            (packed,) = ordered_columns(files, store, "thread-name")
            _add_thread_names(names, packed, packed & np.uint64(0xFFFF_FFFF), values)
    return names


def _add_processes(names: Names, files: BundleFiles, store: Store, values: RunValues) -> None:
    references, pids, texts = ordered_columns(files, store, "process", "pid", "process-name")
    numbers = values.arrays.fixed(references.astype(np.int64), 2)[:, 0]
    if not np.array_equal(numbers, pids):
        raise DamageError("process-info and the shared arrays give different numbers to a process")
    names.processes.update(zip(references.tolist(), values.text_of_strings(texts), strict=True))


def _add_threads(names: Names, files: BundleFiles, store: Store, values: RunValues) -> None:
    references, tids, packed, main = ordered_columns(files, store, "thread", "tid", "name", "main-thread")
    numbers = values.arrays.fixed(references.astype(np.int64), 2)[:, 0]
    if not np.array_equal(numbers, tids):
        raise DamageError("thread-info and the shared arrays give different numbers to a thread")
    names.main_threads.update(references[main == 1].tolist())
    _add_thread_names(names, packed, references, values)


def _add_thread_names(names: Names, packed: UInt64Array, references: UInt64Array, values: RunValues) -> None:
    named = packed != NO_NAME
    texts = values.text_of_strings(packed[named] >> np.uint64(32))
    names.threads.update((key, text) for key, text in zip(references[named].tolist(), texts, strict=True) if text)
