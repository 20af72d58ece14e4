import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.choice import sweep_rest
from support.rows import records_of, values_of
from tracekit.recording.open import open_recording
from tracekit.sorting import equal_groups
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.build import NEEDED_SCHEMAS, build_trace
from tracekit.trace.calls.hardware import INFERRED_LABEL
from tracekit.trace.filter import everything, narrow, only_process

GPU = "start duration channel-name event-label process cmdbuffer-id"


def gpu_label(buffer=0, operation=0, model="net"):
    return f"{model}_main__Op{operation}_MpsGraphInference{'+' * buffer}:Compute Command 0   (app (42)) 0x1"


def engine_label(operation=0, model="net", verb=" Prediction"):
    return f"{model}_main__Op{operation}_AneInference{verb}"


def gpu(make, *rows):
    """GPU rows (start, duration, label, process, command buffer)."""
    return make.table(
        "metal-gpu-intervals", GPU, *((a, b, "Compute", label, who, buffer) for a, b, label, who, buffer in rows)
    )


def built(make, *tables, target=("app", 42)):
    return build_trace(make.recording(make.coreml(), *tables, target=target and make.process(*target)))


def spans(trace):
    return list(zip(trace.activity.start_ns.tolist(), trace.activity.ends_ns.tolist(), strict=True))


def links(trace):
    return values_of(trace.hardware, "prediction")


def test_the_first_command_buffer_begins_a_prediction(make):
    app = make.process("app", 42)
    rows = [(10 * k, 5, gpu_label(k % 3), app, 100 + k) for k in range(6)]
    trace = built(make, gpu(make, *rows))
    assert spans(trace) == [(0, 25), (30, 55)]
    assert links(trace) == [0, 0, 0, 1, 1, 1]
    first, second = records_of(trace.activity)
    assert [first[name] for name in ("lane", "kind", "label", "level")] == [
        *("activity", "prediction", INFERRED_LABEL, "top")
    ]
    assert [first[name] for name in ("attribution", "model", "device", "process", "pid")] == [
        *("inferred", "net", "gpu", "app", 42)
    ]
    assert first["table"] == "metal-gpu-intervals"
    assert (first["row"], second["row"]) == (0, 3)
    unknown = ("instance", "parent_model", "depth", "operation", "prediction")
    assert {row[name] for row in (first, second) for name in unknown} == {None}
    assert trace.inferred
    models = trace.models
    assert (models.name, models.level, models.rows.tolist()) == (("net",), ("top",), [2])
    assert (models.counts["prediction"].tolist(), models.inferred.tolist()) == ([2], [True])


def test_segments_of_one_prediction_each_begin_with_a_first_buffer(make):
    app = make.process("app", 42)
    pieces = [(0, 0), (0, 1), (2, 0), (2, 1), (5, 0), (0, 0), (2, 0), (5, 0), (5, 0)]
    rows = [(10 * k, 5, gpu_label(buffer, op), app, 100 + k) for k, (op, buffer) in enumerate(pieces)]
    assert links(built(make, gpu(make, *rows))) == [0, 0, 0, 0, 0, 1, 1, 1, 2]


def test_a_second_row_of_a_command_buffer_begins_nothing(make):
    app = make.process("app", 42)
    rows = [(0, 5, gpu_label(), app, 7), (10, 5, gpu_label(), app, 7), (20, 5, gpu_label(1), app, 8)]
    assert links(built(make, gpu(make, *rows))) == [0, 0, 0]
    # Without ids nothing tells the two from two predictions.
    rows = [(0, 5, gpu_label(), app, None), (10, 5, gpu_label(), app, None), (20, 5, gpu_label(1), app, 8)]
    assert links(built(make, gpu(make, *rows))) == [0, 1, 1]


