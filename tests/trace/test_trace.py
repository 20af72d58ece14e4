"""What is kept with a trace: found once, for that trace alone."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from tracekit.trace.build import build_trace
from tracekit.trace.cache import Cache
from tracekit.trace.trace import cached_by_trace


def test_an_answer_is_worked_out_once_for_each_trace(make):
    calls = []

    @cached_by_trace
    def rows(trace) -> int:
        """Rows of the activity."""
        calls.append(trace)
        return len(trace.activity)

    one = build_trace(make.recording(make.coreml((0, 1, "Prediction", "n"))))
    other = replace(one)
    assert [rows(one), rows(other), rows(one)] == [len(one.activity)] * 3
    assert [trace is one for trace in calls] == [True, False]
    assert rows.__doc__ == "Rows of the activity."


def test_keys_are_apart_and_failures_are_not_kept():
    cache = Cache()

    def fail() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cache.get("a", fail)
    assert [cache.get("a", lambda: 1), cache.get("b", lambda: 2), cache.get("a", lambda: 3)] == [1, 2, 1]


def test_a_copy_begins_empty():
    cache = Cache()
    cache.get("a", lambda: 1)
    assert copy.deepcopy(cache).get("a", lambda: 2) == 2
    assert cache.get("a", lambda: 2) == 1
