"""`Trace`: what one run of a recording means, which recording it is of, and what is worked out from it once."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from tracekit.characters import visible
from tracekit.recording.table import TableState
from tracekit.trace.cache import Cache, cached
from tracekit.trace.calls.sites import Sites
from tracekit.trace.context import AnyContext, ContextRows, rows_of_class
from tracekit.trace.events import Attribution, Calls, Events
from tracekit.trace.instruments.frames import Frames
from tracekit.trace.instruments.memory import MemoryRows
from tracekit.trace.models import Models
from tracekit.trace.requests.frame import Requests
from tracekit.trace.runtimes.phases import Phases
from tracekit.trace.samples import COUNTED, SampleRows, Samples, SampleSource, StackRows
from tracekit.trace.sharing import Sharing
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.model_files.facts import ModelFile
    from tracekit.model_files.performance.facts import PerformanceReport
    from tracekit.recording.contents import Contents, Run
import hashlib
from datetime import UTC, datetime

from tracekit.trace.events import Origin

Facts = TypeVar("Facts")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What can and what cannot be concluded from one instrument of this recording."""

    instrument: str
    """Instruments' own name: `Core ML`, `Neural Engine`, `GPU`, ..."""
    state: TableState
    """Best state of its tables: rows, else empty, else unreadable, else missing."""
    tables: tuple[str, ...]
    """Schemas of this instrument that the recording mentions; the expected ones where it mentions none."""
    rows: int | None
    """Rows in all its tables; None where the state is `missing` or `unreadable`."""
    conclusion: str
    """One sentence: what follows from the state."""
    advice: str = ""
    """One sentence: what to do to see more; empty where nothing is needed."""
    shares: dict[str, float] = field(default_factory=dict)
    """Share of its rows by how they were attributed to a prediction; only classes that occur. `exact`, `label`: the row
    names it; `contained`: it lies inside; `ambiguous`: it may belong to one of several in flight; `foreign`: of another
    process; `inferred`: a call that Core ML did not record. Empty for instruments without attribution."""

    @property
    def recorded(self) -> bool:
        """Whether the absence of a row means that nothing happened."""
        return self.state in (TableState.ROWS, TableState.EMPTY)


class Match(StrEnum):
    """How a file came to describe a model."""

    GIVEN = "as given"
    NAME = "same name"
    SIMILAR = "similar name"


