"""What a detector is, and what it is given.

A detector is metadata, typed options with defaults, and one pure function from what it sees to an outcome: it sees a
`ModelView` (`Detector`), a `RecordingView` (`RecordingDetector`) or an `InspectedModel` (`ModelFileDetector`). The
runner decides whether it could look at all, so that it never has to abstain for lack of a table named in `needs`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from tracekit.detectors.answers import RECORD_CORE_ML
from tracekit.detectors.outcomes import Answering, Finding, Metric, Outcome
from tracekit.detectors.pages import BESIDE, Page, page_beside
from tracekit.units import format_time

if TYPE_CHECKING:
    from tracekit.analysis.ledger.causes import Cause
    from tracekit.detectors.views import ModelView, RecordingView
    from tracekit.model_files.engine import Placement
    from tracekit.model_files.engine_limits import Limit
    from tracekit.model_files.facts import ModelFile
    from tracekit.model_files.versions import Target
    from tracekit.trace.events import Origin

Options = TypeVar("Options")
Precondition = Callable[[Any, Any], "Outcome | None"]
"""What a rule asks before it looks: from a view and options to the answer where it cannot, and None where it can."""


def any_prediction(view: ModelView, _options: Any = None) -> Outcome | None:
    """There is a prediction."""
    return view.not_applicable("No prediction was recorded.") if not len(view.predictions) else None


def any_load(unknown: str) -> Precondition:
    """A load was recorded; `unknown` says what cannot be known otherwise."""

    def check(view: ModelView, _options: Any) -> Outcome | None:
        if len(view.loads):
            return None
        if view.may_have_loads:
            reason = f"Call stacks do not tell which loads are of this model, so it is unknown {unknown}."
            return view.unknown(reason, RECORD_CORE_ML)
        reason = f"No load of this model was recorded, so it is unknown {unknown}."
        return view.unknown(reason, "Start recording before the app loads the model.")

    return check


def least_predictions(view: ModelView, options: Any) -> Outcome | None:
    """There are at least as many predictions as the option `min_predictions` says."""
    count, needed = len(view.predictions), options.min_predictions
    return view.too_few_predictions(count, needed) if count < needed else None


def least_mean(view: ModelView, options: Any) -> Outcome | None:
    """Predictions average at least `min_mean_ms`, an option."""
    mean_ns = float(view.durations.mean())
    return too_short(view, mean_ns) if mean_ns < options.min_mean_ms * 1e6 else None


def too_short(view: ModelView, mean_ns: float) -> Outcome:
    """The answer where predictions are too short for what costs every one of them."""
    words = "too short to evaluate: per-call overhead dominates"
    return view.not_applicable(f"Predictions average {format_time(mean_ns)}, {words}.")


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The check has no threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata(Generic[Options]):
    """What every detector says of itself."""

    id: str = ""
    """Noun of what is found, kebab case; the name of the page where none is given."""
    page: Page = BESIDE
    """What is written about it."""
    needs: tuple[str, ...] = ()
    """Instruments (names in `Trace.coverage`) that must hold rows; inferred calls of `origins` stand in for Core ML."""
    uses: tuple[str, ...] = ()
    """Instruments that the answer rests on too where they were recorded. Where other processes use the Neural Engine
    and it is named here or in `needs`, the answer says so."""
    origins: tuple[Origin, ...] = ()
    """What besides Core ML may show the calls that it judges. Such calls hold no data or compute rows and begin and end
    within bounds: the runner asks several times, with other times that fit, and only the answer that holds for all
    counts. Calls of `Origin.HARDWARE` end with their last hardware row, and have no loads."""
    joins: bool = False
    """The answer depends on which loads and predictions are of one model: where other sources than Core ML do not tell,
    it is not evaluated. Each load must be known, as far as samples show loads."""
    counts: bool = False
    """The same where findings rest on single predictions: each must be known to be one, all if nothing is found."""
    on_evidence: bool = False
    """Only those of its evidence: that others seem longer because they are several makes it no more likely."""
    causes: tuple[Cause, ...] = ()
    """Causes of slow predictions that its finding is about, as the account of time names them (`tracekit why`): the
    closest first. What `Cause.FIRST` is among them is about first predictions after a load alone."""
    caused_by: tuple[str, ...] = ()
    """Ids of detectors whose problem can bring this one about; both findings then lead to one fix."""
    options: type[Options]
    """A frozen dataclass, such as `tk.Options` makes; every field is made by `option`."""
    package: str = ""
    """Distribution that a plug-in came with, filled in when it is loaded; empty for tracekit's own detectors."""
    detect: Callable[[Any, Any], Outcome]
    """The rule: a pure function."""

    def __post_init__(self) -> None:
        if self.page is BESIDE:
            try:
                page = page_beside(str(sys.modules[self.detect.__module__].__file__))
            except (KeyError, AttributeError, OSError) as error:
                raise TypeError("no page of that name lies beside the rule; pass page=tk.page_beside(...)") from error
            object.__setattr__(self, "page", page)
        if not self.id:
            object.__setattr__(self, "id", self.page.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector(Metadata[Options]):
    """One antipattern that a model can have."""

    asks: tuple[Precondition, ...] = (any_prediction,)
    """What is asked first, in this order: the first answer stands, and the rule looks only where there is none."""
    detect: Callable[[ModelView, Options], Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDetector(Metadata[Options]):
    """One antipattern of the recording as a whole, or of several models together.

    Its findings name no model; a finding about several models names them in its summary.
    """

    asks: tuple[Precondition, ...] = ()
    """As of a `Detector`."""
    detect: Callable[[RecordingView, Options], Outcome]


@dataclass(frozen=True, slots=True)
class InspectedModel(Answering):
    """What a detector sees of a model file."""

    model: ModelFile
    target: Target | None
    """The system that it shall load on, where the user named one."""
    placements: tuple[Placement, ...] = ()
    """What the file says of each function and the Neural Engine."""

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def limits(self, check: str) -> list[Limit]:
        """Limits of a check that keep a function as a whole off the Neural Engine, each once."""
        known = (limit for placement in self.placements for limit in placement.whole if limit.check == check)
        return list(dict.fromkeys(known))

    def finding(self, summary: str, metrics: tuple[Metric, ...] = (), *, fix: str = "") -> Finding:
        """The antipattern is there; `fix` as in `Finding`."""
        return Finding(self.name, summary, metrics, None, (), fix=fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFileDetector(Metadata[Options]):
    """One antipattern that a model file can have.

    A file has no times, so its findings have neither cost nor evidence, and no severity.
    """

    detect: Callable[[InspectedModel, Options], Outcome]


AnyDetector = Detector[Any] | RecordingDetector[Any]
"""What is run on recordings."""
ListedDetector = AnyDetector | ModelFileDetector[Any]
"""What `tracekit explain` lists and explains."""


class Judgment(NamedTuple):
    """One answer of one detector."""

    detector: ListedDetector
    outcome: Outcome
    caveats: tuple[str, ...] = ()
    """What the reader must know before relying on the answer, one sentence each."""
