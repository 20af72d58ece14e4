"""The same scenario, written as an export and as a bundle, is read as the same tables and judged in the same way."""

from __future__ import annotations

import dataclasses
import random
import shutil
from datetime import datetime

import pytest

import tracekit
from support.choice import sweep_rest
from support.samples import SAMPLES
from support.scenarios import derive_gpu_states
from tracekit.columns import Numbers
from tracekit.detectors.registry import DETECTORS
from tracekit.recording import open_recording
from tracekit.recording.table import Process as TargetProcess, Thread
from tracekit.report.serialize import to_dict
from tracekit.testing import Model, PointRow, Process, Scenario, SignpostRow, StateRow, write_bundle, write_export
from tracekit.testing.machines import WINDOW_SERVER, main_thread
from tracekit.testing.metal import encode_graphs
from tracekit.testing.rows import EVENT_LANES
from tracekit.testing.tables import tables_of

MS = 1_000_000
EXPORT_ONLY = {"documentation"}
"""Attributes that exports print and bundles do not hold."""
COMPARED = 20
"""Random scenarios of which every cell is compared, at most."""
MAY_BE_MISSING = (
    "ane-hw-intervals",
    "ane-hw-intervals-internal",
    "graphics-compiler-activity-intervals",
    "gpu-performance-state-intervals",
    "life-cycle-period",
    "metal-application-command-buffer-submissions",
    "metal-application-encoders-list",
    "metal-application-intervals",
    "metal-command-buffer-completed",
    "metal-gpu-intervals",
    "metal-gpu-state-intervals",
    "mps-hw-intervals",
    "os-signpost",
    "os-signpost-interval",
    "potential-hangs",
    "process-info",
    "thread-info",
    "time-info",
)
OF_THE_FORM = {"source", "input_type", "target_kind", "start_date", "duration_ns"}
"""What a report says of the recording and the two forms tell differently: a bundle has no offset of the time zone and
no way of starting, and an export cuts the duration to µs."""


def random_scenario(seed: int) -> Scenario:
    """Rows in all tables, at times that often collide. One of ten has many."""
    draw = random.Random(seed)  # noqa: S311  a repeatable scenario, no secret
    size = 10 if seed % 10 == 0 else 1
    target = Process("App", 700 + seed)
    others = [WINDOW_SERVER, Process('Am<p> & "Quote" é', 90)]
    scenario = Scenario(
        target,
        # Exports cut it to µs, and some findings measure up to the end.
        duration_ns=60_000 * MS + draw.randint(0, 999) * 1_000,
        xcode_version=draw.choice(["16.4", "26.3", "27.0", "27.2"]),
        event_types=draw.random() < 0.5,
        launched=draw.random() < 0.5,
        processes=others,
    )

    def time() -> int:
        return draw.randint(0, 40) * draw.choice([1, 13 * MS, 997 * MS])

    for number in range(draw.choice([0, 1, 1, 1, 1, 2, 3])):
        model = Model(f"Mödel {'ABC'[number]}", draw.choice([None, 1, 12]))
        for _ in range(draw.randint(1, 6)):
            scenario.load(model, time(), draw.randint(0, 300) * MS)
        for _ in range(draw.randint(0, 6 * size)):
            prediction = scenario.predict(model, time(), draw.randint(10, 90) * MS)
            for label in draw.sample(sorted(EVENT_LANES), draw.randint(0, 3)):
                prediction.event(label, draw.randint(0, 5) * MS, draw.randint(0, 5) * MS)
            if draw.random() < 0.3:
                prediction.neural_engine(MS, draw.randint(0, 5) * MS)
            if draw.random() < 0.3:
                prediction.gpu(MS, draw.randint(0, 5) * MS, buffers=draw.randint(1, 3))
            if draw.random() < 0.2:
                prediction.stage("Stage", MS, 2 * MS)
    for _ in range(draw.randint(0, 3 * size)):
        frame = draw.choice([None, 0, 7])
        scenario.gpu_work(time(), draw.randint(0, 9) * MS, draw.choice([*others, None]), "Fragment", "", frame)
    for _ in range(draw.randint(0, 5)):
        scenario.hang(time(), draw.randint(1, 900) * MS)
        scenario.signposts.append(
            SignpostRow(time(), draw.randint(0, 9) * MS, "Frame", "a.b", "c", draw.choice(["", "x"]))
        )
        scenario.points.append(PointRow(time(), "Shutter", "a.b", draw.choice(["", "ünö"])))
        scenario.gpu_performance.append(StateRow(time(), draw.randint(1, 9) * MS, draw.choice(["Minimum", "Maximum"])))
        scenario.compile_shader(time(), draw.randint(0, MS), "Vertex", draw.choice([*others, None]))
    encode_graphs(scenario, {index: main_thread(target, "Worker") for index in range(0, len(scenario.coreml), 2)})
    derive_gpu_states(scenario)
    scenario.missing |= {schema for schema in MAY_BE_MISSING if draw.random() < 0.3}
    scenario.emptied |= {schema for schema in MAY_BE_MISSING if draw.random() < 0.1}
    return scenario


