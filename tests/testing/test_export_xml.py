from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lxml import etree

from support.context_rows import add_context
from support.export_nodes import read_export
from tracekit.testing.contents import table_list
from tracekit.testing.export_xml import write_export, write_single_export
from tracekit.testing.machines import Process
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model, SignpostRow
from tracekit.testing.scenario import CORE_ML, Scenario

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000
MODEL = Model("Segmenter")


def everything(**changes: object) -> Scenario:
    """A scenario with rows in every table."""
    scenario = Scenario(Process('Came<ra> & "Co"', 412), duration_ns=2_000 * MS, **changes)
    scenario.load(MODEL, 100 * MS, 25 * MS)
    prediction = scenario.predict(MODEL, 200 * MS, 8 * MS)
    prediction.event("Input Copy", 10_000, 300_000)
    prediction.neural_engine(900_000, 3_500_000)
    prediction.gpu(4_500_000, 3_000_000, buffers=2)
    pipeline = scenario.predict(Model("Pipeline", 2), 300 * MS, 20 * MS)
    pipeline.stage("Decoder", 1 * MS, 6 * MS).event("CPU", 0, 6 * MS)
    add_context(scenario)
    scenario.signposts.append(SignpostRow(6 * MS, 6 * MS, "Frame", "com.example.camera", "render"))
    return scenario


def tables(folder: Path, scenario: Scenario) -> dict[str, object]:
    """Nodes by file name without ending."""
    paths = write_export(scenario, folder)
    return {path.stem: read_export(path)[0] for path in paths if path.name != "toc.xml"}


@pytest.mark.parametrize("version", ["16.4", "26.3", "27.2"])
def test_ids_rise_from_one_and_references_point_backwards_to_the_same_tag(tmp_path, version):
    references = rows = 0
    for path in write_export(everything(xcode_version=version), tmp_path):
        if path.name == "toc.xml":
            continue
        tags: dict[int, str] = {}
        for element in etree.parse(path).getroot().iter():
            if "ref" in element.attrib:
                references += 1
                assert set(element.attrib) == {"ref"}
                assert not len(element)
                assert not element.text
                assert tags[int(element.get("ref"))] == element.tag
            elif "id" in element.attrib:
                assert int(element.get("id")) == len(tags) + 1
                assert "fmt" in element.attrib
                tags[len(tags) + 1] = element.tag
            elif element.tag == "sentinel":
                assert not element.attrib
                assert not element.text
        # Every row has a cell of its type for each column.
        node = read_export(path)[0]
        for row in node.rows:
            rows += 1
            for cell, (_, _, kind) in zip(row, node.columns, strict=True):
                assert cell is None or cell.tag == kind
    assert references > 50
    assert rows > 25


def test_equal_values_are_written_once(tmp_path):
    write_export(everything(), tmp_path)
    for path in tmp_path.glob("*intervals*.xml"):
        written = [
            (element.tag, element.text)
            for element in etree.parse(path).getroot().iter()
            if "id" in element.attrib and not len(element) and element.text
        ]
        assert len(written) == len(set(written))


def test_rows_hold_what_the_scenario_says(tmp_path):
    core_ml = tables(tmp_path, everything())[CORE_ML]
    assert core_ml.integers("start") == [100 * MS, 200 * MS, 200_010_000, 300 * MS, 301 * MS, 301 * MS]
    assert core_ml.integers("duration") == [25 * MS, 8 * MS, 300_000, 20 * MS, 6 * MS, 6 * MS]
    assert core_ml.texts("event-label")[:3] == ["Load (cached)", "Prediction", "Input Copy"]
    assert core_ml.texts("model-name") == ["Segmenter-1"] * 3 + ["Pipeline-2", "Decoder-1", "Decoder-1"]
    assert core_ml.texts("parent-model-name") == [None] * 4 + ["Pipeline-2"] * 2
    assert core_ml.texts("model-level") == ["top"] * 4 + ["sub"] * 2
    lanes = ["direct", "direct", "data", "direct", "direct", "dispatch"]
    assert core_ml.texts("event-type") == [f"model-{lane}-event" for lane in lanes]
    # Rows that overlap are drawn in lanes of their own.
    assert core_ml.integers("full-layout-id") == [0, 0, 1, 0, 1, 2]
    without = tables(tmp_path / "without", everything(event_types=False))[CORE_ML]
    assert without.texts("event-type") == [None] * 6


