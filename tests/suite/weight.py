"""What the findings of a labeled case must weigh: how severe they are, what their fix saves, where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Savings, severity_of
from tracekit.detectors.ranking import RankedFinding, rank
from tracekit.detectors.replayed import Replays
from tracekit.trace.trace import Trace

TOLERANCE = 0.02
"""For what a call takes around its work."""


@dataclass(frozen=True)
class Weight:
    """Ground truth of the recording; what is not given is not asked."""

    severity: str = ""
    """Of each finding of the detector."""
    savings_ms: float | None = None
    """What the fixes of all its findings save together; 0 where they are facts that cost nothing."""
    share: float | None = None
    """What the fix of each finding saves of the time of its model's loads and predictions."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Values of the finding about each model, by id, in the unit of the metric."""
    first: bool = False
    """Whether the findings of other detectors, of which there are some, stand below."""

    def complaints(self, detector: str, judgments: Sequence[Judgment], trace: Trace) -> list[str]:
        """What is not so of the findings in a trace, one line each."""
        replays = Replays(trace, judgments)
        ranked = rank(replays.answers(judgments), replays.together_ns)
        own = [entry for entry in ranked if entry.judgment.detector.id == detector]
        return [*self._of_findings(own), *self._of_place(detector, ranked)]

    def _of_findings(self, own: Sequence[RankedFinding]) -> Iterator[str]:
        costs = [entry for entry in own if entry.judgment.outcome.cost or isinstance(entry.savings, Savings)]
        if self.savings_ms == 0 and costs:
            yield f"{len(costs)} cost or save time, and should save nothing"
        elif self.savings_ms is not None:
            saved = sum(entry.savings.total_ns for entry in own if isinstance(entry.savings, Savings)) / 1e6
            yield from _differences("savings in ms", saved, self.savings_ms)
        for entry in own:
            finding = entry.judgment.outcome
            if self.severity and severity_of(finding) != self.severity:
                yield f"is {severity_of(finding)}, should be {self.severity}"
            if self.share is not None:
                known = finding.savings if isinstance(finding.savings, Savings) else finding.cost
                yield from _differences("share", known and known.share, self.share)
            values = {metric.id: metric.value for metric in finding.metrics}
            for name, wanted in self.metrics.items():
                yield from _differences(name, values.get(name), wanted)

    def _of_place(self, detector: str, ranked: Sequence[RankedFinding]) -> Iterator[str]:
        order = list(dict.fromkeys(entry.judgment.detector.id for entry in ranked))
        if self.first and (order[:1] != [detector] or len(order) == 1):
            yield f"should stand first of several: {order}"


def _differences(name: str, value: float | None, wanted: float) -> Iterator[str]:
    if value is None or abs(value - wanted) > TOLERANCE * abs(wanted):
        yield f"{name}: {value}, should be {wanted}"
