"""Two uses of one model in one recording give the findings of each, whatever sets them apart."""

import pytest

from suite.joined import OTHER, differences, joined, pairs, recorded
from suite.processes import on_all_processors

SAMPLED = 140
"""Without `--every-case`, one in so many labeled recordings is joined to another one."""


@pytest.mark.parametrize("what", ["load", "instance", "process"])
def test_two_uses_are_judged_as_each_alone(request, what):
    step = 1 if request.config.getoption("--every-case") else SAMPLED
    chosen = pairs(step)
    assert len(chosen) > 1
    wrong = on_all_processors(COMPLAINTS[what], chosen)
    assert not any(wrong), "\n" + "\n".join(line for lines in wrong for line in lines)


def _complaints(pair, *, again, process):
    first, second = (recorded(*use) for use in pair)
    number = first.coreml[0].model.instance
    whole = joined(first, second, number if again else number + 1, process)
    return [f"{pair}: {line}" for line in differences(first, second, whole)]


def of_loads(pair):
    return _complaints(pair, again=True, process=None)


def of_instances(pair):
    return _complaints(pair, again=False, process=None)


def of_processes(pair):
    return _complaints(pair, again=False, process=OTHER)


COMPLAINTS = {"load": of_loads, "instance": of_instances, "process": of_processes}