def test_what_ran_before_the_first_beginning_is_of_no_prediction(make):
    app = make.process("app", 42)
    rows = [(0, 5, gpu_label(7), app, 1), (10, 5, gpu_label(), app, 2), (0, 5, gpu_label(3, model="other"), app, 3)]
    trace = built(make, gpu(make, *rows))
    assert links(trace) == [None, None, 0]
    assert list(trace.models.name) == ["net"]


def test_what_is_left_of_a_prediction_that_began_before_the_recording_is_none(make):
    # Each prediction runs operations 1 and 4; of the first one only the second half was recorded.
    app = make.process("app", 42)
    engine = make.engine(*((10 * k, 5, engine_label(op)) for k, op in enumerate((4, 1, 4, 1, 4))))
    table = gpu(
        make,
        (0, 5, gpu_label(0, 7, "other"), app, 1),
        (10, 5, gpu_label(1, 7, "other"), app, 2),
        (20, 5, gpu_label(0, 2, "other"), app, 3),
    )
    trace = built(make, engine, table)
    assert spans(trace) == [(10, 25), (20, 25), (30, 45)]
    assert links(trace) == [None, None, 0, None, 0, 1, 2, 2]


def test_rows_of_other_processes_make_no_prediction(make):
    app, other = make.process("app", 42), make.process("other", 7)
    table = gpu(
        make,
        (0, 5, gpu_label(), app, 1),
        (10, 5, gpu_label(), other, 2),
        (20, 5, gpu_label(model="theirs"), other, 3),
        (30, 5, gpu_label(model="theirs"), None, 4),  # named by another process only
        (40, 5, gpu_label(1), None, 5),  # named by the target too
        (50, 5, gpu_label(model="nobodys"), None, 6),
    )
    engine = make.engine((60, 5, engine_label(model="theirs")), (70, 5, engine_label(1)))
    trace = built(make, table, engine)
    assert spans(trace) == [(0, 75), (50, 55)]
    assert links(trace) == [0, None, None, None, 0, 1, None, 0]
    attributions = "exact foreign foreign foreign label label foreign label"
    assert values_of(trace.hardware, "attribution") == attributions.split()


def test_without_a_single_target_each_process_has_its_own_predictions(make):
    one, two = make.process("worker", 1), make.process("worker", 2)
    rows = [
        (0, 5, gpu_label(), one, 1),
        (1, 5, gpu_label(), two, 2),
        (10, 5, gpu_label(1), one, 3),
        (11, 5, gpu_label(1), two, 4),
    ]
    trace = built(make, gpu(make, *rows), target=None)
    assert links(trace) == [0, 1, 0, 1]
    assert values_of(trace.activity, "pid") == [1, 2]
    only = narrow(trace, only_process(everything(trace), trace, 2))
    assert (values_of(only.activity, "pid"), links(only)) == ([2], [0, 0])
    assert only.models.counts["prediction"].tolist() == [1]
    assert "unless their rows name another process" in only.notes[-1]


def test_neural_engine_rows_with_specific_labels_make_predictions(make):
    engine = make.engine(
        (0, 5, engine_label(1)),
        (10, 5, engine_label(4)),
        (20, 5, engine_label(1, verb="")),
        (30, 5, "Neural Engine Prediction"),
        (40, 5, engine_label(1)),
        (50, 5, engine_label(0, verb=" Compile")),
    )
    trace = built(make, engine)
    assert spans(trace) == [(0, 15), (20, 25), (40, 45)]
    assert links(trace) == [0, 0, 1, None, 2, None]
    assert values_of(trace.activity, "device") == ["neural-engine"] * 3
    assert not trace.activity.process.known.any()
    assert values_of(trace.hardware, "attribution") == [*["label"] * 3, "unattributed", *["label"] * 2]