def pytest_generate_tests(metafunc):
    """Random scenarios, of which `--scenarios` are judged, and some compared cell by cell as all samples are. The
    reports of samples are compared by tests/test_end_to_end.py."""
    if "both" in metafunc.fixturenames:
        judged = metafunc.function is test_reports_are_equal
        count = metafunc.config.getoption("scenarios")
        cases = range(1, count + 1) if judged else [*SAMPLES, *range(min(count, COMPARED))]
        metafunc.parametrize("both", cases, indirect=True)


@pytest.fixture(scope="module")
def both(request, tmp_path_factory):
    """A scenario and the paths of its two forms."""
    tmp_path = tmp_path_factory.mktemp("both")
    # Whole blocks and compression take most of the time, and bring nothing new in most of the bundles.
    if request.param in SAMPLES:
        scenario = SAMPLES[request.param]()
        options = {} if request.param == "sharpen_8bit" else {"rows_per_block": 512}
    else:
        scenario = random_scenario(request.param)
        options = {"compressed": request.param % 4 == 0, "rows_per_block": 65_536 if request.param % 20 == 0 else 7}
    write_export(scenario, tmp_path / "export")
    yield scenario, tmp_path / "export", write_bundle(scenario, tmp_path / "X.trace", **options)
    shutil.rmtree(tmp_path)


def plain(cell):
    """Texts of threads differ between releases of Xcode, and bundles hold none."""
    return (cell.tid, cell.process) if isinstance(cell, Thread) else cell


def numbers(table, cells, column):
    """Cells of a column; the export reader leaves dates as texts of their digits."""
    cells_read = [plain(cells.item(row)) for row in range(table.rows)]
    return [int(cell) for cell in cells_read] if column.engineering_type == "time-since-epoch" else cells_read


@pytest.mark.turns(5)
def test_tables_are_equal(both):
    scenario, export, bundle = both
    first, second = open_recording(export), open_recording(bundle)
    compared = 0
    for _, written in tables_of(scenario):
        names = {key: text for key, text in written.attributes if key == "category"}
        (mine,), (theirs,) = second.tables(written.schema, **names), first.tables(written.schema, **names)
        assert mine.state == theirs.state
        assert mine.rows == theirs.rows == len(written.rows)
        assert mine.columns == theirs.columns
        assert mine.attributes == {key: text for key, text in theirs.attributes.items() if key not in EXPORT_ONLY}
        for column, one, other in zip(mine.columns, mine.cells, theirs.cells, strict=True):
            if column.engineering_type == "backtrace":
                # As text, bundles have addresses and exports names: tests/testing/test_stacks.py compares the stacks.
                continue
            assert numbers(mine, one, column) == numbers(theirs, other, column), (mine.schema, column.mnemonic)
            if column.engineering_type != "time-since-epoch":
                assert isinstance(one, Numbers) == isinstance(other, Numbers)
            compared += mine.rows
    assert compared > 20


@pytest.mark.turns(5)
def test_reports_are_equal(both):
    scenario, export, bundle = both
    first, second = (to_dict(tracekit.analyze(path)) for path in (export, bundle))
    written = {(table.schema, dict(table.attributes).get("category")) for _, table in tables_of(scenario)}
    first, second = (comparable(report, written) for report in (first, second))
    assert len(first["tables"]) == len(written)
    for part in first:
        assert first[part] == second[part], part
    assert len(first["results"]) > 0


