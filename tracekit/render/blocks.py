"""A document as blocks: what is said, once, for every form. Back ends know nothing of recordings. Text in a block may
hold anything that a recording holds; back ends make it visible and escape it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

Row = TypeVar("Row")


class Role(StrEnum):
    """What a piece of text is, for its look."""

    PLAIN = ""
    CODE = "code"
    STRONG = "strong"
    DIM = "dim"
    BAD = "bad"
    GOOD = "good"
    OPEN = "open"
    BEST = "best"
    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line."""

    text: str
    role: Role = Role.PLAIN
    quantity: str = ""
    """Id of the quantity that it shows; empty for words."""
    link: str = ""
    """Address, or `#` and the name of a part of the page; empty where it leads nowhere."""
    span_ns: tuple[int, int] | None = None
    """The time that it names, which a page leads to in its lanes."""
    evidence: str = ""
    """Id of the check whose intervals a page leads to from here."""
    picture: Callable[[], str] | None = None
    """Finished markup that a page shows in its place; only text shows such a span, other forms leave it out."""


Line = str | Span | tuple["str | Span", ...]
"""Text of one paragraph, one cell or one entry."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: what its cells show, what they are sorted by, and when it goes where there is no room."""

    title: str
    """A line break splits it where there is little room."""
    text: Callable[[Row], Line]
    value: Callable[[Row], float | None] | None = None
    """What a cell is sorted by, where that is not its text."""
    words: bool = False
    """Whether it holds words, which start at the left; else numbers, which end at the right."""
    is_name: bool = False
    """Whether text shortens them where there is no room; other words wrap."""
    drop: int = 0
    """0 always stays; otherwise the highest goes first where a table is too wide."""
    quantity: str = ""
    """Id of the quantity in its cells; empty for words, and where cells say it themselves."""
    long: bool = False
    """Whether the short text leaves it out."""
    heading: bool = False
    """Whether text shows it above the rows that have it in common, in place of a column."""
    legend: str = ""
    """What text says below the table of cells that are drawings."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a list with labeled lines below it."""

    head: Line
    facts: tuple[tuple[str, Line], ...] = ()
    """Label and text."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of lines, or of entries, which a page shows as cards."""

    entries: tuple[Entry, ...]
    brief: int | None = None
    """Items of the short text, of at most two lines each; None for all of them, and 0 where it leaves out the list.
    Where there is no room, a third of them have a line each."""
    role: Role = Role.PLAIN
    paged: bool = False
    """As of a section."""


@dataclass(frozen=True, slots=True)
class Table(Generic[Row]):
    """Rows of columns."""

    name: str
    """What a screen reader calls it."""
    columns: tuple[Column[Row], ...]
    rows: tuple[Row, ...]
    total: bool = False
    """Whether the last row is that of all others."""
    parts: bool = False
    """Whether, in text, columns that do not fit stand in further tables below, each with the first column."""
    cards: bool = False
    """Whether text shows each row as an entry, since its cells are long."""
    brief: int | None = None
    """Rows of the short text; None for all of them."""
    instead: Items | None = None
    """What text shows in place of rows that say much the same."""
    heat: bool = False
    """Whether a page shades each number by its place among those of rows with the same first cell."""
    quantities: bool = False
    """Whether each row is another quantity, so that no page sorts them: milliseconds do not compare with shares."""


