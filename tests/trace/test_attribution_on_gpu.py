"""Which prediction work of the GPU, and graphs that were sent to it, belong to."""

import pytest

from support.hardware_rows import GPU, MS, answers, gpu_label, graph_label, graphs
from support.rows import values_of
from tracekit.trace.build import build_trace
from tracekit.trace.events import Lane


@pytest.mark.parametrize(
    ("start", "end", "linked"),
    [
        (50 * MS, 100 * MS, True),
        (50 * MS, 101 * MS, True),  # GPU work may end 1 ms after the prediction
        (50 * MS, 101 * MS + 1, False),
        (100 * MS, 100 * MS + 1, True),
        (100 * MS + 1, 100 * MS + 2, False),  # but not begin after it
        (-1, 50 * MS, False),
    ],
)
def test_gpu_work_may_outlive_its_prediction_a_little(make, start, end, linked):
    app = make.process("app", 42)
    coreml = make.coreml((0, 100 * MS, "Prediction", "a-1"))
    gpu = make.table("metal-gpu-intervals", GPU, (start, end - start, gpu_label("a"), app, 1))
    answered = answers(build_trace(make.recording(coreml, gpu, target=app)))
    assert answered == [(0 if linked else None, "a", "exact")]


WORK = {
    "work inside the next prediction is not the last one's": (
        [(0, 10 * MS, "Prediction", "a-1"), (10 * MS, 10 * MS, "Prediction", "a-1")],
        [((10 * MS + 1, 1000, gpu_label("a"), ("app", 42)), (1, "a", "exact"))],
    ),
    "work that may have outlived one of two calls is of neither for sure": (
        [(0, 10 * MS, "Prediction", "a-1"), (5 * MS, 15 * MS, "Prediction", "a-1")],
        [
            ((4 * MS, 2 * MS, gpu_label("a"), ("app", 42)), (0, "a", "exact")),
            # ends 1 ms after the first call
            ((9 * MS, 2 * MS, gpu_label("a"), ("app", 42)), (None, "a", "exact")),
            # ends too late for the first one
            ((9 * MS, 2 * MS + 1, gpu_label("a"), ("app", 42)), (1, "a", "exact")),
        ],
    ),
    "rows are judged by process, then label, and never by time alone": (
        [(0, 100, "Prediction", "a-1")],
        [
            ((10, 5, gpu_label("a"), ("app", 42)), (0, "a", "exact")),
            ((20, 5, gpu_label("a"), ("other", 7)), (None, "a", "foreign")),
            ((30, 5, gpu_label("a"), None), (0, "a", "label")),
            ((40, 5, "Render Command 0", ("app", 42)), (None, None, "unattributed")),
            ((50, 5, "Render Command 0", None), (None, None, "unattributed")),
            ((60, 5, gpu_label("unnamed"), ("app", 42)), (None, "unnamed", "exact")),
        ],
    ),
}
"""Rows of the Core ML table; and rows of the GPU, each with its prediction, model and attribution."""


@pytest.mark.parametrize("case", WORK)
def test_rows_of_the_gpu_belong_to_predictions(make, case):
    coreml, work = WORK[case]
    rows = [
        (start, length, label, process and make.process(*process), number)
        for number, ((start, length, label, process), _) in enumerate(work, 1)
    ]
    table = make.table("metal-gpu-intervals", GPU, *rows)
    trace = build_trace(make.recording(make.coreml(*coreml), table, target=make.process("app", 42)))
    assert answers(trace) == [answer for _, answer in work]


def test_a_graph_shares_what_is_known_of_its_command_buffer(make):
    app, other = make.process("app", 42), make.process("other", 7)
    coreml = make.coreml((0, 100, "Prediction", "a-1"), (0, 100, "Prediction", "b-1"), (200, 9, "Prediction", "b-1"))
    gpu = make.table(
        "metal-gpu-intervals",
        GPU,
        (9, 2, "no model", app, 0x1234567890),
        (10, 5, gpu_label("a", 2), app, 0x1234567890),
        (30, 5, gpu_label("a"), other, 2),
        (40, 5, "Own graph", app, 3),
    )
    mps = graphs(
        make,
        (10, 5, graph_label(0x1234567890), None),
        (30, 5, graph_label(2), None),
        (40, 5, graph_label(3), None),
        (50, 5, graph_label(99), None),  # no GPU row: time decides
        (201, 5, graph_label(0), None),
        (205, 1 * MS, "unreadable", None),
        (300, 5, graph_label(98), None),
        (201, 5, graph_label(97), other),
        (10, 5, graph_label(0xFFFFFFFFFFFFFFFF), None),
        (10, 5, graph_label(0x1234567890), other),  # its own process tells more than its command buffer
    )
    trace = build_trace(make.recording(coreml, gpu, mps, target=app))
    assert answers(trace)[4:] == [
        (0, "a", "exact"),
        (None, "a", "foreign"),
        (None, None, "unattributed"),
        (None, None, "ambiguous"),
        (2, "b", "contained"),
        (2, "b", "contained"),
        (None, None, "unattributed"),
        (None, None, "foreign"),
        (None, None, "ambiguous"),
        (None, None, "foreign"),
    ]
    rows = trace.hardware.where(trace.hardware.lane.is_any(Lane.MPS) & trace.hardware.operation.known)
    assert dict(zip(rows.row.tolist(), values_of(rows, "operation"), strict=True)) == {0: 2, 1: 0}