def comparable(report, written):
    """A report without what the two forms cannot tell alike. Only exports hold path and arguments of the target,
    and tell whether it was launched."""
    report["recording"] = {key: text for key, text in report["recording"].items() if key not in OF_THE_FORM}
    launch = report["specializations"]["launch"]
    launch |= {"path": None, "container": None, "arguments": None}
    for each in report["specializations"]["models"]:
        each["wait_ns"] = None
    for each in report["coverage"]:
        if each["instrument"] in ("Signposts", "Call Stacks"):
            # Some of these tables are listed by the export without being in it; a bundle holds all that it lists.
            each |= {"state": "", "rows": each["rows"] or 0, "conclusion": "", "advice": "", "tables": []}
    kept = [
        (table["schema"], table["attributes"].get("category"), table["state"], table["rows"], table["columns"])
        for table in report["tables"]
    ]
    report["tables"] = [table for table in kept if table[:2] in written]
    # Only bundles hold the issues of a run, and only exports tell whether the app ran before, or list call stacks
    # without holding them.
    left_out = {
        "run-issues",
        "attached-late",
        *(detector.id for detector in DETECTORS if "Call Stacks" in detector.needs),
    }
    for part in ("rules", "results", "findings"):
        report[part] = [each for each in report[part] if each["id"] not in left_out]
    report["summary"] = {key: report["summary"][key] for key in ("not_applicable", "errors", "evaluated")}
    return report


@pytest.mark.turns(5)
def test_facts_of_the_run_are_equal(both):
    _, export, bundle = both
    first, second = open_recording(export).run, open_recording(bundle).run
    for fact in ("number", "device", "host", "end_reason", "instruments_version", "template", "recording_mode"):
        assert getattr(first, fact) == getattr(second, fact), fact
    assert first.time_limit == second.time_limit
    assert first.target.process == second.target.process
    assert first.target.termination_reason == second.target.termination_reason
    assert first.duration_ns == second.duration_ns // 1_000 * 1_000
    assert second.issues == ()
    assert datetime.fromisoformat(first.start_date) == datetime.fromisoformat(second.start_date)


def test_only_an_export_cuts_the_duration_to_microseconds(tmp_path):
    scenario = dataclasses.replace(random_scenario(1), duration_ns=60_000_000_789)
    write_export(scenario, tmp_path / "export")
    bundle = write_bundle(scenario, tmp_path / "X.trace", rows_per_block=7)
    assert open_recording(tmp_path / "export").run.duration_ns == 60_000_000_000
    assert open_recording(bundle).run.duration_ns == 60_000_000_789


@pytest.mark.parametrize("compressed", sweep_rest(True, False))
def test_a_bundle_without_run_information_gives_the_same_tables(tmp_path, compressed):
    scenario = SAMPLES["style_transfer_reload"]()
    full = open_recording(write_bundle(scenario, tmp_path / "full.trace", rows_per_block=512))
    path = write_bundle(
        scenario, tmp_path / "bare.trace", form_template=False, compressed=compressed, rows_per_block=512
    )
    bare = open_recording(path)
    for _, table in tables_of(scenario):
        for mine, theirs in zip(bare.tables(table.schema), full.tables(table.schema), strict=True):
            assert mine.rows == theirs.rows
            for column, one, other in zip(mine.columns, mine.cells, theirs.cells, strict=True):
                assert numbers(mine, one, column) == numbers(theirs, other, column)
    assert (bare.run.template, bare.run.target.process) == ("Core ML", full.run.target.process)
    assert (bare.run.instruments_version, bare.run.device.name, bare.run.end_reason) == (None, None, None)
    # Seconds since 1970 in a double are exact to about a quarter of a microsecond.
    assert bare.run.duration_ns == pytest.approx(scenario.duration_ns, abs=1_000)


def test_runs_of_a_bundle_are_those_of_the_export(tmp_path):
    runs = [random_scenario(3), random_scenario(4)]
    write_export(runs, tmp_path / "export")
    bundle = write_bundle(runs, tmp_path / "X.trace", rows_per_block=512)
    for number, scenario in enumerate(runs, start=1):
        first, second = (open_recording(path, run=number) for path in (tmp_path / "export", bundle))
        assert (
            first.run.target.process
            == second.run.target.process
            == TargetProcess(scenario.target.name, scenario.target.pid)
        )
        for _, table in tables_of(scenario):
            rows = sorted(table.rows for table in second.tables(table.schema))
            assert rows[-1] == max(each.rows for each in first.tables(table.schema))
