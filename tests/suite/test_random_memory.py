"""Sessions without a problem of memory: nothing of it is found."""

import pytest

from suite.random_memory import false_alarms

COUNT = 8
"""Sessions in an ordinary run; `make accuracy` judges 500."""


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_healthy_session_has_no_finding_about_memory(request, seed):
    seeds = range(seed, 500, COUNT) if request.config.getoption("--every-case") else (seed,)
    assert [line for each in seeds for line in false_alarms(each)] == []
