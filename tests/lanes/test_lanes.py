"""Lanes of what is not an event of Core ML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tracekit.lanes.categories import Category
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.trace.instruments.tables import MetalPipelines


def pipelines(*functions: str | None) -> MetalPipelines:
    count = len(functions)
    return MetalPipelines.listed(count, {"start_ns": [1_000 * k for k in range(count)], "function": functions})


@pytest.mark.parametrize("grouping", Grouping)
def test_metal_pipelines_have_a_lane_that_names_their_functions(reload_trace, grouping):
    compiled = pipelines("softmax", "conv", None, "softmax")
    trace = replace(reload_trace, context={**reload_trace.context, "metal_pipelines": compiled})
    (lane,) = [lane for lane in lanes_of(trace, grouping) if lane.title == "Metal pipelines"]
    assert [lane.events.label(row) for row in range(4)] == ["softmax", "conv", "", "softmax"]
    assert set(lane.events.categories.tolist()) == {Category.COMPILE}
    assert lane.events.starts.tolist() == lane.events.ends.tolist() == compiled.start_ns.tolist()


def test_without_compiled_pipelines_there_is_no_lane_of_them(reload_trace):
    trace = replace(reload_trace, context={**reload_trace.context, "metal_pipelines": pipelines()})
    assert "Metal pipelines" not in {lane.title for lane in lanes_of(trace, Grouping.LANES)}
