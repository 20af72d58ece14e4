"""Core AI's own table, by the names of columns that are reported."""

from support.handover import trace_of
from support.rows import values_of
from tracekit.testing import Process, Scenario

MS = 1_000_000


def test_category_says_the_phase_and_labels_are_without_durations():
    scenario = Scenario(Process("App", 7), duration_ns=900 * MS, xcode_version="27.2")
    head = ("main", "main")
    scenario.language_models["CoreAIProfile"] = [
        (0, 90 * MS, "Net", *head, "Load", "Specialization", "Green", "0", "Compile Asset, Specialize"),
        (90 * MS, 5 * MS, "Net", *head, "Load", "Load", "Teal", "0", "Load"),
        (95 * MS, 1 * MS, "Net", "main", "func_19 (12.5 µs)", "Inference", "Setup", "Purple", "0", "Setup"),
        (96 * MS, 7 * MS, None, *head, "Inference", "Novel", "Blue", "0", "Run"),
        (99 * MS, 7 * MS, None, None, None, None, None, "Blue", "0", "Run"),
    ]
    trace = trace_of(scenario)
    rows = trace.phases
    assert values_of(rows, "phase") == ["specialization", "load", "setup", "inference", "unknown"]
    assert values_of(rows, "name") == ["Net::main", "Net::main", "Net::func_19", "main", None]
    assert set(rows.pid.filled()) == {7}
    assert (values_of(rows, "duration_ns")[:2], set(rows.runtime.held())) == ([90 * MS, 5 * MS], {"Core AI"})
    assert not len(trace.requests)
