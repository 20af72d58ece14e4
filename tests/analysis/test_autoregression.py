"""Whether sequences of calls open with long ones."""

import numpy as np
import pytest

from tracekit.analysis.autoregression import opens_sequence


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        pytest.param([[30, 10, 10], [30, 10, 10]], [1, 0, 0, 1, 0, 0], id="each opens with a long call"),
        pytest.param([[30, 30, 10, 10, 10]] * 2, [1, 1, 0, 0, 0] * 2, id="with two"),
        pytest.param([[30, 10, 10], [10, 10, 10], [10, 10, 10]], [0] * 9, id="too seldom"),
        pytest.param([[30, 10, 10]], [0] * 3, id="only one sequence"),
        pytest.param([[10, 30, 10]] * 2, [0] * 6, id="not at the beginning"),
        pytest.param([[14, 10, 10]] * 2, [0] * 6, id="not long enough"),
        pytest.param([[30] * 8 + [10] * 20] * 2, ([1] * 8 + [0] * 20) * 2, id="a long prompt in pieces"),
        pytest.param([[30] * 9 + [10] * 20] * 2, [0] * 58, id="more than a prompt"),
    ],
)
def test_long_calls_that_open_sequences(groups, expected):
    values = np.array([value for group in groups for value in group], np.int64)
    burst = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    assert opens_sequence(values, burst).tolist() == [bool(flag) for flag in expected]
