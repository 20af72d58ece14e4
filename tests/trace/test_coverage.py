import pytest

from support.handover import trace_of
from tracekit.recording import open_recording
from tracekit.recording.table import TableState
from tracekit.testing import Model, Process, Scenario, contents, write_bundle
from tracekit.testing.machines import Thread
from tracekit.testing.stacks import PREDICT, WORKER, SampleRow, Stack, app_function
from tracekit.trace.build import build_trace
from tracekit.trace.instruments.catalogue import INSTRUMENTS

MS = 1_000_000
GPU_LABEL = "net_main__Op0_MpsGraphInference:Compute Command 0   (app (42)) 0x1"


def covered(make, *tables, name="Core ML", **about):
    return build_trace(make.recording(*tables, **about)).coverage_of(name)


def gpu(make, label):
    return make.table("metal-gpu-intervals", "start duration event-label", (0, 1, label))


def mps(make):
    return make.table("mps-hw-intervals", "start duration event-label", (0, 1, "MPSGraph:0x1 (CommandBuffer: 0x2)"))


def test_every_instrument_is_covered_by_every_recording(make):
    trace = build_trace(make.recording())
    assert [entry.instrument for entry in trace.coverage] == [entry.name for entry in INSTRUMENTS]
    assert {entry.state for entry in trace.coverage} == {TableState.MISSING}
    assert {entry.rows for entry in trace.coverage} == {None}
    with pytest.raises(KeyError):
        trace.coverage_of("Allocations")


def test_conclusions_and_advice_are_sentences(make):
    recordings = [
        make.recording(),
        make.recording(toc=False),
        make.recording(*(make.table(schema, "start") for entry in INSTRUMENTS for schema in entry.schemas)),
        make.recording(*(make.unreadable(schema, "gone") for entry in INSTRUMENTS for schema in entry.schemas)),
        make.recording(make.coreml(), make.engine((0, 1, "Neural Engine Load")), gpu(make, GPU_LABEL), mps(make)),
    ]
    for entry in (entry for recording in recordings for entry in build_trace(recording).coverage):
        assert entry.conclusion
        for sentence in filter(None, (entry.conclusion, entry.advice)):
            assert sentence[0].isupper() or sentence.startswith("`"), sentence
            assert sentence.endswith("."), sentence
            assert sentence.count(". ") == 0, sentence
            assert not sentence.endswith(".."), sentence
        assert "{" not in entry.conclusion + entry.advice


def test_a_missing_table_was_not_recorded_where_the_table_of_contents_says_so(make):
    entry = covered(make)
    assert (entry.conclusion, entry.advice) == ("Core ML was not recorded.", "Record with the Core ML template.")
    entry = covered(make, toc=False)
    assert entry.state is TableState.MISSING
    assert "unknown" in entry.conclusion
    assert "not recorded" not in entry.conclusion
    assert '/trace-toc/run[@number="1"]/data/table[@schema="coreml-os-signpost"]' in entry.advice
    assert "--toc" in entry.advice


def test_a_listed_table_that_was_not_exported_is_unreadable_and_has_a_command(make):
    table = make.unreadable("ane-hw-intervals", "its rows were not exported; export it")
    entry = covered(make, table, name="Neural Engine")
    assert (entry.state, entry.rows, entry.tables) == (TableState.UNREADABLE, None, ("ane-hw-intervals",))
    assert entry.conclusion == "Neural Engine was recorded, but cannot be read: its rows were not exported."
    assert 'table[@schema="ane-hw-intervals"]' in entry.advice


def test_rows_of_one_table_are_rows_but_one_empty_table_does_not_make_all_of_them_empty(make):
    gone = make.unreadable("ane-hw-intervals", "gone")
    entry = covered(make, gone, make.engine(schema="ane-hw-intervals-internal"), name="Neural Engine")
    assert (entry.state, entry.rows) == (TableState.UNREADABLE, None)
    assert "recorded no events" not in entry.conclusion
    entry = covered(
        make, gone, make.engine((0, 1, "x"), schema="ane-hw-intervals-internal"), make.engine(), name="Neural Engine"
    )
    assert (entry.state, entry.rows) == (TableState.ROWS, 1)


def test_tables_that_cannot_be_had_are_told_beside_those_that_can(make):
    tables = [make.table("os-signpost", "time event-type name"), make.unreadable("os-signpost", "not exported")]
    entry = covered(make, *tables, name="Signposts")
    assert (entry.state, entry.rows) == (TableState.UNREADABLE, None)
    assert entry.conclusion == "1 of 2 tables of Signposts cannot be read, the others have no rows: not exported."
    assert 'table[@schema="os-signpost"]' in entry.advice


def test_an_empty_core_ml_table_is_not_no_use(make):
    entry = covered(make, make.coreml())
    assert (entry.state, entry.rows) == (TableState.EMPTY, 0)
    assert "Core ML may still have been used" in entry.conclusion
    assert "get-task-allow" in entry.conclusion
    assert "likely" in entry.conclusion
    for cause in ("started after the work", "another process", "log archive is damaged"):
        assert cause in entry.conclusion
    assert "get-task-allow" in entry.advice
    # An iOS app that is signed by hand could not be installed.
    assert "codesign" not in entry.advice


