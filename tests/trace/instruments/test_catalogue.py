"""What an instrument needs, tried with the one that CONTRIBUTING.md adds."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tracekit.lanes.categories import Category
from tracekit.trace.instruments.catalogue import CONTEXT, INSTRUMENTS

ROOT = Path(__file__).resolve().parents[3]
CATALOGUE = ROOT / "tracekit/trace/instruments/catalogue.py"
RECORDED = """
import json, runpy, sys
from dataclasses import replace

folder, made = sys.argv[1:]
import tracekit.trace.instruments
tracekit.trace.instruments.__path__.insert(0, folder)

from tracekit.analysis.aggregation import aggregate
from tracekit.api import judge
from tracekit.detectors import plugins
from tracekit.detectors.rules import thermal_throttling
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.report.verdict import remedies
from tracekit.trace.build import build_trace
from tracekit.trace.samples import SampleSource

make = runpy.run_path(made)["Make"]
calls = make.coreml((0, 10, "Load", "net"), (20, 10, "Prediction", "net"))
transfers = make.table("memory-bus-intervals", "start duration event-label", (1, 5, "read"), (9, 5, "write"))
pressure = make.table("memory-pressure-intervals", "start duration state", (0, 30, "Critical"))
trace = build_trace(make.recording(calls, transfers, pressure))
lanes = {lane.id: lane for lane in lanes_of(trace, Grouping.LANES)}
plugins.DETECTORS = (replace(thermal_throttling.DETECTOR, needs=("Memory Bus",)),)
without = build_trace(make.recording(calls))


def covered(trace):
    entry = trace.coverage_of("Memory Bus")
    return [entry.state, entry.rows, entry.conclusion, entry.advice]


def drawn(lane):
    return [lane.title, lane.section, lane.words, [] if lane.events is None else lane.events.categories.tolist()]


both = ("memory bus", "memory_pressure")
print(json.dumps({
    "coverage": [covered(trace), covered(without)],
    "drawn": [drawn(lanes[name]) for name in both],
    "absent": [drawn(lane) for lane in lanes_of(without, Grouping.LANES) if lane.id in both],
    "labels": [lanes["memory bus"].events.label(position) for position in range(2)],
    "titles": [row.label for row in aggregate(trace) if row.lane == "memory bus"],
    "remedies": remedies(judge(replace(without, sample_source=SampleSource()))),
}))
"""


def test_colors_name_categories():
    of_kinds = {work.color for entry in INSTRUMENTS for work in entry.kinds.values()}
    of_states = {color for each in CONTEXT if each.strip for color in each.strip.colors.values()}
    assert of_kinds | of_states <= set(Category.__members__)


@pytest.mark.sweep
def test_an_instrument_of_one_module_and_its_line_is_covered_drawn_counted_and_advised(tmp_path):
    """What a tracekit with one more instrument says of a recording that has it, and of one that lacks it."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    module, *_ = re.findall(r"^   ```python\n(.*?)^   ```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "memory_bus.py").write_text(textwrap.dedent(module), "utf-8")
    catalogue = CATALOGUE.read_text("utf-8")
    for old, new in (
        ("import coreml, frames, hardware,", "import coreml, frames, hardware, memory_bus,"),
        ("    hardware.MPS,\n", "    hardware.MPS,\n    memory_bus.INSTRUMENT,\n"),
    ):
        assert catalogue.count(old) == 1
        catalogue = catalogue.replace(old, new)
    (tmp_path / "catalogue.py").write_text(catalogue, "utf-8")
    made = Path(__file__).parents[1] / "conftest.py"
    command = (sys.executable, "-c", RECORDED, str(tmp_path), str(made))
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    recorded = json.loads(done.stdout)
    rows_mean = "Transfers between memory and processors, of the whole device."
    missing = ["missing", None, "Memory Bus was not recorded.", "Record with --instrument 'Memory Bus'."]
    assert recorded["coverage"] == [["rows", 3, rows_mean, ""], missing]
    assert recorded["drawn"] == [
        ["Memory Bus", "Hardware", "", [Category.MPS, Category.MPS]],
        ["Memory", "System", "", [Category.CRITICAL]],
    ]
    assert recorded["labels"] == ["read", "write"]
    absent = "not recorded"
    assert recorded["absent"] == [["Memory Bus", "Hardware", absent, []], ["Memory", "System", absent, []]]
    assert recorded["titles"] == ["memory transfer"]
    assert recorded["remedies"] == [[["thermal-throttling"], "record with --instrument 'Memory Bus'", "", ""]]