def test_a_prediction_on_two_devices_is_one(make):
    app = make.process("app", 42)
    engine = make.engine((0, 5, engine_label(0)), (100, 5, engine_label(0)))
    table = gpu(
        make, (10, 5, gpu_label(0, 1), app, 1), (20, 5, gpu_label(1, 1), app, 2), (110, 50, gpu_label(0, 1), app, 3)
    )
    trace = built(make, engine, table)
    assert spans(trace) == [(0, 25), (100, 160)]
    assert not trace.activity.device.known.any()


def test_models_that_overlap_are_kept_apart_and_sorted_by_start(make):
    engine = make.engine(
        (0, 50, engine_label(0, "b")),
        (10, 5, engine_label(0, "a")),
        (20, 5, engine_label(1, "b")),
        (30, 5, engine_label(0, "a")),
    )
    trace = built(make, engine)
    assert values_of(trace.activity, "model") == ["b", "a", "a"]
    assert spans(trace) == [(0, 50), (10, 15), (30, 35)]
    assert links(trace) == [0, 1, 0, 2]


def test_a_core_ml_row_of_any_kind_keeps_the_hardware_from_making_predictions(make):
    trace = build_trace(make.recording(make.coreml((0, 5, "Load", "net-1")), make.engine((10, 5, engine_label()))))
    assert not trace.inferred
    assert values_of(trace.activity, "kind") == ["load"]
    assert not trace.models.inferred.any()


@pytest.mark.parametrize("state", ["empty", "missing", "unreadable"])
def test_each_way_of_having_no_core_ml_row_leads_here(make, state):
    engine = make.engine((10, 5, engine_label()))
    tables = {"empty": [make.coreml()], "missing": [], "unreadable": [make.unreadable("coreml-os-signpost", "damaged")]}
    trace = build_trace(make.recording(*tables[state], engine))
    assert trace.inferred
    why = "Core ML's table cannot be read" if state == "unreadable" else "Core ML recorded none"
    assert trace.notes == (
        f"1 prediction inferred from Neural Engine activity ({why}); actual durations are longer than shown.",
    )


def test_a_recording_without_labels_of_models_shows_no_prediction(make):
    app = make.process("app", 42)
    trace = built(make, gpu(make, (0, 5, "Render", app, 1)), make.engine((0, 5, "Neural Engine Prediction")))
    assert not trace.inferred
    assert not len(trace.activity)
    assert trace.notes == ()


