"""Names in the two tables of a report."""

from __future__ import annotations

from tracekit.analysis.aggregation import AggregationRow
from tracekit.analysis.models import ModelSummary
from tracekit.analysis.statistics import Statistics
from tracekit.documents.report_events import event_rows
from tracekit.documents.report_models import LatencyRow

NUMBERS = Statistics(2, 14, 14, 7.0, 6, 7.0, None, None, None, 8, 1.4)
WARM_NUMBERS = Statistics(1, 6, 6, 6.0, 6, 6.0, None, None, None, 6, None)


def event(level: str) -> AggregationRow:
    """A prediction row of the aggregation."""
    return AggregationRow("activity", "Prediction", "prediction", False, "Encoder", level, NUMBERS, WARM_NUMBERS)


def model(level: str, *parents: str) -> ModelSummary:
    """A model with two predictions."""
    return ModelSummary("Encoder", level, parents, 1, 0, None, 2, NUMBERS, None)


def test_what_a_model_did_as_a_stage_is_told_from_what_the_app_called():
    assert [row.event for row in event_rows(event("top"))] == ["Prediction", "Prediction, warm"]
    assert [row.event for row in event_rows(event("sub"))] == ["Prediction, as a stage", "Prediction, as a stage, warm"]


def test_a_model_that_is_called_and_a_stage_is_not_called_a_mere_stage():
    assert LatencyRow(model("top"), None).name == "Encoder"
    assert LatencyRow(model("sub", "Pipe"), None).name == "Encoder (stage of Pipe)"
    assert LatencyRow(model("top", "Pipe"), None).name == "Encoder (also stage of Pipe)"
