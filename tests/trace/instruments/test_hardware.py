import pytest

from support.rows import records_of, values_of
from tracekit.trace.build import build_trace

GPU = "start duration channel-name frame-number event-depth event-label state process"
LABEL = "net_main__Op0_MpsGraphInference:Compute Command 0   (app (42)) 0x1"


def gpu(make, *rows):
    """GPU rows (start, label, state, process)."""
    full = [(start, 5, "Compute", None, 0, label, state, process) for start, label, state, process in rows]
    return make.table("metal-gpu-intervals", GPU, *full)


def hardware(make, *tables, target=None):
    return build_trace(make.recording(*tables, target=target)).hardware


def test_neural_engine_rows_have_kind_model_and_no_process(make):
    rows = hardware(
        make,
        make.engine(
            (0, 5, "Neural Engine Prediction"),
            (10, 5, "net_main__Op0_AneInference Prediction"),
            (20, 5, "Neural Engine Load: prepare and cache"),
            (30, 5, "net_main__Op0_AneInference Compile"),
            (40, 5, None),
        ),
    )
    assert values_of(rows, "kind") == [
        "neural_engine_exec",
        "neural_engine_exec",
        "neural_engine_load",
        "neural_engine_compile",
        "other",
    ]
    assert values_of(rows, "model") == [None, "net", None, "net", None]
    assert set(values_of(rows, "lane")) == {"neural-engine"}
    assert set(values_of(rows, "device")) == {"neural-engine"}
    assert not rows.process.known.any()
    assert not rows.pid.known.any()
    assert values_of(rows, "attribution") == ["unattributed", "label", "unattributed", "label", "unattributed"]


def test_identical_neural_engine_rows_are_one_and_overlapping_ones_are_not(make):
    table = make.engine((0, 5, "Neural Engine Load"), (0, 5, "Neural Engine Load"), (3, 5, "Neural Engine Load"))
    trace = build_trace(make.recording(table))
    assert trace.hardware.start_ns.tolist() == [0, 3]
    assert trace.notes[0] == "Ignored 1 of 3 rows of ane-hw-intervals: identical to another row."


@pytest.mark.parametrize("schema", ["ane-hw-intervals", "ane-hw-intervals-internal"])
def test_both_names_of_the_neural_engine_table_are_read_and_labels_matched_with_names_of_core_ml(make, schema):
    coreml = make.coreml((0, 100, "Prediction", "my-net-1"), (0, 100, "Prediction", "other-1"))
    engine = make.engine((0, 5, "my_net_main__Op0_AneInference Prediction"), schema=schema)
    rows = hardware(make, coreml, engine)
    assert (values_of(rows, "table"), values_of(rows, "model")) == ([schema], ["my-net"])


def test_gpu_rows_keep_their_process_and_only_active_ones_count(make):
    app = make.process("app", 42)
    rows = hardware(make, gpu(make, (0, LABEL, "Active", app), (10, LABEL, "Idle", app), (20, LABEL, None, app)))
    first, second = records_of(rows)
    assert (first["start_ns"], second["start_ns"]) == (0, 20)
    assert (first["process"], first["pid"], first["model"]) == ("app", 42, "net")
    assert (first["kind"], first["lane"], first["depth"]) == ("gpu_exec", "gpu", 0)


@pytest.mark.parametrize(
    ("label", "process", "target", "expected"),
    [
        (LABEL, ("app", 42), ("app", 42), "exact"),
        ("Render", ("app", 42), ("app", 42), "unattributed"),
        ("Render", ("WindowServer", 1), ("app", 42), "foreign"),
        # Whose process it is counts before what its label says.
        (LABEL, ("another", 7), ("app", 42), "foreign"),
        (LABEL, ("app", 43), ("app", 42), "foreign"),
        (LABEL, ("renamed", 42), ("app", 42), "exact"),
        (LABEL, None, ("app", 42), "label"),
        ("Render", ("app", None), ("app", 42), "unattributed"),
        ("Render", ("WindowServer", None), ("app", 42), "foreign"),
        ("Render", None, ("app", 42), "unattributed"),
        (LABEL, None, None, "label"),
        # Without a single target no process is foreign.
        ("Render", ("WindowServer", 1), None, "unattributed"),
    ],
)
def test_whose_a_row_is_follows_from_its_process_then_its_label(make, label, process, target, expected):
    table = gpu(make, (0, label, "Active", process and make.process(*process)))
    rows = hardware(make, table, target=target and make.process(*target))
    assert values_of(rows, "attribution") == [expected]


def test_mps_rows_count_graphs_and_name_no_model(make):
    row = (4397573333, 259167, "MPSGraph", 0, "MPSGraph:0x10f504470 (CommandBuffer: 0xaa130cc9)", "Active", None)
    table = make.table("mps-hw-intervals", "start duration channel-name event-depth event-label state process", row)
    (row,) = records_of(hardware(make, table))
    assert (row["lane"], row["kind"], row["device"], row["depth"]) == ("mps", "mps_dispatch", "gpu", 0)
    assert (row["start_ns"], row["duration_ns"]) == (4397573333, 259167)
    assert (row["model"], row["process"], row["pid"]) == (None, None, None)


def test_tables_cut_down_to_times_still_bind(make):
    rows = hardware(make, make.table("metal-gpu-intervals", "start duration", (0, 1)))
    assert values_of(rows, "kind") == ["gpu_exec"]


def test_rows_of_all_instruments_are_one_sorted_frame(make):
    mps = make.table("mps-hw-intervals", "start duration event-label", (5, 1, "MPSGraph:0x1 (CommandBuffer: 0x2)"))
    rows = hardware(
        make, make.engine((9, 1, "Neural Engine Load"), (1, 1, "x")), gpu(make, (3, "y", "Active", None)), mps
    )
    assert values_of(rows, "lane") == ["neural-engine", "gpu", "mps", "neural-engine"]
    assert rows.id.tolist() == [0, 1, 2, 3]