def test_an_empty_core_ml_table_beside_model_work_is_explained(make):
    for sign, words in (
        (make.engine((0, 1, "Neural Engine Prediction")), "the Neural Engine was active (1 row)"),
        (make.engine((0, 1, "N_main__Op0_X Compile")), "the Neural Engine prepared models (1 row)"),
        (gpu(make, GPU_LABEL), "the GPU ran a Core ML model (1 row)"),
        (mps(make), "MPS graphs were sent to the GPU (1 row)"),
    ):
        entry = covered(make, make.coreml(), sign)
        assert words in entry.conclusion
        assert "get-task-allow" in entry.conclusion
        assert "get-task-allow" in entry.advice
    # Drawing is no sign of a model, and a table with rows is not explained away.
    entry = covered(make, make.coreml(), gpu(make, "Render Command 0   (WindowServer (502)) 0x1"))
    assert "although" not in entry.conclusion
    entry = covered(make, make.coreml((0, 1, "Load", "n")), make.engine((0, 1, "Neural Engine Load")))
    assert (entry.state, entry.rows, entry.advice) == (TableState.ROWS, 1, "")
    assert "get-task-allow" not in entry.conclusion


def test_neural_engine_rows_without_core_ml_rows_cannot_be_judged(make):
    rows = make.engine((0, 1, "Neural Engine Load"))
    for judged, tables in ((False, [make.coreml()]), (False, []), (True, [make.coreml((0, 1, "Load", "n"))])):
        entry = covered(make, rows, *tables, name="Neural Engine")
        assert ("it is unknown whether other processes" in entry.conclusion) != judged
    empty = covered(make, make.engine(), name="Neural Engine")
    assert empty.conclusion == "The Neural Engine instrument recorded no events."


def test_shares_of_attribution_add_up_over_the_instruments_own_rows(make):
    app, other = make.process("app", 42), make.process("WindowServer", 1)
    table = make.table(
        "metal-gpu-intervals",
        "start duration event-label process",
        (0, 1, GPU_LABEL, app),
        (1, 1, "Render", other),
        (2, 1, "Render", other),
        (3, 1, "Render", None),
    )
    trace = build_trace(make.recording(table, make.engine((0, 1, "Neural Engine Load")), target=app))
    assert trace.coverage_of("GPU").shares == {"exact": 0.25, "foreign": 0.5, "unattributed": 0.25}
    assert trace.coverage_of("Neural Engine").shares == {"unattributed": 1.0}
    assert trace.coverage_of("MPS").shares == {}


def test_damage_that_shows_only_when_rows_are_read_makes_an_instrument_unreadable(tmp_path):
    scenario = Scenario(Process("App", 42), duration_ns=1_000_000_000)
    scenario.predict(Model("Net"), 0, 1_000)
    bundle = write_bundle(scenario, tmp_path / "run.trace")
    for store in bundle.rglob("bulkstore"):
        content = bytearray(store.read_bytes())
        half = len(content) // 2
        content[half:] = bytes(byte ^ 0x5A for byte in content[half:])
        store.write_bytes(content)
    recording = open_recording(bundle)
    assert {entry.state for entry in recording.run.tables if entry.schema == "coreml-os-signpost"} == {TableState.ROWS}
    trace = build_trace(recording)
    entry = trace.coverage_of("Core ML")
    assert (entry.state, entry.rows) == (TableState.UNREADABLE, None)
    assert (entry.conclusion, entry.advice) == (
        "Core ML was recorded but is cut off.",
        "Copy the bundle again from where it was recorded.",
    )


def test_a_table_of_a_bundle_is_exported_under_the_name_of_its_file(tmp_path):
    scenario = Scenario(Process("App", 42), duration_ns=1_000_000_000)
    scenario.predict(Model("Net"), 0, 1_000)
    bundle = write_bundle(scenario, tmp_path / "my run.trace", rows_per_block=64)
    for store in bundle.rglob("bulkstore"):
        store.write_bytes(b"\0" * 5000)
    entry = build_trace(open_recording(bundle)).coverage_of("Core ML")
    assert entry.state is TableState.UNREADABLE
    assert "xctrace export --input 'my run.trace' " in entry.advice


@pytest.mark.parametrize(
    ("attributes", "said", "noted"),
    [
        ({}, "Call stacks of running threads.", False),
        ({"record-waiting-threads": "0", "high-frequency-sampling": "NO"}, "Call stacks of running threads.", True),
        ({"record-waiting-threads": "1"}, "Call stacks of running threads, of waiting ones too.", False),
        ({"high-frequency-sampling": "1"}, "Call stacks of running threads, at high frequency.", False),
    ],
)
def test_how_call_stacks_were_recorded_is_read_from_their_table(monkeypatch, attributes, said, noted):
    scenario = Scenario(Process("App", 7), 300 * MS, emptied={"coreml-os-signpost"})
    stack = Stack((*PREDICT, app_function("run", 12), WORKER))
    scenario.samples = [SampleRow(time * MS, Thread(9, scenario.target), stack) for time in range(100, 140)]
    given = " | ".join(["time-profile | target-pid=SINGLE", *(f"{name}={text}" for name, text in attributes.items())])
    monkeypatch.setattr(contents, "_TEMPLATE", f"{{neural_engine}}; coreml-os-signpost; {given}")
    trace = trace_of(scenario)
    assert trace.coverage_of("Call Stacks").conclusion == said
    assert any("Samples of waiting threads" in note for note in trace.notes) == noted


@pytest.mark.parametrize(
    ("codes", "rows", "said"),
    [
        ('"0x06,0x1b" "0x2b,0x24"', 3, True),
        ('"0x06,0x1b" "0x2b,0x24"', 0, False),
        # Tables of other codes hold many rows of those.
        ('"0x85,0x92" "0x06,0x1b" "0x2b,0x24"', 3, False),
    ],
)
def test_kernel_events_of_the_engine_say_that_it_may_have_worked(make, codes, rows, said):
    kernel = make.table("kdebug", "time", *((number,) for number in range(rows)), codes=codes)
    entry = covered(make, make.table("ane-hw-intervals", "start"), kernel, name="Neural Engine")
    assert entry.state is TableState.EMPTY
    assert ("the kernel logged 3 events of its driver, so it may have worked (unverified)" in entry.conclusion) == said
