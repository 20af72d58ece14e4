"""Where the time of predictions went: against counting nanosecond by nanosecond, and against published figures."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from support import handover
from support.rows import records_of, values_of
from tracekit.analysis import queues
from tracekit.analysis.breakdown.device_runs import UNITS, Handoffs
from tracekit.analysis.breakdown.partition import REASONS, Part, Unknown, breakdown
from tracekit.analysis.breakdown.summary import summarize_breakdown
from tracekit.rows import joined
from tracekit.testing import Model, Process, Scenario
from tracekit.trace.events import numbered

BOTH = ("Neural Engine", "GPU")
PARTS = [part.column for part in Part]


class Row(NamedTuple):
    """A row of one prediction, `at` counted from its start."""

    owner: int
    at: int
    length: int
    what: str


LAYERS = ("neural_engine", "gpu", "data", "cpu", "neural_engine_request", "gpu_request", "other")
"""In the order in which they are given an instant."""
COMPUTE = ("neural_engine", "gpu", "cpu", "neural_engine_request", "gpu_request")
WHOLE, EVERY = 20, 30
"""Four predictions of 20 ns, one every 30 ns."""

DRAWN = st.lists(
    st.builds(Row, st.integers(0, 3), st.integers(0, 19), st.integers(0, 14), st.sampled_from(LAYERS)), max_size=14
)

KINDS = {
    "neural_engine": ("neural-engine", "neural_engine_exec", "neural-engine"),
    "gpu": ("gpu", "gpu_exec", "gpu"),
    "data": ("data", "input_copy", None),
    "cpu": ("compute", "cpu_compute", "cpu"),
    "neural_engine_request": ("compute", "neural_engine_request", "neural-engine"),
    "gpu_request": ("compute", "gpu_request", "gpu"),
    "other": ("unknown", "other", None),
}


def lanes_of(events, rows):
    """The rows as lanes of a trace."""
    lanes_by_name = {}
    for name, lanes in (
        ("hardware", ("neural-engine", "gpu")),
        ("data", ("data",)),
        ("compute", ("compute",)),
        ("other", ("unknown",)),
    ):
        chosen = [row for row in rows if KINDS[row.what][0] in lanes]
        lanes_by_name[name] = events(
            *[(EVERY * row.owner + row.at, EVERY * row.owner + row.at + row.length) for row in chosen],
            lane=[KINDS[row.what][0] for row in chosen],
            kind=[KINDS[row.what][1] for row in chosen],
            device=[KINDS[row.what][2] for row in chosen],
            prediction=[row.owner for row in chosen],
            attribution="contained",
        )
    return lanes_by_name


def predictions_of(events, **columns):
    return events(*[(EVERY * k, EVERY * k + WHOLE) for k in range(4)], **columns)


def column(split, name):
    """The values of a column of all predictions; None for null."""
    return values_of(split.every, name)


def first(split):
    """The values of the first prediction by column."""
    return records_of(split.every)[0]


def counted(rows, owner):
    """Parts of one prediction, instant by instant."""
    covering = [
        {row.what for row in rows if row.owner == owner and row.at <= t < row.at + row.length} for t in range(WHOLE)
    ]
    active = [t for t in range(WHOLE) if covering[t] & set(COMPUTE)]
    parts: Counter[str] = Counter()
    for t in range(WHOLE):
        first = next((layer for layer in LAYERS if layer in covering[t]), "unexplained")
        if first == "data":
            first = "data_unplaced" if not active else "data_before" if t < active[0] else "data_between"
            if active and t > active[-1]:
                first = "data_after"
        if first.endswith("request"):
            unit = first.removesuffix("_request")
            executed = any(unit in here for here in covering)
            first = f"{unit}_queue" if executed else f"{unit}_requested"
        parts[first] += 1
    return parts


@pytest.fixture
def no_waits(monkeypatch):
    """Rows of a few ns follow each other by chance."""
    monkeypatch.setattr(queues, "HANDOVER_NS", -1)


@pytest.mark.usefixtures("no_waits")
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN)
def test_counting_every_nanosecond_gives_the_same_parts(events, trace_of, drawn):
    split = breakdown(trace_of(predictions_of(events), BOTH, **lanes_of(events, drawn)))
    parts = {part: column(split, part.column) for part in Part}
    for owner in range(4):
        expected = counted(drawn, owner)
        for part in Part:
            assert (parts[part][owner] or 0) == expected[str(part)], part


@settings(deadline=None, max_examples=60)
@given(DRAWN)
def test_the_parts_add_up_to_the_whole_and_none_is_negative(events, trace_of, drawn):
    rows = breakdown(trace_of(predictions_of(events), BOTH, **lanes_of(events, drawn)))
    parts = np.array([[value or 0 for value in column(rows, name)] for name in PARTS])
    assert (parts.sum(axis=0) == WHOLE).all()
    assert not (parts < 0).any()
    summary = summarize_breakdown(rows)
    assert sum(part.total_ns or 0 for part in summary.parts) == summary.total_ns == 4 * WHOLE
    assert sum(part.share or 0 for part in summary.parts) == pytest.approx(1)


MS = 1_000_000


def ms(*times):
    return [(round(start * MS), round(end * MS)) for start, end in times]


@pytest.fixture
def watercolor(events):
    """The Watercolor prediction of WWDC22: first on the Neural Engine, then on the GPU (reference, 10.1)."""
    return {
        "activity": events(*ms((0, 7.2))),
        "data": events(
            *ms((0, 0.01), (0.01, 0.06), (7.1, 7.15)),
            lane="data",
            kind=["input_validation", "input_copy", "output_transformation"],
            prediction=0,
        ),
        "compute": events(
            *ms((0.4, 3.9), (3.9, 4.3), (4.2, 6.9)),
            lane="compute",
            kind=["neural_engine_request", "gpu_prepare", "gpu_request"],
            device=["neural-engine", "gpu", "gpu"],
            prediction=0,
        ),
        "hardware": events(
            *ms((0.6, 3.7), (4.5, 6.8)),
            lane=["neural-engine", "gpu"],
            kind=["neural_engine_exec", "gpu_exec"],
            device=["neural-engine", "gpu"],
            prediction=0,
            attribution="label",
        ),
    }


def test_the_watercolor_prediction_is_split_as_worked_out_by_hand(trace_of, watercolor):
    row = first(breakdown(trace_of(watercolor.pop("activity"), BOTH, **watercolor)))
    parts = {name.removesuffix("_ns"): row[name] / MS for name in PARTS if row[name]}
    # Requests: 0.4 to 3.9 without 0.6 to 3.7, and 3.9 to 6.9 without 4.5 to 6.8.
    assert parts == {
        "neural_engine": 3.1,
        "gpu": 2.3,
        "data_before": 0.06,
        "data_after": 0.05,
        "neural_engine_queue": 0.4,
        "gpu_queue": 0.7,
        "unexplained": 0.59,
    }
    assert (row["handoffs"], row["handoff_gap_ns"]) == (1, 0.8 * MS)
    assert (row["lead_ns"], row["tail_ns"]) == (0.6 * MS, 0.4 * MS)


def test_without_hardware_tables_waiting_and_execution_are_not_told_apart(trace_of, watercolor):
    del watercolor["hardware"]
    rows = breakdown(trace_of(watercolor.pop("activity"), (), **watercolor))
    row = first(rows)
    assert (row["neural_engine_requested_ns"], row["gpu_requested_ns"]) == (3.5 * MS, 3.0 * MS)
    unknown = (
        "neural_engine_ns",
        "gpu_ns",
        "neural_engine_queue_ns",
        "gpu_queue_ns",
        "neural_engine_busy_ns",
        "segments",
    )
    assert [row[name] for name in unknown] == [None] * len(unknown)
    (ane,) = [part for part in summarize_breakdown(rows).parts if part.part == Part.ANE]
    assert (ane.total_ns, ane.share, ane.known, ane.unknown) == (None, None, 0, (Unknown.NOT_SPLIT,))


def test_a_missing_table_hides_the_unit_and_an_empty_one_shows_that_it_did_not_work(events, trace_of):
    known, hidden = (breakdown(trace_of(events((0, 10)), recorded)) for recorded in (BOTH, ("GPU",)))
    names = ("neural_engine_ns", "neural_engine_queue_ns", "handoffs", "gpu_ns")
    assert [first(known)[name] for name in names] == [0, 0, 0, 0]
    assert [first(hidden)[name] for name in names] == [None, None, None, 0]
    assert summarize_breakdown(hidden).parts[0].unknown == (Unknown.NOT_RECORDED,)


DECODE = (
    (3339285666, 3352683041, 3340589958, 3352571083),
    (3352792708, 3365723083, 3353693916, 3365625166),
    (3365879083, 3379147916, 3366820833, 3378970416),
    (3379325708, 3392553000, 3380406083, 3392479250),
)
"""The first decode calls of a speech app: prediction, Neural Engine row (reference, 10.3)."""


def test_the_decode_calls_of_the_speech_app_come_out_as_published(events, trace_of):
    engine = events(
        *[row[2:] for row in DECODE],
        lane="neural-engine",
        kind="neural_engine_exec",
        device="neural-engine",
        prediction=[0, 1, 2, 3],
    )
    rows = breakdown(trace_of(events(*[row[:2] for row in DECODE]), BOTH, hardware=engine))
    # Reference 4.1: lead 0.90 to 1.30 ms, tail 0.07 to 0.18 ms.
    assert column(rows, "lead_ns") == [1304292, 901208, 941750, 1080375]
    assert column(rows, "tail_ns") == [111958, 97917, 177500, 73750]
    assert column(rows, "neural_engine_ns") == [11981125, 11931250, 12149583, 12073167]
    # No request rows: waiting cannot be told from the rest.
    assert column(rows, "neural_engine_queue_ns") == [None] * 4
    (queue,) = [part for part in summarize_breakdown(rows).parts if part.part == Part.ANE_QUEUE]
    assert queue.unknown == (Unknown.NO_REQUESTS,)


def test_copies_inside_a_cpu_row_count_as_data(events, trace_of):
    cpu = events((0, 400), lane="compute", kind="cpu_compute", device="cpu", prediction=0)
    copy = events((100, 204), lane="data", kind="neural_engine_data_copy", device="neural-engine", prediction=0)
    row = first(breakdown(trace_of(events((0, 500)), BOTH, data=copy, compute=cpu)))
    assert (row["cpu_ns"], row["cpu_busy_ns"], row["data_between_ns"], row["unexplained_ns"]) == (296, 400, 104, 100)


def test_rows_of_stages_belong_to_the_prediction_of_the_pipeline(events, trace_of):
    activity = events((0, 100), (10, 40), (50, 90), level=["top", "sub", "sub"], prediction=[None, 0, 0])
    compute = events(
        (15, 35), (55, 85), lane="compute", kind="cpu_compute", device="cpu", level="sub", prediction=[1, 2]
    )
    rows = breakdown(trace_of(activity, BOTH, compute=compute))
    assert column(rows, "id") == [0]
    assert (column(rows, "cpu_ns"), column(rows, "unexplained_ns")) == ([50], [50])


def test_rows_of_several_predictions_in_flight_are_a_part_of_their_own(events, trace_of):
    engine = events(
        (12, 22),
        lane="neural-engine",
        kind="neural_engine_exec",
        device="neural-engine",
        prediction=None,
        attribution="ambiguous",
    )
    copy = events((10, 14), lane="data", kind="input_copy", prediction=1)
    rows = breakdown(trace_of(events((0, 20), (10, 30), (50, 60)), BOTH, hardware=engine, data=copy))
    assert column(rows, "ambiguous_ns") == [8, 8, 0]
    assert column(rows, "unexplained_ns") == [12, 8, 10]


def test_rows_that_name_a_model_are_ambiguous_in_its_predictions_only(events, trace_of):
    activity = events((0, 20), (0, 20), (5, 25), model=["B", "A", "A"])
    engine = events(
        (8, 12), lane="neural-engine", kind="neural_engine_exec", model="A", prediction=None, attribution="label"
    )
    rows = breakdown(trace_of(activity, BOTH, hardware=engine))
    assert column(rows, "ambiguous_ns") == [0, 4, 4]
    # Whether the Neural Engine worked for one of A's calls at all is not known; for B's it did not.
    assert column(rows, "neural_engine_ns") == [0, None, None]
    assert column(rows, "handoffs") == [0, None, None]
    (ane,) = [part for part in summarize_breakdown(rows).parts if part.part == Part.ANE]
    assert (ane.known, ane.total_ns, ane.unknown) == (1, 0, (Unknown.AMBIGUOUS,))


def test_work_of_other_processes_is_no_part_of_a_prediction(events, trace_of):
    engine = events(
        (8, 12), lane="neural-engine", kind="neural_engine_exec", model=None, prediction=None, attribution="foreign"
    )
    row = first(breakdown(trace_of(events((0, 20)), BOTH, hardware=engine)))
    assert (row["neural_engine_ns"], row["ambiguous_ns"], row["unexplained_ns"]) == (0, 0, 20)


@pytest.mark.usefixtures("no_waits")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN, st.lists(st.tuples(st.integers(0, 110), st.integers(0, 30), st.sampled_from("AB")), max_size=4))
def test_ambiguous_time_is_what_else_is_left_and_keeps_the_parts_whole(events, trace_of, drawn, unsure):
    predictions = predictions_of(events, model=list("ABAB"))
    lanes = lanes_of(events, drawn)
    rows = sorted((start, start + length, model) for start, length, model in unsure)
    extra = events(
        *[row[:2] for row in rows], lane="neural-engine", kind="neural_engine_exec", device="neural-engine",
        prediction=None,
        attribution="label", model=[row[2] for row in rows],
    )  # fmt: skip
    lanes["other"] = numbered(joined([lanes["other"], extra]))
    split = breakdown(trace_of(predictions, BOTH, **lanes))
    parts = {name: column(split, name) for name in PARTS}
    assert [sum(value or 0 for value in of_one) for of_one in zip(*parts.values(), strict=True)] == [WHOLE] * 4
    for owner, model in enumerate("ABAB"):
        free = counted(drawn, owner)["unexplained"]
        sure = [any(row.owner == owner and row.at <= t < row.at + row.length for row in drawn) for t in range(WHOLE)]
        expected = sum(
            not sure[t] and any(start <= EVERY * owner + t < end and model == name for start, end, name in rows)
            for t in range(WHOLE)
        )
        assert parts["ambiguous_ns"][owner] == expected
        assert parts["unexplained_ns"][owner] == free - expected


def test_loads_and_compilations_of_the_neural_engine_are_no_execution(events, trace_of):
    engine = events(
        (0, 10), (10, 20), lane="neural-engine", kind=["neural_engine_load", "neural_engine_compile"], prediction=0
    )
    row = first(breakdown(trace_of(events((0, 50)), BOTH, hardware=engine)))
    assert (row["neural_engine_ns"], row["unexplained_ns"]) == (0, 50)


def test_hand_offs_are_changes_of_the_unit_in_order_of_time(events, trace_of):
    # The language model of the reference (3.6 and 10.2): CPU, Neural Engine, CPU, Neural Engine.
    compute = events(
        (10, 20), (22, 70), (75, 80), (80, 90), lane="compute",
        device=["cpu", "neural-engine", "cpu", "neural-engine"], prediction=0,
        kind=["cpu_compute", "neural_engine_request", "cpu_compute", "neural_engine_request"],
    )  # fmt: skip
    row = first(breakdown(trace_of(events((0, 100)), (), compute=compute)))
    # The GPU was neither recorded nor asked, so units may be hidden.
    assert row["handoffs"] is None
    split = breakdown(trace_of(events((0, 100)), ("GPU",), compute=compute))
    row = first(split)
    assert (row["handoffs"], row["handoff_gap_ns"]) == (3, 2 + 5)
    assert [UNITS[unit] for unit in split.handoffs.source] == ["cpu", "neural-engine", "cpu"]
    assert [UNITS[unit] for unit in split.handoffs.target] == ["neural-engine", "cpu", "neural-engine"]


def test_hand_offs_of_some_predictions_are_those_of_each():
    handoffs = Handoffs(np.array([0, 0, 2, 5]), np.array([0, 1, 1, 2], np.int8), np.array([1, 0, 2, 0], np.int8))
    some = handoffs.of(np.array([5, 1, 0]))
    assert [some.window.tolist(), some.source.tolist(), some.target.tolist()] == [[0, 2, 2], [2, 0, 1], [0, 1, 0]]
    assert len(handoffs.of(np.zeros(0, np.int64)).window) == 0


def test_preparing_a_request_while_another_unit_works_is_no_hand_off(events, trace_of):
    compute = events(
        (0, 50), (10, 20), (60, 90), lane="compute", kind=["neural_engine_request", "gpu_prepare", "gpu_request"],
        device=["neural-engine", "gpu", "gpu"], prediction=0,
    )  # fmt: skip
    assert first(breakdown(trace_of(events((0, 100)), (), compute=compute)))["handoffs"] == 1


def test_segments_are_distinct_operations_and_unknown_where_a_label_names_none(events, trace_of):
    engine = events(
        *[(k, k + 1) for k in range(6)],
        lane="neural-engine",
        kind="neural_engine_exec",
        prediction=[0, 0, 0, 1, 1, 2],
        operation=[1, 3, 1, 0, None, 2],
    )
    rows = breakdown(trace_of(events((0, 10), (0, 10), (0, 10), (0, 10)), BOTH, hardware=engine))
    assert column(rows, "segments") == [2, None, 1, 0]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12), st.sampled_from("ABC")), min_size=1, max_size=9))
def test_time_shared_with_other_models_is_counted_instant_by_instant(events, trace_of, drawn):
    rows = sorted((start, start + length, name) for start, length, name in drawn)
    split = breakdown(trace_of(events(*[row[:2] for row in rows], model=[row[2] for row in rows])))
    for index, (start, end, name) in enumerate(rows):
        others = [(s, e) for s, e, other in rows if other != name]
        expected = sum(any(s <= t < e for s, e in others) for t in range(start, end))
        assert split.every.other_models_ns[index] == expected


def test_predictions_inferred_from_hardware_know_only_hardware(events, trace_of):
    activity = events((0, 100), attribution="inferred")
    gpu = events((0, 30), (40, 100), lane="gpu", kind="gpu_exec", device="gpu", prediction=0)
    rows = breakdown(trace_of(activity, ("GPU",), hardware=gpu))
    row = first(rows)
    assert (row["gpu_ns"], row["unexplained_ns"], row["not_recorded_ns"]) == (90, 0, 10)
    unknown = {part.part: part.unknown for part in summarize_breakdown(rows).parts if part.unknown}
    assert unknown.pop("neural_engine") == (Unknown.NOT_RECORDED,)
    assert set(unknown.values()) == {(Unknown.NO_CORE_ML,)}
    assert "cpu" in unknown
    assert "gpu" not in unknown


def test_a_part_of_the_predictions_can_be_looked_at_alone(events, trace_of):
    rows = breakdown(trace_of(events((0, 10), (20, 40), ids=[0, 1]), BOTH))
    assert rows.of(np.array([1])).rows.id.tolist() == [1]
    assert summarize_breakdown(rows.of(np.array([1]))).total_ns == 20


def test_nothing_recorded_is_no_summary(events, trace_of):
    assert summarize_breakdown(breakdown(trace_of(events()))) is None


def test_work_of_the_engine_that_runs_past_a_prediction_does_not_make_its_time_there_zero():
    scenario = Scenario(Process("Camera", 412), duration_ns=1_000 * MS)
    for start in (100, 200):
        scenario.predict(Model("Net"), start * MS, 50 * MS)
    # From the 30th ms of the first prediction to the 70th, and names nobody.
    scenario.other_neural_engine(130 * MS, 40 * MS)
    split = breakdown(handover.trace_of(scenario))
    assert [REASONS[code] if code >= 0 else None for code in split.unknown[Part.ANE]] == [Unknown.AMBIGUOUS, None]
    assert column(split, Part.ANE.column)[1] == 0
    assert column(split, Part.AMBIGUOUS.column) == [20 * MS, 0]
