"""Call trees: every sample is counted once on each level, from either end."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from support.call_stacks import MAIN, START, Call, app, source
from tracekit.analysis.code.tree import CallTree, Frames, call_tree, in_functions, without_deeper
from tracekit.report.flame import DEEPER, MAX_LEVELS, as_collapsed, as_speedscope, as_text
from tracekit.trace.samples import Samples

RUN, LOAD, WORK = app("run", 1), app("load", 2), Call("Espresso", "work")
SAMPLES = [
    (1, MAIN, [WORK, LOAD, RUN, START]),
    (2, MAIN, [LOAD, RUN, START]),
    (3, MAIN, []),
    (4, MAIN, [WORK, RUN, START]),
    (5, MAIN, [START]),
]


def read(*samples: object) -> Samples:
    stacks = source(*samples).read()  # type: ignore[arg-type]
    assert stacks is not None
    return stacks


def tree_of(sampled: Samples, frames: Frames = Frames.ALL, *, invert: bool = False) -> CallTree:
    return call_tree(sampled, np.ones(len(sampled.samples), bool), frames, invert=invert)


def paths(tree: CallTree) -> dict[str, int]:
    lines = (line.rpartition(" ") for line in as_collapsed(tree).splitlines())
    return {path: int(count) for path, _, count in lines}


def test_of_the_app_only_its_own_functions_are_left():
    tree = tree_of(read(*SAMPLES), Frames.APP)
    assert paths(tree) == {"run": 1, "run;load": 2}


def test_a_run_of_system_functions_folds_into_the_one_that_the_app_called():
    queue, worker = Call("libdispatch.dylib", "_dispatch_worker"), Call("libsystem_pthread.dylib", "start_wqthread")
    outer, inner = Call("CoreML", "predict"), Call("CoreML", "execute")
    back = app("callback", 5)
    sampled = read(
        (1, MAIN, [WORK, inner, outer, RUN, START]),
        (2, MAIN, [back, queue, inner, outer, RUN, START]),
        (3, MAIN, [WORK, inner, queue, worker]),
        (4, MAIN, [queue, worker]),
    )
    folded = {"start;run;predict": 1, "start;run;predict;callback": 1, "execute": 1, "start_wqthread": 1}
    assert paths(tree_of(sampled, Frames.FOLDED)) == folded
    inverted = {"predict;run;start": 1, "callback;predict;run;start": 1, "execute": 1, "start_wqthread": 1}
    assert paths(tree_of(sampled, Frames.FOLDED, invert=True)) == inverted
    nothing_of_the_app = read((1, MAIN, [WORK, inner, START]))
    assert paths(tree_of(nothing_of_the_app, Frames.FOLDED)) == {"start;execute;work": 1}


def test_a_function_of_the_app_has_the_line_that_most_samples_were_in():
    rare, frequent = app("run", 7, 1), app("run", 9, 1)
    sampled = read((1, MAIN, [rare, START]), (2, MAIN, [frequent, START]), (3, MAIN, [WORK, frequent, START]))
    lines = as_text(tree_of(sampled), "3 samples").splitlines()
    assert lines[2:] == ["      3 100%    run (main.swift:9 +1 line)", "      1  33%      work  [Espresso]"]
    shallow, _ = without_deeper(tree_of(sampled), 2)
    assert [shallow.places[at] for at in shallow.place if at >= 0] == ["main.swift:9 +1 line"]


def test_only_chosen_samples_count():
    sampled = read(*SAMPLES)
    assert paths(call_tree(sampled, sampled.samples.time_ns < 2_500_000)) == {
        "start;run;load;work": 1,
        "start;run;load": 1,
    }
    assert call_tree(sampled, np.zeros(5, bool)).total == 0
    assert tree_of(read()).total == 0


def test_functions_without_name_are_places_in_their_library():
    tree = tree_of(read((1, MAIN, [Call("Thing", None, 0x42), Call("Thing", None, 0x50), START])))
    assert paths(tree) == {"start;Thing + 0x50;Thing + 0x42": 1}


def test_text_tells_samples_and_shares_and_leaves_out_chains_in_one_library():
    inner = [Call("Espresso", f"step{number}") for number in range(3)]
    text = as_text(tree_of(read((1, MAIN, [*inner, RUN, START]), (2, MAIN, [START]))), "2 samples")
    assert text.splitlines() == [
        "2 samples",
        "      2 100%  start  [dyld]",
        "      1  50%    run (main.swift:1)",
        "      1  50%      step2  [Espresso]",
        "      1  50%        step0  [Espresso]",
    ]


def test_speedscope_gets_every_sample():
    document = json.loads(as_speedscope(tree_of(read(*SAMPLES)), "run.trace"))
    (profile,) = document["profiles"]
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    assert profile["endValue"] == sum(profile["weights"]) == 4
    assert ["start", "run", "load"] in [[frames[each] for each in sample] for sample in profile["samples"]]


STACKS = st.lists(st.lists(st.sampled_from([RUN, LOAD, WORK, START]), min_size=1, max_size=6), max_size=20)


@given(STACKS, st.booleans())
def test_a_tree_is_its_stacks(stacks, invert):
    sampled = read(*((number, MAIN, stack) for number, stack in enumerate(stacks)))
    tree = tree_of(sampled, invert=invert)
    named = [[frame.function for frame in (stack if invert else stack[::-1])] for stack in stacks]
    assert paths(tree) == Counter(";".join(map(str, stack)) for stack in named)
    prefixes = Counter(tuple(stack[: length + 1]) for stack in named for length in range(len(stack)))
    counted = {}
    for node in range(len(tree.name)):
        path, at = [], node
        while at >= 0:
            path.append(tree.names[tree.name[at]])
            at = int(tree.parent[at])
        counted[tuple(path[::-1])] = int(tree.samples[node])
    assert counted == prefixes


def deep(levels: int) -> CallTree:
    """Two samples that end at the same depth, in stacks of functions in another order, below one that they share."""
    functions = [app(f"f{number}", number + 1) for number in range(levels)]
    return tree_of(read((1, MAIN, [*functions, START]), (2, MAIN, [*reversed(functions), START])))


def test_memory_grows_with_the_tree_and_not_with_its_depth_besides():
    peaks = []
    for levels in (250, 1_000):
        tree = deep(levels)
        assert len(tree.parent) == 2 * levels + 1
        tracemalloc.start()
        inside, self_samples = in_functions(tree)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert set(inside.tolist()) == {2}
        assert sorted(self_samples.tolist())[-2:] == [1, 1]
    # Four times as many nodes; a set of functions for each of them would take sixteen times as much.
    assert peaks[1] < 6 * peaks[0]


def test_what_lies_deeper_counts_in_the_last_level():
    whole = tree_of(read(*SAMPLES))
    tree, shown = without_deeper(whole, 2)
    assert tree.samples.tolist() == whole.samples[: len(tree.parent)].tolist()
    assert int(tree.self_samples.sum()) == 4
    assert (shown[: len(tree.parent)] == np.arange(len(tree.parent))).all()
    assert paths(tree) == {"start": 1, "start;run": 3}
    assert paths(without_deeper(whole, 9)[0]) == paths(whole)


def test_a_text_says_where_it_ends():
    assert DEEPER not in as_text(deep(MAX_LEVELS - 1), "all")
    lines = as_text(deep(MAX_LEVELS), "all").splitlines()
    assert sum(DEEPER in line for line in lines) == 2
    assert len(lines) == 1 + 1 + 2 * (MAX_LEVELS - 1) + 2
