"""What threads encode for the GPU, on scenarios in both forms and on real recordings."""

import numpy as np
import pytest

from support.analyses import kept_trace
from support.handover import trace_of
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.recording.table import TableState
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.machines import Thread
from tracekit.testing.metal import encode_graphs
from tracekit.testing.rows import CommandBufferRow, GraphRow
from tracekit.trace.build import open_trace
from tracekit.trace.instruments.metal import ENCODES_GRAPH, MetalEncoders, MetalIntervals, SubmittedBuffers

APP, OTHER = Process("Camera", 412), Process("Helper (GPU)", 77)
MS, US = 1_000_000, 1_000
SUBMISSIONS = "metal-application-command-buffer-submissions"


def encoded(**options):
    """Two predictions of two threads, each with an operation in three command buffers; another process encodes too."""
    scenario = Scenario(APP, duration_ns=900 * MS, processes=[OTHER], **options)
    model = Model("Segmenter")
    for start in (100, 200):
        scenario.predict(model, start * MS, 20 * MS).gpu(3 * MS, 12 * MS, buffers=3)
    encode_graphs(scenario, {1: Thread(9, APP)})
    helper = Thread(8, OTHER)
    scenario.command_buffers.append(CommandBufferRow(50 * MS, MS, "Command Buffer 0", 5, 6, MS, 52 * MS, helper))
    scenario.graphs.append(GraphRow(50 * MS, MS, 1, helper))
    return scenario


@pytest.mark.parametrize("form", ["run.trace", "exported"])
def test_rows_are_those_of_the_target_with_their_thread(tmp_path, form):
    write = write_bundle if form == "run.trace" else write_export
    scenario = encoded()
    trace = open_trace(write(scenario, tmp_path / form))
    buffers, encoders = trace.table(SubmittedBuffers), trace.table(MetalEncoders)
    names = [f"Segmenter_main__Op0_MpsGraphInference{'+' * k}" for k in range(3)] * 2
    assert [*buffers.label.as_objects()] == [*encoders.label.as_objects()] == names
    assert buffers.tid.values.tolist() == encoders.tid.values.tolist() == [0x1200 + 412 * 8] * 3 + [9] * 3
    work = sorted(scenario.gpu, key=lambda row: row.start_ns)
    # Each buffer is committed before the GPU begins, by the latency that the GPU's own row has.
    assert buffers.committed_ns.values.tolist() == [row.start_ns - row.latency_ns for row in work]
    assert buffers.completed_ns.values.tolist() == [row.end_ns + 92 * US for row in work]
    assert buffers.buffer_id.values.tolist() == [row.command_buffer_id for row in work]
    assert encoders.encoder_id.values.tolist() == [row.encoder_id for row in work]
    assert (buffers.encoder_ns.values == encoders.duration_ns).all()
    intervals = trace.table(MetalIntervals)
    graphs = intervals.where(intervals.event_type.is_any(ENCODES_GRAPH))
    assert (len(intervals), len(graphs), graphs.buffer_id.known.any()) == (2 + 6 + 6, 2, False)
    assert graphs.tid.values.tolist() == [0x1200 + 412 * 8, 9]
    assert graphs.label.item(0) == "Encode MPSGraph:0x10f504470"
    inside = (buffers.start_ns[::3] <= graphs.start_ns) & (graphs.ends(0) <= buffers.committed_ns.values[2::3])
    assert inside.all()
    assert trace.coverage_of("Metal Application").state is TableState.ROWS


def test_a_buffer_whose_completion_is_not_recorded_has_none():
    buffers = trace_of(encoded(emptied={"metal-command-buffer-completed"})).table(SubmittedBuffers)
    assert len(buffers) == 6
    assert not buffers.completed_ns.known.any()
    assert (buffers.ends(0) == buffers.committed_ns.values).all()


@pytest.mark.parametrize(("option", "rows"), [("missing", None), ("emptied", 0)])
def test_nothing_encoded_is_told_apart_from_nothing_recorded(option, rows):
    found = trace_of(encoded(**{option: {SUBMISSIONS}})).table(SubmittedBuffers)
    assert (None if found is None else len(found)) == rows


def test_encoding_and_waiting_for_the_gpu_are_on_a_lane():
    scenario = encoded()
    events = {lane.id: lane.events for lane in lanes_of(trace_of(scenario), Grouping.LANES)}["command_buffers"]
    own = [row for row in scenario.command_buffers if row.thread.process == APP]
    shown = zip(events.starts.tolist(), events.ends.tolist(), strict=True)
    assert sorted(shown) == sorted((row.start_ns, row.completed_ns) for row in own)
    without = lanes_of(trace_of(Scenario(APP, duration_ns=MS)), Grouping.LANES)
    assert "command_buffers" not in {lane.id for lane in without}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "graphs", "graphs_ns", "first", "buffers", "buffers_ns", "encoders_ns"),
    [
        ("quick_probe", 9, 309_107_668, (3_948_233_083, 201_623_250), 306, 311_091_413, 200_093_819),
        ("hello_coreml", 1, 136_527_958, (4_915_946_458, 136_527_958), 34, 136_773_417, 43_410_918),
        ("fp16_w8_60s_all", 10, 293_402_250, (4_268_882_666, 150_746_417), 340, 296_141_638, 176_807_789),
    ],
)
def test_real_rows_are_those_of_the_reference(corpus, name, graphs, graphs_ns, first, buffers, buffers_ns, encoders_ns):
    trace = kept_trace(corpus / "bundles" / f"{name}.trace")
    intervals, encoders = trace.table(MetalIntervals), trace.table(MetalEncoders)
    encoding = intervals.where(intervals.event_type.is_any(ENCODES_GRAPH))
    assert (len(encoding), int(encoding.duration_ns.sum())) == (graphs, graphs_ns)
    assert (int(encoding.start_ns[0]), int(encoding.duration_ns[0])) == first
    assert len(intervals) == graphs + 2 * buffers
    submitted = trace.table(SubmittedBuffers)
    committed = submitted.committed_ns.values
    assert (len(submitted), int((committed - submitted.start_ns).sum())) == (buffers, buffers_ns)
    assert submitted.completed_ns.known.all()
    assert (submitted.completed_ns.values > committed).all()
    assert (submitted.ends(0) == submitted.completed_ns.values).all()
    assert (len(encoders), int(encoders.duration_ns.sum())) == (buffers, encoders_ns)
    assert int(submitted.encoder_ns.values.sum()) == encoders_ns
    # Thirty-four labels, in turn.
    pluses = [label.count("+") for label in submitted.label.as_objects()]
    assert pluses == [*range(34)] * graphs
    # The encoder of a buffer has the next id; depths of buffers go in turn.
    assert (encoders.encoder_id.values == encoders.buffer_id.values + 1).all()
    depths = intervals.depth.values[intervals.buffer_id.known & ~intervals.encoder_id.known]
    assert set(np.unique(depths)) == {14, 24}
    assert set(intervals.pid.values) == {trace.run.target.process.pid}
