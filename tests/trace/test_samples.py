"""Samples and stacks of a trace: read when asked for; what is unknown is not confused with what is absent."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_trace
from support.call_stacks import MAIN, START, WORKER, WQ, Call, Held, app, call_stacks, core_ml, source
from support.choice import sweep_rest
from support.rows import records_of
from tracekit.detectors.foreign import copy_of
from tracekit.recording.table import Process, Thread
from tracekit.trace.samples import Samples, SampleSource

OVERLAY = app("MLModel.init", 0, 0x99, "_$sSo7MLModelC10contentsOf13configurationABSo0A13ConfigurationC_tKcfC")
LOAD = core_ml("+[MLModel modelWithContentsOfURL:configuration:error:]")


def samples_of(*samples: tuple[int, Thread, list[Call]]) -> Samples:
    stacks = source(*samples).read()
    assert stacks is not None
    return stacks


def test_frames_stand_innermost_first_and_are_kept_once():
    stack = [LOAD, OVERLAY, app("run", 12), START]
    read = samples_of((1, MAIN, stack), (2, MAIN, []), (3, MAIN, stack))
    assert read.samples.stack.filled().tolist() == [0, -1, 0]
    assert read.samples.weight_ns.filled().sum() == 3_000_000
    assert read.stacks.depth.tolist() == [0, 1, 2, 3]
    assert read.stacks.function.as_objects().tolist()[1:] == ["MLModel.init", "run", "start"]
    assert read.stacks.owner.as_objects().tolist() == ["system", "app", "app", "system"]
    assert read.stacks.overlay.tolist() == [False, True, False, False]
    assert read.stacks.line.known.tolist() == [False, False, True, False]
    assert read.starts.tolist() == [0, 4]


def test_the_main_thread_is_told_by_where_its_stacks_begin():
    unnamed = Thread("0x9 (App, pid: 7)", 9, MAIN.process)
    read = samples_of((1, unnamed, [app("run", 1), START]), (2, WORKER, [app("work", 2), WQ]), (3, unnamed, []))
    assert [read.samples.main_thread.item(at) for at in range(3)] == [True, False, True]


def test_where_nothing_tells_the_main_thread_it_is_not_known():
    other = Thread("0x20 (Other, pid: 8)", 32, Process("Other", 8))
    read = samples_of((1, MAIN, [Call("App")]), (2, other, [Call("Other")]))
    assert read.samples.main_thread.known.tolist() == [True, False]


def test_functions_that_are_not_known_are_null():
    read = samples_of((1, MAIN, [Call("Thing", None, 0x42, is_system=None)]))
    rows = read.stacks
    assert rows.image.as_objects().tolist() == ["Thing"]
    assert rows.offset.filled().tolist() == [0x42]
    assert not any(each.known.any() for each in (rows.function, rows.file, rows.line, rows.owner))


def test_the_better_table_is_read_and_damage_is_told():
    tables = {"time-profile": [call_stacks([(1, MAIN, [START])])], "time-sample": [call_stacks([])]}
    samples = SampleSource(Held(tables)).read()
    assert samples is not None
    assert len(samples.samples) == 1
    cut = SampleSource(Held(tables, unreadable="time-profile")).read()
    assert cut is not None
    assert len(cut.samples) == 0
    assert cut.notes == ("call stacks of the table time-profile: its rows are cut off",)
    assert SampleSource(Held({})).read() is None
    # Where no table can be read, there are rows all the same, with the columns of others.
    lost = SampleSource(Held({"time-profile": tables["time-profile"]}, unreadable="time-profile")).read()
    assert lost is not None
    for none, some in ((lost.samples, samples.samples), (lost.stacks, samples.stacks)):
        assert not len(none)
        assert [(name, type(cells)) for name, cells in none.columns().items()] == [
            (name, type(cells)) for name, cells in some.columns().items()
        ]


def test_a_trace_reads_its_samples_once_and_only_when_asked(trace_with):
    calls = []

    class Counted(Held):
        def call_stacks(self, schema: str, **_: str) -> list:
            calls.append(schema)
            return super().call_stacks(schema)

    trace = trace_with(SampleSource(Counted({"time-profile": [call_stacks([(1, MAIN, [START])])]})))
    assert calls == []
    assert len(trace.samples) == len(trace.stacks) == 1
    assert trace.samples is trace.samples
    assert calls == ["time-profile"]


@pytest.fixture
def trace_with(make):
    from tracekit.trace.build import build_trace

    trace = build_trace(make.recording())
    return lambda given: replace(trace, sample_source=given)


def test_a_copy_for_other_code_has_samples_of_its_own_and_another_process_none(trace_with):
    trace = trace_with(source((1, MAIN, [START])))
    copied = copy_of(trace)
    assert records_of(copied.samples) == records_of(trace.samples)
    assert copied.samples is not trace.samples
    assert pickle.loads(pickle.dumps(trace)).samples is None  # noqa: S301
    assert copy.deepcopy(trace).samples is None


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "samples", "of_main", "with_stack"),
    sweep_rest(("hello_coreml", 389, 343, 356), ("quick_probe", 3689, 3614, 3649), ("fp16_w8_60s_all", 855, 745, 806)),
)
def test_public_recordings(corpus, name, samples, of_main, with_stack):
    trace = kept_trace(corpus / f"bundles/{name}.trace")
    rows = trace.samples
    assert len(rows) == samples
    assert int(rows.main_thread.values.sum()) == of_main
    assert int(rows.stack.known.sum()) == with_stack
    assert (np.diff(rows.time_ns) >= 0).all()
    assert set(rows.weight_ns.filled().tolist()) == {1_000_000}
    own = trace.stacks.where(trace.stacks.owner.is_any("app"))
    assert set(own.image.held()) == {trace.run.target.process.name}
    # Nothing of where the app lies on its Mac.
    assert not any("/" in text for text in (*trace.stacks.file.values, *trace.stacks.image.values))
