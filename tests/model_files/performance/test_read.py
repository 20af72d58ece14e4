"""Reports of every form come out with the figures that they were built with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.performance_reports import (
    ALL,
    COSTLY,
    CPU_ONLY,
    article_2026,
    constant,
    coremltools_json,
    dumped_json,
    operation,
    profiler_json,
    whole_report,
    wwdc22,
    xcode_json,
)
from tracekit.model_files.performance.facts import ComputeUnit, Mark, ReportForm, Transition
from tracekit.model_files.performance.read import load_performance_report, report_of
from tracekit.model_files.untrusted import UnreadableModel

CPU, GPU, ANE = ComputeUnit.CPU, ComputeUnit.GPU, ComputeUnit.NEURAL_ENGINE
MS = 1e6


def read(document: object, name: str = "report.json"):
    report = report_of(document, Path(name))
    assert report is not None
    return report


def test_the_report_of_wwdc22():
    report = read(wwdc22())
    assert (report.name, report.device, report.system) == ("YOLOv3", "iPhone 13 Pro", "iOS 16.0")
    assert report.asked == (CPU, GPU, ANE)
    assert report.prediction.median_ns == pytest.approx(22.19 * MS)
    assert report.counts == {GPU: 54, ANE: 32}
    assert report.transitions == (Transition(GPU, ANE, 1),)
    assert len(report.on(ANE)) == 32


def test_the_reports_of_apples_article_of_2026():
    report, alone = read(article_2026()), read(article_2026(cpu_only=True))
    assert report.counts == {CPU: 3, GPU: 21, ANE: 740}
    assert [entry.median_ns for entry in (report.prediction, report.load, report.compile)] == pytest.approx(
        [22.93 * MS, 45.20 * MS, 127.08 * MS]
    )
    assert [entry.median_ns for entry in (alone.prediction, alone.load, alone.compile)] == pytest.approx(
        [54.49 * MS, 37.32 * MS, 122.28 * MS]
    )
    # One cast runs on the CPU because the Neural Engine cannot; the other two could.
    assert [entry.type for entry in report.incompatible_with(ANE)] == ["cast"]
    assert [report.mark(entry, ANE) for entry in report.on(CPU)] == [Mark.INCOMPATIBLE, Mark.COULD_RUN, Mark.COULD_RUN]


def test_a_report_with_all_that_xcode_writes_says_the_same():
    report, bare = read(whole_report()), read(article_2026())
    # Constants run nowhere.
    assert report.counts == bare.counts == {CPU: 3, GPU: 21, ANE: 740}
    assert report.transitions == bare.transitions
    assert (report.prediction.count, report.load.count) == (3 * 39, 6)
    assert report.prediction.median_ns == pytest.approx(22.93 * MS)
    assert report.prediction.first_ns == pytest.approx((300 * MS, 100 * MS, 100 * MS))
    assert sum(entry.cost for entry in report.operations) == pytest.approx(1)
    (costliest,) = report.costliest(1)
    assert (costliest.type, costliest.cost) == ("cast", COSTLY)
    assert costliest.estimated_ns == pytest.approx(COSTLY * 22.93 * MS)


def test_a_report_for_the_cpu_says_nothing_about_the_other_units():
    assert read(xcode_json("m", units=CPU_ONLY)).asked == (CPU,)
    report = read(article_2026(cpu_only=True))
    assert report.counts == {CPU: 764}
    assert report.incompatible_with(ANE) == report.incompatible_with(GPU) == ()
    assert {report.mark(entry, ANE) for entry in report.operations} == {Mark.UNKNOWN}
    assert {report.mark(entry, CPU) for entry in report.operations} == {Mark.RAN}


def test_cold_values_are_kept_apart_where_the_size_of_an_experiment_is_known():
    """Times of a public report of an iPad Air: three experiments of three loads and one compilation each."""
    loads = [0.297017, 0.019724, 0.019487, 0.195284, 0.019080, 0.019677, 0.185070, 0.019130, 0.019355]
    predictions = [9e-3, 2e-4, 3e-4, 5e-4, 2e-4, 2e-4]
    document = xcode_json("m", None, load=loads, compile_=[0.0734, 0.0739, 0.0723], predict=predictions)
    report = read(document)
    assert (report.operations, report.notes) == (None, ())
    assert report.load.first_ns == pytest.approx((297.017 * MS, 195.284 * MS, 185.07 * MS))
    assert report.load.count == 6
    assert report.load.median_ns == pytest.approx((19.355 + 19.487) / 2 * MS)
    assert report.compile.first_ns == ()
    assert report.compile.median_ns == pytest.approx(73.4 * MS)
    assert report.prediction.first_ns == pytest.approx((9 * MS, 0.5 * MS))
    assert (report.prediction.min_ns, report.prediction.max_ns) == pytest.approx((0.2 * MS, 0.3 * MS))
    del document["deviceResults"]["perfRunConfig"]
    report = read(document)
    assert (report.load.count, report.load.first_ns) == (9, ())
    assert "cold ones count like the others" in report.notes[0]


def test_operations_have_costs_and_reasons():
    report = read(
        xcode_json(
            "m",
            [
                constant("weights"),
                operation("y", "ios18.conv", "neuralEngine", cost=0.6),
                operation("w", "ios18.constexpr_lut_to_dense", "cpu"),
                operation("z", "ios18.topk", "cpu", ["cpu", "gpu"], cost=0.4),
            ],
            predict=[9, 0.01, 0.01],
        )
    )
    first, second = report.operations
    assert (first.number, first.name, first.type, first.unit, first.supported) == (0, "y", "conv", ANE, (CPU, GPU, ANE))
    assert first.estimated_ns == pytest.approx(6 * MS)
    assert first.reasons == ()
    assert second.reasons == ((ANE, "too big"),)
    assert report.costliest(1) == (first,)
    assert report.transitions == (Transition(ANE, CPU, 1),)


def test_operations_in_nested_blocks_and_functions_are_found():
    inner = operation("inner", "ios16.add", "cpu")
    loop = {**operation("loop", "while_loop", "cpu"), "blocks": [{"operations": [inner]}]}
    document = xcode_json("m", [loop])
    functions = document["deviceResults"]["modelStructure"]["program"]["_0"]["functions"]
    functions["other"] = {"block": {"operations": [operation("x", "ios18.mul", "gpu")]}}
    report = read(document)
    assert [(entry.name, entry.function) for entry in report.operations] == [
        ("loop", "main"),
        ("inner", "main"),
        ("x", "other"),
    ]
    # The two functions do not follow one another.
    assert report.transitions == ()


def test_layers_of_a_neural_network_are_operations():
    document = xcode_json("m", None)
    layer = {"name": "conv1", "type": "convolution", "deviceUsage": operation("", "", "gpu")["deviceUsage"]}
    document["deviceResults"]["modelStructure"] = {"neuralNetwork": {"_0": {"layers": [layer]}}}
    (found,) = read(document).operations
    assert (found.name, found.type, found.unit) == ("conv1", "convolution", GPU)


@pytest.mark.parametrize("units", [None, 4, True, "all"])
def test_unknown_compute_units_have_no_mark(units):
    document = xcode_json("m", [operation("y", "ios16.conv", "cpu", ["cpu"])])
    document["computeUnit"] = units
    report = read(document)
    assert report.asked is None
    assert report.mark(report.operations[0], ANE) is Mark.UNKNOWN


@pytest.mark.parametrize("table", [False, True])
def test_a_plan_of_coremlprofiler(table):
    document = profiler_json()
    report = read(document["main"]["block"]["operations"] if table else document, "compute_plan.json")
    assert (report.form, report.name, report.asked) == (ReportForm.PROFILER, "compute_plan", None)
    assert report.prediction.median_ns == pytest.approx(20 * MS)
    assert report.counts == {CPU: 1, ANE: 1}
    assert [(entry.type, entry.name) for entry in report.operations] == [("conv", "out_1"), ("topk", "out_2")]
    assert report.operations[1].supported == (CPU, GPU)
    assert report.costliest(1)[0].estimated_ns == pytest.approx(15 * MS)
    assert report.mark(report.operations[1], ANE) is Mark.UNKNOWN
    assert any("worked out" in note for note in report.notes)


def test_without_a_full_profile_coremlprofiler_tells_no_times():
    document = profiler_json(full=False)
    for entry in document["main"]["block"]["operations"]:
        entry["op_time"] = 0.0
    report = read(document)
    assert report.prediction is None
    assert report.operations[0].estimated_ns is None


@pytest.mark.parametrize("form", ["infos", "list", "object"])
def test_a_plan_of_coremltools(form):
    document = coremltools_json()
    if form == "list":
        document = document["infos"]
    elif form == "object":
        document = {"infos": {str(place): entry for place, entry in enumerate(document["infos"])}}
    report = read(document)
    assert report.form is ReportForm.COREMLTOOLS
    assert [(entry.name, entry.type, entry.unit) for entry in report.operations] == [("a", "", ANE), ("b", "", GPU)]
    assert report.operations[0].cost == 0.9
    assert report.operations[1].cost is None
    assert report.prediction is report.load is report.compile is None


@pytest.mark.parametrize("tool", ["camel case", "short", "paths", "rows", "nested", "list"])
def test_a_plan_that_a_public_tool_dumps(tool):
    report = read(dumped_json(tool), "plan.json")
    named = tool not in ("nested", "list")
    assert (report.form, report.name) == (ReportForm.DUMP, "Net" if named else "plan")
    assert report.asked == ((CPU, GPU, ANE) if named else None)
    assert [(entry.number, entry.type, entry.unit, entry.supported, entry.cost) for entry in report.operations] == [
        (0, "conv", ANE, (CPU, GPU, ANE), 0.75),
        (1, "topk", CPU, (CPU, GPU), 0.25),
    ]
    assert {entry.function for entry in report.operations} == {"main"}
    if tool != "nested":
        assert [entry.name for entry in report.operations] == ["y", "best"]
    # What a plan does not ask for is no fault of the operation.
    assert report.mark(report.operations[1], ANE) is (Mark.INCOMPATIBLE if named else Mark.UNKNOWN)
    assert report.prediction is report.load is report.device is None
    assert "does not name" in report.notes[0]
    assert "no common form" in report.notes[1]


@pytest.mark.parametrize(
    ("entry", "unit", "supported", "cost"),
    [
        (
            {"preferredUnit": "neural-engine", "supportedUnits": "CPU|GPU|NE", "cost": {"weight": 1}},
            ANE,
            (CPU, GPU, ANE),
            1,
        ),
        (
            {"preferred": "MLGPUComputeDevice", "supported": "MLCPUComputeDevice, MLGPUComputeDevice"},
            GPU,
            (CPU, GPU),
            None,
        ),
        ({"preferred": {"neuralEngine": {}}, "weight": 0.5}, ANE, None, 0.5),
        ({"device": "ANE", "supported": ["CPU", "ANE"]}, ANE, (CPU, ANE), None),
        ({"preferred": "gpu", "supported": []}, GPU, None, None),
        ({"preferred": None, "supported": [], "cost": None}, None, None, None),
    ],
)
def test_spellings_of_dumped_plans(entry, unit, supported, cost):
    # One operation must have a unit.
    other = {"op": "add", "preferred": "cpu"}
    planned, _ = read([{"op": "mul"} | entry, other]).operations
    assert (planned.unit, planned.supported, planned.cost) == (unit, supported, cost)


@pytest.mark.parametrize(
    "around",
    [
        {},
        {"operations": []},
        [{"op": "mul", "device": "cpu"}],
        {"operations": [{"op": "mul"}]},
        {"plans": [{"ops": [{}]}]},
    ],
)
def test_lists_that_are_no_plan(around):
    assert report_of(around, Path("x.json")) is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"not JSON", "is not complete JSON"),
        (json.dumps(wwdc22()).encode()[:-40], "is not complete JSON"),
        (b"[" * 100_000, "is not complete JSON"),
        (b'{"metadataOutputVersion": "3.0"}', "is no performance report (keys: metadataOutputVersion)"),
        (b"[]", "is no performance report (keys: none)"),
        (b"model,median\nA,2", "is not complete JSON"),
        (b'{"deviceResults": {}}', "holds no results"),
        (b'{"deviceResults": []}', "holds no results"),
        (b'{"deviceResults": {"predict": {"samples": ["1"]}}}', "something else than numbers"),
        (b'{"deviceResults": {"predict": {"samples": [-1]}}}', "'predict' is -1"),
        (b'{"deviceResults": {"load": {"samples": [NaN]}}}', "'load' is nan"),
        (b'{"deviceResults": {"load": {"samples": [1' + b"0" * 400 + b"]}}}", "'load' is 1000"),
        (b'{"deviceResults": {"modelStructure": ' + b'{"a":' * 300 + b"1" + b"}" * 300 + b"}}", "levels deep"),
        (b'{"deviceResults": {"modelStructure": [{"operatorName": "add", "cost": {"weight": 2}}]}}', "operation is 2"),
        (b'{"schema_version": 99, "performance": {}}', "has schema version 99"),
        (b'{"schema_version": 1, "performance": {}}', "'form' names no kind"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
        (b'[{"op": "mul", "preferred": "TPU"}]', "no compute unit that is known ('TPU'); expected CPU, GPU or Neural"),
        (b'[{"op": "mul", "preferred": null, "supported": []}]', "names no compute unit that is known; expected CPU"),
        (b'[{"op": "mul", "preferred": "cpu", "cost": 12.5}]', "the cost of an operation is 12.5"),
        (b'[{"op": "mul", "preferred": "cpu", "cost": NaN}]', "the cost of an operation is nan"),
    ],
)
def test_what_is_no_report_is_said_in_one_sentence(tmp_path, content, words):
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableModel, match=r"'report\.json'") as caught:
        load_performance_report(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_path_that_is_no_file(tmp_path):
    for path, words in (
        (tmp_path, "is not a file"),
        (tmp_path / "absent.json", "does not exist"),
        ("a\0b", "does not exist"),
    ):
        with pytest.raises(UnreadableModel, match=words):
            load_performance_report(path)


def test_mutated_reports_are_read_or_refused(tmp_path):
    """Every value of a report, replaced by one of another type."""
    document = xcode_json("m", [operation("y", "ios16.conv", "cpu", ALL, 0.5)], predict=[2, 1, 1], load=[3, 1, 1])
    documents = [document, profiler_json(), coremltools_json(), dumped_json("camel case"), dumped_json("rows")]
    for whole in documents:
        for value in (None, True, -1, 1e300, "x", [], {}, [[]], {"a": {}}, [1], ["x", 2]):
            for changed in _replaced(whole, value):
                try:
                    report = report_of(changed, tmp_path / "m.json")
                except UnreadableModel:
                    continue
                assert report is None or isinstance(report.transitions, tuple)


def _replaced(node: object, value: object):
    """Copies of a document in each of which one value is another one."""
    if isinstance(node, dict):
        for key, child in node.items():
            yield {**node, key: value}
            yield from ({**node, key: changed} for changed in _replaced(child, value))
    elif isinstance(node, list):
        for place, child in enumerate(node[:3]):
            yield [*node[:place], value, *node[place + 1 :]]
            yield from ([*node[:place], changed, *node[place + 1 :]] for changed in _replaced(child, value))
