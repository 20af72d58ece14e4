"""What is known of an instrument, in one place: its tables, what they become, how they are drawn, and what rows,
emptiness and absence of them mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tracekit.arrays import BoolArray, IntArray
from tracekit.recording.table import Process
from tracekit.trace.binding import as_texts, durations
from tracekit.trace.collect import Rows
from tracekit.trace.context import ContextRows
from tracekit.trace.events import Events, bare_events
from tracekit.trace.labels import KnownModels


@dataclass(frozen=True, slots=True)
class CommandBuffers:
    """Command buffers of hardware rows; shape (rows,) each."""

    id: IntArray
    """`cmdbuffer-id` of the Metal tables; 0 where the row has none."""
    first: BoolArray
    """Whether the label says that it is the first one of its operation."""


Binder = Callable[[Rows, KnownModels, Process | None], tuple[Events, CommandBuffers | None]]


def bare_rows(rows: Rows) -> Events:
    """The rows of a table, as yet without what its other columns say. Raises what `durations` raises."""
    return replace(bare_events(rows.starts, durations(rows.table)), table=as_texts(rows.schema), row=rows.row)


class Work(NamedTuple):
    """Rows of one kind."""

    color: str
    """Name of a `tracekit.lanes.categories.Category`."""
    title: str = ""
    """What they are called in the aggregation, where labels name single pieces of work."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """Rows of hardware, with a lane of their own."""

    lane: str
    """What their column `lane` holds."""
    schemas: tuple[str, ...]
    bind: Binder
    """Events and command buffers of the rows, for the models that Core ML names and the target. Raises
    `UnreadableRecording` where they cannot be understood."""
    once: bool = False
    """Whether identical rows of its tables are one row written twice."""
    by_owner: bool = False
    """Whether it draws work of Core ML, of the app and of other processes on lanes of their own."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A thin lane of states, which tile time."""

    title: str
    colors: Mapping[str, str]
    """Category of each state in folded text, as in `Work`. Others are drawn as unknown."""
    column: str = "state"
    first: bool = False
    """Whether it stands above the strips of instruments before it."""


@dataclass(frozen=True, slots=True)
class Context:
    """Tables that become rows beside the lanes."""

    name: str
    """Its name in `Trace.context`."""
    schemas: tuple[str, ...]
    rows: type[ContextRows]
    strip: Strip | None = None
    timeless: bool = False
    """Whether it holds for the whole run, whatever part of it is shown."""
    of_target: bool = False
    """Whether only rows of the target count."""


@dataclass(frozen=True, slots=True)
class Instrument:
    """An instrument, its tables, and what their rows and their emptiness mean."""

    name: str
    rows_mean: str
    tables: tuple[str, ...] = ()
    """Schemas of tables that become something else than one of these:"""
    frames: Mapping[str, str] = field(default_factory=dict)
    """Fields of `Trace` that hold its rows alone, by lane."""
    hardware: Hardware | None = None
    context: tuple[Context, ...] = ()
    kinds: Mapping[str, Work] = field(default_factory=dict)
    """What column `kind` holds for its rows."""
    added_as: str = ""
    """What `tracekit record --instrument` adds to record it; empty where it comes with another instrument alone."""
    flag: str = ""
    """Option of `tracekit record` that adds it with others that belong to it, where there is one."""
    in_template: bool = False
    """Whether the Core ML template records it."""
    on_demand: bool = False
    """Whether its tables are read only when something asks for them, and not to build a trace."""
    plural: bool = False
    empty: str = ""
    """Clause for a table that was recorded without rows, where there is more to say than that."""

    @property
    def schemas(self) -> tuple[str, ...]:
        """Schemas of all its tables."""
        parts = (*self.context, *(() if self.hardware is None else (self.hardware,)))
        return (*self.tables, *(schema for part in parts for schema in part.schemas))

    @property
    def lanes(self) -> tuple[str, ...]:
        """What column `lane` holds for its rows."""
        return (*self.frames, *(() if self.hardware is None else (self.hardware.lane,)))

    @property
    def empty_means(self) -> str:
        """Clause for a table that was recorded without rows."""
        return self.empty or f"the {self.added_as or self.name} instrument recorded no events"

    @property
    def option(self) -> str:
        """What adds it to a recording."""
        name = f"'{self.added_as}'" if " " in self.added_as else self.added_as
        return self.flag or f"--instrument {name}"

    @property
    def record_with(self) -> str:
        """What to add to a recording that lacks it."""
        return "record with the Core ML template" if self.in_template else f"record with {self.option}"

    @property
    def were(self) -> str:
        """Its name and the verb."""
        return f"{self.name} {'were' if self.plural else 'was'}"
