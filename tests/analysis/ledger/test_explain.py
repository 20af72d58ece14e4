"""One prediction explained, and the tail of a model."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from support.handover import trace_of
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.choice import Choice, chosen
from tracekit.analysis.ledger.explain import Known, tail, why
from tracekit.testing import Model, Process, Scenario
from tracekit.testing.code import Code
from tracekit.trace.build import open_trace

MS = 1_000_000
NET, OTHER = Model("Net"), Model("Other")


def recording(waits_ms: dict[int, int], *, label: str = OTHER.engine_label(0)) -> Scenario:
    """Forty predictions of 10 ms, 100 ms apart, which by number wait so long for the Neural Engine."""
    scenario = Scenario(Process("App", 412), duration_ns=9_000 * MS)
    scenario.load(NET, MS, 20 * MS)
    for number in range(40):
        start, wait = (100 + 100 * number) * MS, waits_ms.get(number, 0) * MS
        if wait:
            scenario.other_neural_engine(start - 5 * MS, 6 * MS + wait, label)
        scenario.predict(NET, start, 10 * MS + wait).neural_engine(1 * MS + wait, 8 * MS)
    return scenario


def test_a_wait_names_whose_work_it_was_and_where_it_is_recorded():
    trace = trace_of(recording({30: 25}))
    found = why(trace, int(np.flatnonzero(trace.activity.start_ns == 3_100 * MS)[0]))
    assert found is not None
    assert (found.duration_ns, found.usual_ns, found.extra_ns) == (35 * MS, 10 * MS, 25 * MS)
    (part,) = found.parts
    assert (part.cause, part.ns, part.low_ns, part.high_ns) == (Cause.QUEUED_PROCESSES, 25 * MS, 25 * MS, 25 * MS)
    assert part.known is Known.ROWS
    (blocker,) = part.behind
    assert (blocker.unit, blocker.model, blocker.process, blocker.predictions) == ("neural-engine", "Other", None, 0)
    assert (blocker.ns, blocker.first_ns, blocker.table) == (25 * MS, 3_095 * MS, "ane-hw-intervals-internal")
    assert found.usual == {"neural-engine": 8 * MS, "rest": 2 * MS}
    assert (found.in_flight, found.is_first, found.compared) == (1, False, 39)


def test_earlier_predictions_of_the_model_are_counted():
    scenario = recording({})
    for number in range(4):
        call = scenario.predict(NET, 5_000 * MS + number * 10_000, (2 + 8 * (number + 1)) * MS)
        call.neural_engine(1 * MS + number * (8 * MS - 10_000), 8 * MS)
    trace = trace_of(scenario)
    found = why(trace, len(trace.activity) - 1)
    assert found is not None
    part = found.parts[0]
    assert (part.cause, part.known, found.in_flight) == (Cause.QUEUED_OWN, Known.ORDER, 4)
    assert [blocker.predictions for blocker in part.behind] == [3]
    assert part.ns / MS == pytest.approx(24, abs=0.1)


def test_where_every_prediction_follows_a_load_none_is_warm():
    scenario = Scenario(Process("App", 412), duration_ns=2_000 * MS)
    for number in range(5):
        scenario.load(NET, (100 + 200 * number) * MS, 20 * MS)
        scenario.predict(NET, (150 + 200 * number) * MS, (10 + number) * MS).neural_engine(1 * MS, 8 * MS)
    trace = trace_of(scenario)
    found = why(trace, len(trace.activity) - 1)
    assert found is not None
    assert (found.compared, found.is_cold, found.is_first) == (5, True, False)


def test_the_caller_is_the_function_that_samples_show():
    scenario = recording({30: 25})
    code = Code(scenario)
    for row in [row for row in scenario.coreml if row.label == "Prediction"]:
        code.predict(row.start_ns, row.duration_ns, [])
    trace = trace_of(scenario)
    found = why(trace, 1 + int(trace.activity.duration_ns[1:].argmax()))
    assert found is not None
    assert found.called_from is not None
    assert (found.called_from.function, found.called_from.file, found.called_from.line) == (
        "App.apply",
        "Style.swift",
        42,
    )


def test_the_tail_holds_what_its_predictions_take_beyond_usual_ones():
    waits = {10: 20, 20: 30, 30: 40}
    found = tail(trace_of(recording(waits)), "Net", 0.95)
    assert found is not None
    durations = np.array([10 * MS] * 36 + [30 * MS, 40 * MS, 50 * MS])
    value = float(np.quantile(durations, 0.95))
    assert found.ns == round(value)
    slow = durations[durations >= value]
    assert (found.count, found.extra_ns) == (len(slow), int(slow.sum()) - len(slow) * 10 * MS)
    assert found.parts == {"queued_processes": found.extra_ns}
    assert found.behind is not None
    assert found.behind.model == "Other"


def test_a_tail_needs_as_many_values_as_its_quantile():
    trace = trace_of(recording({10: 20}))
    assert tail(trace, "Net", 0.99) is None
    assert tail(trace, "Nobody") is None


def test_the_slowest_come_first_and_a_time_finds_what_was_in_flight():
    trace = trace_of(recording({10: 20, 20: 30}))
    models = ledger(trace)

    def numbers(**choice) -> list[int]:
        """Numbers of the chosen predictions."""
        labels = chosen(models, Choice(**choice)).get("Net", ())
        return [(int(trace.activity.start_ns[label]) // MS - 100) // 100 for label in labels]

    assert numbers() == [20]
    assert numbers(slowest=2) == [20, 10]
    assert numbers(over_ns=25 * MS) == [20, 10]
    assert numbers(over_ns=35 * MS) == [20]
    assert numbers(over_ns=50 * MS) == []
    assert numbers(at_ns=1_105 * MS) == [10]
    # Between two predictions, the next.
    assert numbers(at_ns=1_150 * MS) == [11]
    assert numbers(at_ns=8_000 * MS) == []
    durations = [35 if number == 20 else 10 for number in range(40)]
    assert durations[numbers(percentile=50)[0]] == 10


def test_without_a_name_the_busiest_model_is_meant():
    scenario = recording({})
    for number in range(5):
        scenario.predict(OTHER, (5_000 + 100 * number) * MS, 90 * MS)
    models = ledger(trace_of(scenario))
    assert set(chosen(models, Choice())) == {"Other"}
    assert set(chosen(models, Choice(), named=True)) == {"Net", "Other"}


def test_the_parts_of_one_prediction_are_sorted_and_add_up(samples):
    trace = open_trace(samples / "style_transfer_reload.trace")
    models = ledger(trace)
    assert len(models) == 5
    for name, found in models.items():
        for label in found.calls.id[:5]:
            explained = why(trace, int(label))
            assert explained is not None
            assert explained.model == name
            assert sum(part.ns for part in explained.parts) == explained.extra_ns
            assert all(one.ns >= two.ns for one, two in pairwise(explained.parts))