@pytest.mark.parametrize("how", ["missing", "emptied"])
def test_the_predictions_of_a_scenario_are_found_without_its_core_ml_table(tmp_path, how):
    app, other = Process("Camera", 412), Process("Game", 77)
    scenario = Scenario(app, duration_ns=4_000_000_000, processes=[other])
    net, engine = Model("Segmenter"), Model("Depth")
    calls = []
    for k in range(15):
        call = scenario.predict(net, 100_000_000 * (k + 1), 60_000_000)
        call.gpu(5_000_000, 10_000_000, operation=0, buffers=4)
        call.neural_engine(16_000_000, 9_000_000, operation=1)
        call.gpu(30_000_000, 20_000_000, operation=2, buffers=3)
        calls.append((call.row.start_ns + 5_000_000, call.row.start_ns + 50_000_000))
        call = scenario.predict(engine, 100_000_000 * (k + 1) + 70_000_000, 20_000_000)
        call.neural_engine(1_000_000, 18_000_000)
        calls.append((call.row.start_ns + 1_000_000, call.row.start_ns + 19_000_000))
        scenario.gpu_work(100_000_000 * (k + 1), 1_000_000, other, "Compute", gpu_label(0, 1, "Segmenter"))
    getattr(scenario, how).add(CORE_ML)
    scenario.missing.add("metal-application-command-buffer-submissions")
    write_export(scenario, tmp_path)
    trace = build_trace(open_recording(tmp_path, schemas=NEEDED_SCHEMAS))
    assert spans(trace) == calls
    assert values_of(trace.activity, "model") == ["Segmenter", "Depth"] * 15
    # 4 + 3 GPU rows, their 2 graphs and 1 Neural Engine row; and 1 of the other model.
    linked = trace.hardware.prediction
    assert np.bincount(linked.values[linked.known]).tolist() == [10, 1] * 15


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "predictions", "rows", "first"),
    sweep_rest(
        # Reference, section 16.3: predictions by GPU labels, start, last end and busy time of the first ones.
        ("hello_coreml", 1, [34], [(5031012750, 5052915708, 2977957)]),
        ("quick_probe", 9, [34, 35, *[34] * 7], [(4090712208, 4150817708, 3210998)]),
        ("fp16_w8_60s_all", 10, None, [(4397573333, 4428716125, 3022963), (4436124791, 4449095708, 3159836)]),
    ),
)
def test_real_recordings_show_the_predictions_of_the_reference(corpus, name, predictions, rows, first):
    trace = build_trace(open_recording(corpus / "bundles" / f"{name}.trace", schemas=NEEDED_SCHEMAS))
    assert trace.coverage_of("Core ML").state == "empty"
    assert trace.models.name[0] == "MambaASR_fp16_w8"
    assert (trace.models.counts["prediction"][0], trace.models.inferred[0]) == (predictions, True)
    hardware = trace.hardware
    on_gpu = hardware.where(hardware.lane.is_any("gpu") & hardware.prediction.known)
    parts = [on_gpu.take(at) for at in equal_groups(on_gpu.prediction.values)]
    sizes = [len(part) for part in parts]
    # One command buffer in each of two recordings has a second row, on the Fragment channel.
    assert sorted(sizes)[: predictions - 1] == [34] * (predictions - 1)
    assert len(on_gpu) == 34 * predictions + (name != "hello_coreml")
    if rows:
        assert sizes == rows
    reach = [(part.start_ns.min(), part.ends_ns.max(), part.duration_ns.sum()) for part in parts]
    assert reach[: len(first)] == first
    graphs = hardware.where(hardware.lane.is_any("mps"))
    # Before them stands the load that call stacks show.
    assert values_of(graphs, "prediction") == list(range(1, predictions + 1))
    assert graphs.attribution.is_any("exact").all()


PIECES = st.lists(
    st.tuples(
        st.sampled_from(["net", "other"]), st.integers(0, 3), st.sampled_from(["engine", "gpu"]), st.integers(0, 3)
    ),
    max_size=15,
)


@given(PIECES)
@settings(deadline=None, max_examples=50)
def test_any_pieces_are_cut_where_the_operation_does_not_rise(make, pieces):
    app = make.process("app", 42)
    engine, on_gpu = [], []
    expected, last, count = [], {}, 0
    least = {}
    for model, operation, device, buffer in pieces:
        if device == "engine" or buffer == 0:
            least[model] = min(operation, least.get(model, operation))
    for index, (model, operation, device, buffer) in enumerate(pieces):
        if device == "engine":
            engine.append((index * 10, 5, engine_label(operation, model)))
        else:
            on_gpu.append((index * 10, 5, gpu_label(buffer, operation, model), app, index + 1))
        if device == "engine" or buffer == 0:
            before = last.get(model)
            if before is None and operation > least[model]:
                last[model] = (operation, None)  # left over from before the recording
            elif before is None or operation <= before[0]:
                last[model], count = (operation, count), count + 1
            else:
                last[model] = (operation, before[1])
        expected.append(last[model][1] if model in last else None)
    trace = built(make, make.engine(*engine), gpu(make, *on_gpu))
    assert links(trace) == expected
    assert len(trace.activity) == count


def test_many_rows_make_many_predictions(make):
    app, count = make.process("app", 42), 3000
    rows = [(k * 10, 5, gpu_label(k % 10), app, k + 1) for k in range(count * 10)]
    trace = built(make, gpu(make, *rows))
    assert np.array_equal(trace.activity.start_ns, np.arange(count) * 100)
    assert links(trace) == [k // 10 for k in range(count * 10)]