def test_rows_of_the_gpu_name_process_submission_and_command_buffer_as_real_labels_do(tmp_path):
    nodes = tables(tmp_path, everything())
    gpu, dispatches = nodes["metal-gpu-intervals"], nodes["mps-hw-intervals"]
    assert gpu.texts("process")[:2] == ["WindowServer (502)", None]
    submissions = gpu.integers("gpu-submission-id")
    assert gpu.texts("event-label") == [
        f"Command Buffer 0:Render Command 0   (WindowServer (502)) {submissions[0]:#x}",
        f"GPU Execution   (<none>) {submissions[1]:#x}",
        f'Segmenter_main__Op0_MpsGraphInference:Compute Command 0   (Came<ra> & "Co" (412)) {submissions[2]:#x}',
        f'Segmenter_main__Op0_MpsGraphInference+:Compute Command 0   (Came<ra> & "Co" (412)) {submissions[3]:#x}',
    ]
    assert gpu.texts("frame-number") == ["7", None, None, None]
    buffer = gpu.integers("cmdbuffer-id")[2]
    assert dispatches.texts("event-label") == [f"MPSGraph:0x10f504470 (CommandBuffer: {buffer:#x})"]
    assert dispatches.texts("process") == [None]
    # A duration of zero is written as no value.
    assert (dispatches.texts("start-latency"), gpu.texts("start-latency")[1]) == ([None], None)


def test_context_tables_hold_what_happened(tmp_path):
    nodes = tables(tmp_path, everything())
    thermal = nodes["device-thermal-state-intervals"]
    assert (thermal.texts("thermal-state"), thermal.integers("end")) == (["Fair"], [2_000 * MS])
    assert thermal.texts("narrative") == ["Fair thermal state"]
    assert nodes["potential-hangs"].texts("hang-type") == ["Brief Unresponsiveness"]
    assert nodes["potential-hangs"].texts("thread")[0].startswith("Main Thread")
    assert nodes["gpu-performance-state-intervals"].texts("gpu-performance-state") == ["Maximum"]
    signposts = nodes["os-signpost-interval"]
    assert signposts.texts("name") == ["Frame", "Frame"]
    assert signposts.integers("layout-qualifier") == [0, 1]
    assert signposts.texts("start-message") == ["n=1", None]
    assert nodes["os-signpost.PointsOfInterest"].texts("name") == ["Shutter"]
    assert nodes["os-signpost.DynamicTracing"].rows == []
    states = nodes["metal-gpu-state-intervals"]
    assert sum(states.integers("duration")) == 2_000 * MS
    periods = nodes["life-cycle-period"]
    assert periods.texts("period")[-1] == "Foreground"
    assert sum(periods.integers("duration")) == 2_000 * MS
    assert nodes["process-info"].texts("process-name") == ['Came<ra> & "Co"']
    # 2025-06-03T08:15:00Z in ns since 1970.
    assert nodes["time-info"].texts("trace-start-time") == ["1748938500000000000"]


@pytest.mark.parametrize(("version", "thread"), [("16.4", "Main Thread  0x1ee0"), ("26.3", "Main Thread (0x1ee0)")])
def test_threads_are_shown_in_the_style_of_their_version(tmp_path, version, thread):
    hangs = tables(tmp_path, everything(xcode_version=version))["potential-hangs"]
    assert hangs.texts("thread") == [f'{thread} (Came<ra> & "Co", pid: 412)']


def test_tables_can_be_missing_or_empty_whatever_happened(tmp_path):
    scenario = everything()
    scenario.missing.add("metal-gpu-intervals")
    scenario.emptied.add(CORE_ML)
    scenario.recorded.add("hang-risks")
    nodes = tables(tmp_path, scenario)
    assert "metal-gpu-intervals" not in nodes
    assert nodes[CORE_ML].rows == []
    assert len(nodes[CORE_ML].columns) == 12
    assert nodes["hang-risks"].rows == []
    assert 'schema="metal-gpu-intervals"' not in (tmp_path / "toc.xml").read_text()


def test_layout_is_that_of_the_exporter(tmp_path):
    scenario = everything()
    scenario.emptied.add("mps-hw-intervals")
    write_export(scenario, tmp_path)
    full = (tmp_path / f"{CORE_ML}.xml").read_text()
    assert full.startswith('<?xml version="1.0"?>\n<trace-query-result>\n<node xpath=\'//trace-toc[1]/run[1]/data[1]/')
    assert "</schema><row><start-time" in full
    assert full.count("\n<row>") == 5
    assert full.endswith("</row>\n</node></trace-query-result>\n")
    empty = (tmp_path / "mps-hw-intervals.xml").read_text()
    assert empty.endswith("</col></schema></node></trace-query-result>\n")


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["coreml-os-signpost", "ane-hw-intervals-internal"])
def test_an_empty_export_equals_a_real_one_byte_for_byte_but_for_its_place(tmp_path, corpus, name):
    write_export(Scenario(Process("App", 1), duration_ns=1), tmp_path)
    real = (corpus / "xml" / f"xcode16.4-{name}-0rows.xml").read_text()
    ours = (tmp_path / f"{name}.xml").read_text()
    position = slice(ours.index("/table["), ours.index("]'>"))
    assert ours.replace(ours[position], real[real.index("/table[") : real.index("]'>")]) == real