@dataclass(frozen=True, slots=True)
class Joined(Generic[Facts]):
    """A model file or performance report that was given or found, and the model of the recording that it is of."""

    source: str
    """Name of the file or folder, without the way to it."""
    model: str | None
    """Base name; None where it is used for none."""
    match: Match | None
    """None where it is used for none."""
    facts: Facts | None
    """What it says; None where it is not used, or cannot be read."""
    problem: str = ""
    """Why it is not used, or why that is in doubt, in one sentence."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trace:
    """The Activity, Data, Compute and hardware lanes of one run, their context, and what is known of the run.

    Nothing changes once the trace is built, so that what is worked out from a trace can be kept for it.
    """

    contents: Contents
    run: Run
    activity: Calls
    data: Events
    compute: Events
    other: Events
    """Core ML rows whose lane is unknown."""
    hardware: Events
    """Neural Engine, GPU and MPS rows."""
    models: Models
    """One for each base name in `activity`, `data` or `compute`."""
    context: dict[str, ContextRows]
    """Rows beside the lanes by name: `gpu_states`, `gpu_performance`, `thermal`, `hangs`, `hang_risks`, `signposts`,
    `signpost_events`, `metal_pipelines`, `shader_compilations`, `metal_intervals`, `metal_encoders`, `command_buffers`,
    `points_of_interest`, `life_cycle`, `processes`, `clock`, `memory`, `frames`, `run_loop`, `thread_states`.
    One is absent where its table is missing or unreadable, and without rows where it is empty.
    `phases` and `requests` are there only where any are shown. Where the name is known, ask by class: `table`,
    `phases`, `requests`, `memory`."""
    coverage: tuple[Coverage, ...]
    notes: tuple[str, ...] = ()
    """What binding met and the user should know, one sentence each (for example duplicate rows left out)."""
    sharing: Sharing = field(default_factory=Sharing)
    """Whether other processes used the Neural Engine too."""
    model_files: tuple[Joined[ModelFile], ...] = ()
    """Model files that were given or found, with the models that they describe (`tracekit.trace.file_matching`)."""
    performance_reports: tuple[Joined[PerformanceReport], ...] = ()
    """Performance reports that were given or found, in the same way."""
    sites: Sites | None = None
    """The code that made the calls of `activity` if inferred (`tracekit.trace.calls.infer`); None for recorded ones."""
    sample_source: SampleSource = field(default_factory=SampleSource, repr=False)
    """Reads the samples when they are asked for; use `sampled`."""
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    def __repr__(self) -> str:
        """Short, and without what is private."""
        counts = (
            format_count(len(self.models), "model"),
            format_count(len(self.activity), "activity row"),
            format_count(len(self.hardware), "hardware row"),
        )
        return f"<Trace of {visible(self.contents.source)}, run {self.run.number}: {', '.join(counts)}>"

    @property
    def events(self) -> dict[str, Events]:
        """The rows of each lane of events by its name, one of `tracekit.trace.filter.EVENT_FRAMES`."""
        lanes: tuple[Events, ...] = (self.activity, self.data, self.compute, self.other, self.hardware)
        return dict(zip(("activity", "data", "compute", "other", "hardware"), lanes, strict=True))

    def table(self, of: type[AnyContext]) -> AnyContext | None:
        """The rows of a class in the context; None where they are not in it."""
        return rows_of_class(self.context, of)

    @property
    def phases(self) -> Phases:
        """Phases of runtimes and operations of the app; see `tracekit.trace.runtimes.phases`."""
        return self.table(Phases) or self.cache.get(Phases, Phases.none)

    @property
    def requests(self) -> Requests:
        """Requests to language models; see `tracekit.trace.requests.frame`."""
        return self.table(Requests) or self.cache.get(Requests, Requests.none)

    @property
    def memory(self) -> MemoryRows:
        """Footprints of processes and what they have allocated of Metal, over time. Coverage says what the absence of
        rows means."""
        return self.table(MemoryRows) or self.cache.get(MemoryRows, MemoryRows.none)

    @property
    def frames(self) -> Frames:
        """Frames and by how much they came late. Without a table of late frames there are none, which coverage says."""
        return self.table(Frames) or self.cache.get(Frames, Frames.none)

    @property
    def inferred(self) -> bool:
        """Whether the calls come from call stacks and hardware rows, because Core ML recorded none
        (`tracekit.trace.calls`)."""
        # Asked by each detector.
        return self.cache.get(
            Attribution.INFERRED, lambda: bool(self.activity.attribution.is_any(Attribution.INFERRED).any())
        )

    @property
    def sampled(self) -> Samples | None:
        """Samples taken by time and their call stacks, read when first asked for. None where none were recorded, or in
        a copy that went to another process."""
        return self.cache.get(SampleSource, self.sample_source.read)

    @property
    def profiled(self) -> Samples | None:
        """As `sampled`; where no samples were taken by time, those that were taken by what a CPU counted."""
        if self.sampled is not None and len(self.sampled.samples):
            return self.sampled
        counted = self.cache.get("samples by cycles", lambda: self.sample_source.read(COUNTED))
        return self.sampled if counted is None else counted

    @property
    def samples(self) -> SampleRows | None:
        """One row for each sample; see `tracekit.trace.samples`."""
        return None if self.sampled is None else self.sampled.samples

    @property
    def stacks(self) -> StackRows | None:
        """One row for each frame of each distinct call stack; see `tracekit.trace.samples`."""
        return None if self.sampled is None else self.sampled.stacks

    def model_file(self, model: str) -> ModelFile | None:
        """Facts of the file of a model, by base name; None where there is none."""
        return next((entry.facts for entry in self.model_files if entry.model == model), None)

    def performance_report(self, model: str) -> PerformanceReport | None:
        """The performance report of a model, by base name; None where there is none."""
        return next((entry.facts for entry in self.performance_reports if entry.model == model), None)

    def coverage_of(self, instrument: str) -> Coverage:
        """Coverage of one instrument by name. Raises KeyError for a name that is not in `coverage`."""
        return {entry.instrument: entry for entry in self.coverage}[instrument]


cached_by_trace = cached
"""The function, called once for each trace; its answer is kept as long as the trace is."""


def identity_of(trace: Trace) -> str | None:
    """A hash that copies of a run and complete exports of it share, and no other recording: of when it began, its
    number, the target's process id, and the times of its rows. None where neither its beginning nor any row is known.

    Names nothing, so that it may leave the machine. O(rows), without reading a file again.
    """
    run, process = trace.run, trace.run.target.process
    try:
        # In UTC, to the ms: bundles and exports write it with different offsets.
        moment = datetime.fromisoformat(run.start_date or "")
        began = (moment.astimezone(UTC) if moment.tzinfo else moment).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError):
        began = None
    # Of what Core ML recorded, or else of what was recorded beside it: inferred calls are no facts of a recording.
    is_core_ml = bool(trace.activity.origin.is_any(Origin.CORE_ML).any())
    rows: Events = trace.activity if is_core_ml else trace.hardware
    arrays = [rows.start_ns, rows.duration_ns]
    if not is_core_ml and trace.sampled is not None:
        arrays.append(trace.sampled.samples.time_ns)
    times = [array for array in arrays if len(array)]
    if began is None and not times:
        return None
    digest = hashlib.sha256(repr((began, run.number, None if process is None else process.pid)).encode())
    for array in times:
        digest.update(array.astype("<i8", copy=False).tobytes())
    return digest.hexdigest()[:32]