@dataclass(frozen=True, slots=True)
class Prose:
    """Our own Markdown: paragraphs, lists and code, such as a fix."""

    source: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A line that wraps. `lead` is a word in front of it, below which it does not go on."""

    line: Line
    role: Role = Role.PLAIN
    lead: str = ""
    brief: int | None = None
    """Most lines that it takes in the short text, which leaves out one with 0; None for all of them."""

    @property
    def heading(self) -> str:
        """The lead where a sentence begins with it: `Fix`; a quantity such as `p95` stays as it is."""
        return self.lead if any(map(str.isdigit, self.lead)) else self.lead.capitalize()


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks below a title. A folded one is closed at first where a form can fold, and left out of the short text; a
    page opens those of the first level that have a name, since links on top lead to them."""

    title: str
    blocks: tuple[Block, ...]
    note: str = ""
    """What its columns are, or what to know before reading it."""
    folded: bool = False
    paged: bool = False
    """Whether text leaves it to pages and Markdown: another line, or a command, says it there."""
    name: str = ""
    """Id of the section in a page; empty where nothing leads to it."""
    stays: bool = False
    """Whether a form with a greatest length never leaves it out."""
    has_names: bool = False
    """Whether the title has names of models and devices, which no form writes in capitals."""


@dataclass(frozen=True, slots=True)
class Card:
    """A finding: how bad, what it is, and blocks about it. Where there is no room, one line: label, check, `cost`."""

    label: str
    """Its severity, or what it is about."""
    tone: Role
    check: str
    title: str
    blocks: tuple[Block, ...]
    cost: str = ""
    """What it costs, and where, in few words."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, which only pages show: finished markup."""

    markup: str
    style: str = ""
    """Rules that it adds to the style of the page."""
    data: str = ""
    """Elements at the end of the page that its script draws from; empty for a picture that needs no script."""


Block = Table[Any] | Items | Paragraph | Prose | Section | Card | Figure


@dataclass(frozen=True, slots=True)
class Document:
    """What is said of one thing: the verdict, then what it rests on."""

    title: str
    """What it is about, in one line."""
    verdict: Line
    tone: Role
    """Look of the verdict: `BAD`, `GOOD` or `OPEN`."""
    context: tuple[Paragraph, ...] = ()
    """What was read: shown with the verdict."""
    blocks: tuple[Block, ...] = ()
    closing: Line = ""
    """Last line of a text, which a terminal still shows when it is done."""
    more: str = ""
    """Command that shows more than the text."""
    room: tuple[int, int] | None = None
    """Lines from which on the short text says less of each block, and most lines: beyond, cards have a line each."""
    foot: str = ""
    """What made it; empty for the program alone."""
    first: str = ""
    """What stands before the verdict."""


def section(title: str, *blocks: Block | None, **looks: Any) -> Section | None:
    """A section of the blocks that are there; None where none is."""
    kept = present(*blocks)
    return Section(title, kept, **looks) if kept else None


def table(name: str, columns: Iterable[Column[Row]], rows: Iterable[Row], **looks: Any) -> Table[Row] | None:
    """A table, without the columns that may go and have no value in any row; None without rows."""
    listed = tuple(rows)

    def is_known(column: Column[Row]) -> bool:
        value = column.value
        return value is None or not column.drop or any(value(row) is not None for row in listed)

    return Table(name, tuple(filter(is_known, columns)), listed, **looks) if listed else None


def items(
    lines: Iterable[Line | Entry], brief: int | None = None, role: Role = Role.PLAIN, *, paged: bool = False
) -> Items | None:
    """A list; None without items."""
    listed = tuple(line if isinstance(line, Entry) else Entry(line) for line in lines if line)
    return Items(listed, brief, role, paged) if listed else None


def present(*blocks: Block | None) -> tuple[Block, ...]:
    """The blocks that are there."""
    return tuple(block for block in blocks if block is not None)


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, each before those in it."""
    for block in blocks:
        yield block
        if isinstance(block, Section | Card):
            yield from walk(block.blocks)


def spans(line: Line) -> tuple[Span, ...]:
    """The pieces of a line."""
    parts = line if isinstance(line, tuple) else (line,)
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def plain(line: Line) -> str:
    """A line without its looks."""
    return "".join(span.text for span in spans(line))


def join(parts: Iterable[Line | None], between: str) -> Line:
    """The lines that are there as one, with words between them."""
    joined: list[Span] = []
    for part in parts:
        if part:
            joined += [Span(between)] if joined else []
            joined += spans(part)
    return tuple(joined)
