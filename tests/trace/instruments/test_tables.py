"""Tables beside the lanes, as both readers give them of a recording that was described."""

import numpy as np
import pytest

from support.analyses import kept_trace
from support.handover import trace_of
from tracekit.analysis.statistics import top_calls
from tracekit.intervals import Intervals
from tracekit.lanes.categories import Category
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.notebook.recordings import LoadedTrace
from tracekit.recording.table import TableState
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.rows import GpuStateRow
from tracekit.trace.build import open_trace
from tracekit.trace.context import of_target
from tracekit.trace.events import Kind
from tracekit.trace.instruments.tables import GpuStates, ShaderCompilations

APP, OTHER = Process("Camera", 412), Process("Helper (GPU)", 77)
MS = 1_000_000
SHADERS = "graphics-compiler-activity-intervals"


@pytest.fixture(params=["run.trace", "exported"])
def opened(request, tmp_path):
    """Writes a scenario in one of its forms, and reads it."""

    def read(scenario):
        (write_bundle if request.param == "run.trace" else write_export)(scenario, tmp_path / request.param)
        return open_trace(tmp_path / request.param)

    return read


def test_gpu_states_count_the_channels_that_worked_at_once(opened):
    states = [GpuStateRow(0, 4 * MS, 1), GpuStateRow(4 * MS, MS, 0), GpuStateRow(5 * MS, 2 * MS, 3)]
    rows = opened(Scenario(APP, duration_ns=9 * MS, gpu_states=states)).table(GpuStates)
    assert [rows.channels.item(at) for at in range(len(rows))] == [1, 0, 3]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["hello_coreml", "quick_probe", "fp16_w8_60s_all"])
def test_real_states_are_active_where_channels_worked(corpus, name):
    rows = kept_trace(corpus / "bundles" / f"{name}.trace").table(GpuStates)
    channels = rows.channels.filled()
    # The reference saw 1 to 3 at once.
    assert set(np.unique(channels)) == {0, 1, 2, 3}
    assert np.array_equal(channels > 0, rows.state.is_any("Active"))


def shaders(**options):
    """A first prediction in which shaders are compiled, and others of another process at the same time."""
    scenario = Scenario(APP, duration_ns=900 * MS, processes=[OTHER], **options)
    prediction = scenario.predict(Model("Segmenter"), 100 * MS, 200 * MS)
    prediction.shaders(40 * MS, 9 * MS, 3)
    scenario.compile_shader(41 * MS, 5 * MS, "Vertex", OTHER)
    scenario.compile_shader(141 * MS, MS, "Fragment", OTHER)
    return scenario


def test_shader_compilations_are_those_of_every_process(opened):
    trace = opened(shaders())
    rows = trace.table(ShaderCompilations)
    columns = (rows.start_ns.tolist(), rows.duration_ns.tolist(), rows.pid.values.tolist(), rows.kind.as_objects())
    assert [*zip(*columns, strict=True)] == [
        (41 * MS, 5 * MS, 77, "Vertex"),
        (140 * MS, 3 * MS, 412, "Compute"),
        (141 * MS, MS, 77, "Fragment"),
        (143 * MS, 3 * MS, 412, "Compute"),
        (146 * MS, 3 * MS, 412, "Compute"),
    ]
    assert rows.label.item(0) == "Compile Vertex shader (Helper (GPU) (77))"
    assert (rows.process.item(0), rows.process.item(1)) == ("Helper (GPU)", "Camera")
    assert rows.compiler.values == ("Metal Shader Compiler",)
    assert trace.coverage_of("Shader Compiler").state is TableState.ROWS


@pytest.mark.parametrize(
    ("options", "state", "rows", "conclusion"),
    [
        ({"missing": {SHADERS}}, TableState.MISSING, None, "Shader Compiler was not recorded."),
        ({"emptied": {SHADERS}}, TableState.EMPTY, 0, "No compilation of a shader was recorded."),
    ],
)
def test_no_shader_compilation_is_told_apart_from_none_recorded(options, state, rows, conclusion):
    trace = trace_of(shaders(**options))
    known, found = trace.coverage_of("Shader Compiler"), trace.table(ShaderCompilations)
    assert (known.state, known.rows, known.conclusion) == (state, rows, conclusion)
    assert (None if found is None else len(found)) == rows
    frame = LoadedTrace(trace).shader_compilations
    assert (None if frame is None else len(frame)) == rows


def test_shader_compilations_have_a_lane_on_which_those_of_others_look_otherwise():
    lanes = {lane.id: lane for lane in lanes_of(trace_of(shaders()), Grouping.LANES)}
    events = lanes["shader_compilations"].events
    other, own = Category.FOREIGN, Category.COMPILE
    assert events.categories.tolist() == [other, own, other, own, own]
    assert "shader_compilations" not in {
        lane.id for lane in lanes_of(trace_of(shaders(emptied={SHADERS})), Grouping.LANES)
    }


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "count", "total_ns", "first"),
    [
        ("quick_probe", 54, 10_546_961, (4_050_923_125, 5_452_500)),
        ("hello_coreml", 129, 2_182_496, (5_008_764_333, 1_135_042)),
        ("fp16_w8_60s_all", 46, 2_505_542, (4_368_802_333, 1_070_042)),
    ],
)
def test_real_shaders_of_the_target_are_compiled_in_the_first_prediction(corpus, name, count, total_ns, first):
    trace = kept_trace(corpus / "bundles" / f"{name}.trace")
    rows = trace.table(ShaderCompilations)
    # Counts, sum and first row as the reference gives them.
    assert len(rows) == count
    assert rows.kind.known.all()
    own = rows.where(of_target(rows.pid, trace.run.target.process))
    assert (len(own), int(own.duration_ns.sum())) == (46, total_ns)
    assert (int(own.start_ns[0]), int(own.duration_ns[0])) == first
    assert own.kind.is_any("Compute").all()
    first_call = top_calls(trace, Kind.PREDICTION).take(slice(0, 1))
    assert Intervals.from_rows(own).covered_within(Intervals.from_rows(first_call)).tolist() == [total_ns]
