"""The panes, in the order of their tabs. Adding one is one file, one line here and one action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.detail.aggregation import AggregationPane
from tracekit.tui.detail.code import CodePane
from tracekit.tui.detail.compare import ComparePane
from tracekit.tui.detail.events import EventsPane
from tracekit.tui.detail.facts import FactsPane
from tracekit.tui.detail.findings import FindingsPane
from tracekit.tui.detail.models import ModelsPane
from tracekit.tui.detail.predictions import PredictionsPane

if TYPE_CHECKING:
    from tracekit.tui.detail.pane import DetailPane

PANES: tuple[type[DetailPane], ...] = (
    FindingsPane,
    AggregationPane,
    EventsPane,
    PredictionsPane,
    ModelsPane,
    FactsPane,
    CodePane,
    ComparePane,
)