def test_runs_share_a_file_and_an_empty_further_one_has_no_schema(tmp_path):
    second = everything()
    second.emptied.add(CORE_ML)
    write_export([everything(), second], tmp_path)
    first_node, second_node = read_export(tmp_path / f"{CORE_ML}.xml")
    assert first_node.schema == CORE_ML
    assert second_node.schema is None
    assert "/run[2]/" in second_node.xpath
    toc = etree.parse(tmp_path / "toc.xml")
    assert [run.get("number") for run in toc.findall("run")] == ["1", "2"]


def test_one_file_can_hold_all_tables_with_ids_that_go_on_or_restart(tmp_path):
    write_single_export(everything(), tmp_path / "on.xml")
    write_single_export(everything(), tmp_path / "again.xml", restart_ids=True)
    on, again = (etree.parse(tmp_path / name) for name in ("on.xml", "again.xml"))
    assert len(on.xpath("//*[@id='1']")) == 1
    nodes_with_rows = len(again.xpath("//node[row]"))
    assert len(again.xpath("//*[@id='1']")) == nodes_with_rows > 10
    schemas = [node.schema for node in read_export(tmp_path / "on.xml")]
    assert schemas.count("os-signpost") == 3
    assert CORE_ML in schemas


def test_only_the_chosen_tables_are_exported_but_all_are_listed_unless_the_list_is_left_out(tmp_path):
    paths = write_export(everything(), tmp_path / "one", only=[CORE_ML])
    assert sorted(path.name for path in paths) == [f"{CORE_ML}.xml", "toc.xml"]
    assert 'schema="metal-gpu-intervals"' in (tmp_path / "one/toc.xml").read_text()
    whole = {path.name: path.read_bytes() for path in write_export(everything(), tmp_path / "whole")}
    assert whole == {path.name: path.read_bytes() for path in write_export(everything(), tmp_path / "same")}
    again = write_export(everything(), tmp_path / "again", with_toc=False)
    assert {path.name: path.read_bytes() for path in again} == {
        name: content for name, content in whole.items() if name != "toc.xml"
    }


def test_an_export_without_any_table_is_the_answer_to_a_query_without_a_match(tmp_path):
    scenario = everything()
    scenario.missing = {schema for schema, _ in table_list(scenario)}
    write_single_export(scenario, tmp_path / "nothing.xml")
    # The 65 bytes that xctrace writes.
    assert (tmp_path / "nothing.xml").read_bytes() == (
        b'<?xml version="1.0"?>\n<trace-query-result>\n</trace-query-result>\n'
    )


def test_a_model_without_a_name_leaves_its_cells_empty(tmp_path):
    scenario = Scenario(Process("Camera", 412), duration_ns=2_000 * MS)
    scenario.predict(Model("", None), 100 * MS, 5 * MS)
    table = tables(tmp_path, scenario)["coreml-os-signpost"]
    for column in ("model-name", "model-specific-track-model-name", "fully-qualified-model"):
        assert table.texts(column) == [None]


def starts_in(path: Path) -> list[int]:
    """Starts of the rows of a file, in its order."""
    texts: dict[str, str] = {}
    starts = []
    for cell in (row[0] for row in etree.parse(path).iter("row")):
        if "id" in cell.attrib:
            texts[cell.attrib["id"]] = cell.text
        starts.append(int(texts[cell.attrib.get("id") or cell.attrib["ref"]]))
    return starts


def many_calls(**changes: object) -> Scenario:
    """Forty calls with two rows each."""
    scenario = Scenario(Process("Camera", 412), duration_ns=2_000 * MS, **changes)
    for number in range(40):
        scenario.predict(MODEL, (10 + 20 * number) * MS, 8 * MS).event("CPU", 1 * MS, 5 * MS)
    return scenario


def test_rows_may_stand_in_any_order(tmp_path):
    for name, order in (("plain", None), ("shuffled", Draws(2))):
        write_export(many_calls(), tmp_path / name, only=[CORE_ML], order=order)
    plain, shuffled = (starts_in(tmp_path / name / f"{CORE_ML}.xml") for name in ("plain", "shuffled"))
    assert plain == sorted(plain)
    assert shuffled != plain
    assert sorted(shuffled) == plain


def test_rows_may_lie_in_several_tables_of_one_schema(tmp_path):
    write_export(many_calls(), tmp_path / "one", only=[CORE_ML])
    write_export(many_calls(parts=3), tmp_path / "three", only=[CORE_ML])
    names = sorted(path.name for path in (tmp_path / "three").iterdir())
    assert names == ["coreml-os-signpost.2.xml", "coreml-os-signpost.3.xml", "coreml-os-signpost.xml", "toc.xml"]
    parts = [starts_in(tmp_path / "three" / name) for name in names[:-1]]
    assert [len(part) for part in parts] == [27, 26, 27]
    assert sorted(start for part in parts for start in part) == starts_in(tmp_path / "one" / f"{CORE_ML}.xml")
    listed = etree.parse(tmp_path / "three" / "toc.xml").findall(f".//table[@schema='{CORE_ML}']")
    assert len(listed) == 3
