"""Call stacks that leave the machine: those of the target, redacted, each sample with its place in the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.call_stacks import APP, MAIN, MS, START, WORKER, app, core_ml, source
from tracekit.analysis.code.tree import CallTree, in_functions
from tracekit.recording.table import Process, Thread
from tracekit.report.flame import flame_of
from tracekit.trace.filter import everything, only_range

RUN, AGAIN, LOAD = app("run", 3), app("run", 9), core_ml("load")
OTHER = Thread("Main Thread (0x8) (Secret, pid: 8)", 8, Process("Secret", 8))
SAMPLES = [
    (5, MAIN, [LOAD, RUN, START]),
    (1, MAIN, [RUN, START]),
    (2, WORKER, [RUN, AGAIN, START]),
    (3, OTHER, [core_ml("secretWork"), START]),
    (4, MAIN, []),
]


@pytest.fixture(scope="module")
def trace(samples):
    opened = kept_analysis(samples / "sharpen_8bit.trace").trace
    run = replace(opened.run, target=replace(opened.run.target, process=APP))
    return replace(opened, run=run, sample_source=source(*SAMPLES))


def path(tree: CallTree, node: int) -> str:
    names = []
    while node >= 0:
        names.append(tree.names[tree.name[node]])
        node = int(tree.parent[node])
    return ";".join(reversed(names))


def test_each_sample_of_the_target_ends_in_its_node(trace):
    flame = flame_of(trace)
    assert flame is not None
    assert flame.times.tolist() == [1 * MS, 2 * MS, 5 * MS]
    assert [path(flame.tree, leaf) for leaf in flame.leaves.tolist()] == [
        "start;run",
        "start;run;run",
        "start;run;load",
    ]
    app_functions = {name for name, is_app in zip(flame.tree.names, flame.tree.is_app, strict=True) if is_app}
    assert app_functions == {"run"}


def test_what_other_processes_ran_stays_here(trace):
    flame = flame_of(trace)
    assert flame is not None
    assert "secretWork" not in flame.tree.names
    nobody = replace(trace, run=replace(trace.run, target=replace(trace.run.target, process=None)))
    assert flame_of(nobody) is None


def test_only_samples_in_the_range_that_is_shown_count(trace):
    shown = only_range(everything(trace), trace, 2 * MS, 5 * MS)
    flame = flame_of(trace, shown=shown)
    assert flame is not None
    assert flame.times.tolist() == [2 * MS]
    assert flame_of(trace, shown=only_range(everything(trace), trace, 6 * MS, 7 * MS)) is None


def test_without_call_stacks_there_is_none(samples):
    assert flame_of(kept_analysis(samples / "captions_concurrent.trace").trace) is None


def test_names_are_redacted_and_fit_for_a_screen(trace):
    named = replace(trace, sample_source=source((1, MAIN, [app("/Users/berta/main \u202eevil", 1), START])))
    kept, unredacted = flame_of(named, redact=False), flame_of(named)
    assert kept is not None
    assert unredacted is not None
    assert any("berta" in name for name in kept.tree.names)
    assert not any("berta" in name or "\u202e" in name for name in unredacted.tree.names)


def test_a_function_that_calls_itself_counts_once(trace):
    flame = flame_of(trace)
    assert flame is not None
    inside, itself = in_functions(flame.tree)
    times = {name: (int(inside[index]), int(itself[index])) for index, name in enumerate(flame.tree.names)}
    assert times == {"start": (3, 0), "run": (3, 2), "load": (1, 1)}
    assert np.sum(itself) == 3
