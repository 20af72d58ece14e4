"""What sets instances of one name apart."""

import pytest

from tracekit.analysis import instances
from tracekit.analysis.breakdown.device_runs import UNITS


def calls(events, instances):
    return events(*[(k * 100, k * 100 + 50) for k in range(len(instances))], instance=list(instances))


def linked(events, places, kind, **columns):
    return events(*[(k, k + 1) for k in range(len(places))], kind=kind, prediction=list(places), **columns)


@pytest.fixture
def traits(events, trace_of):
    """Traits of calls, from rows of `data`, of the hardware, which was recorded unless told, and of `compute`."""

    def of(predictions, data, hardware, compute=None, recorded=("Neural Engine", "GPU")):
        compute = events() if compute is None else compute
        trace = trace_of(predictions, recorded, data=data, compute=compute, hardware=hardware)
        return instances.traits(trace, predictions, data, compute, hardware)

    return of


def test_instances_of_different_inputs_differ(events, traits):
    data = linked(events, [0, 1, 1, 1, 2, 3, 3, 3], "input_copy")
    known = traits(calls(events, [1, 2, 1, 2]), data, events())
    assert known.inputs.tolist() == [1, 3, 1, 3]
    assert known.interfaces == 2
    assert known.kinds().tolist() == [0, 1, 0, 1]
    assert known.difference() == "number of inputs"


def test_a_call_without_copies_tells_nothing_of_its_inputs(events, traits):
    known = traits(calls(events, [1, 2, 1, 2]), linked(events, [1, 1, 3, 3], "input_copy"), events())
    assert known.inputs.tolist() == [0, 2, 0, 2]
    assert known.interfaces == 1
    assert known.kinds().tolist() == [0] * 4
    assert known.difference() == ""


def test_inputs_that_change_from_call_to_call_are_no_trait(events, traits):
    data = linked(events, [0, 1, 1, 2, 2, 2, 3], "input_copy")
    assert traits(calls(events, [1, 1, 1, 2]), data, events()).inputs.tolist() == [0, 0, 0, 1]


def test_instances_on_different_units_differ(events, traits):
    hardware = linked(events, [0, 2, 3], ["neural_engine_exec", "neural_engine_exec", "gpu_exec"])
    known = traits(calls(events, [1, 2, 1, 3]), events(), hardware)
    # The second shows no unit at all: it ran on the CPU.
    assert known.kinds().tolist() == [2, 0, 2, 1]
    assert known.difference() == "compute unit"


def test_a_unit_that_an_instance_uses_at_times_sets_nothing_apart(events, traits):
    hardware = linked(events, [0, 1, 3], "gpu_exec")
    known = traits(calls(events, [1, 2, 1, 2]), events(), hardware)
    assert known.ran[:, UNITS.index("gpu")].tolist() == [-1, 1, -1, 1]
    assert known.kinds().tolist() == [0] * 4


def test_calls_of_different_processes_differ_whatever_their_number(events, traits):
    hardware = linked(events, [0, 1, 2], "gpu_exec", pid=[7, 9, 7])
    known = traits(calls(events, [1, 1, 1]), events(), hardware)
    assert known.pid.tolist() == [7, 9, 7]
    assert known.processes == 2
    assert known.kinds().tolist() == [0, 1, 0]


def test_without_calls_there_are_no_traits(events, traits):
    known = traits(events(), events(), events())
    assert known.kinds().tolist() == []
    assert (known.interfaces, known.processes, known.difference()) == (0, 0, "")


@pytest.mark.parametrize(
    ("kind", "unit"), [("neural_engine_request", "neural-engine"), ("gpu_request", "gpu"), ("cpu_compute", "cpu")]
)
def test_requests_and_cpu_rows_tell_the_unit_where_the_hardware_was_not_recorded(events, traits, kind, unit):
    rows = events((101, 149), (301, 349), kind=kind, device=unit, lane="compute", prediction=[1, 3])
    known = traits(calls(events, [1, 2, 1, 2]), events(), events(), rows, recorded=())
    assert known.ran[:, UNITS.index(unit)].tolist() == [0, 1, 0, 1]
    assert known.difference() == "compute unit"
    assert len(set(known.kinds().tolist())) == 2


def test_requests_are_no_work_where_the_hardware_was_recorded(events, traits):
    rows = events((101, 149), (301, 349), kind="gpu_request", device="gpu", lane="compute", prediction=[1, 3])
    assert traits(calls(events, [1, 2, 1, 2]), events(), events(), rows).ran[:, UNITS.index("gpu")].tolist() == [0] * 4


def test_time_in_which_three_are_at_work_counts_once(events, traits):
    """100 ns at work, in 40 of them two instances and in 20 all three."""
    loads = events((0, 1), (1, 2), (2, 3), kind="load", instance=[1, 2, 3])
    predictions = events((100, 200), (140, 200), (180, 200), instance=[1, 2, 3])
    (used,) = instances.instances_by_kind(loads, predictions, traits(predictions, events(), events()), min_calls=1)
    assert used.parallel_share == 0.6
