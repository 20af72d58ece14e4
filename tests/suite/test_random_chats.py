"""Healthy random sessions with language models hold no finding."""

import pytest

from suite.random_chats import CHATS, false_alarms

EVERY = 500
"""Chats with `--every-case`."""


@pytest.mark.parametrize("part", range(2))
def test_healthy_chats_hold_no_finding(request, part):
    count = EVERY if request.config.getoption("--every-case") else 2 * len(CHATS)
    assert [line for seed in range(part, count, 2) for line in false_alarms(seed)] == []
