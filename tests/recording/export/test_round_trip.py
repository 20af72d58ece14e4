"""What was written is what is read: random tables, written here with ids, references, sentinels and nesting."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from hypothesis import given, settings, strategies as st

from tracekit.recording import open_recording
from tracekit.recording.table import Process, Thread

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="￾￿"), max_size=12)
PROCESSES = st.builds(Process, TEXT, st.integers(0, 2**31))
QUOTE = {'"': "&quot;"}
"""Attributes stand in double quotes, whatever they hold."""
VALUES = {
    "start-time": st.integers(0, 2**53 - 1),
    "duration": st.integers(0, 2**53 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "boolean": st.integers(0, 1),
    "string": TEXT,
    "coreml-model-event": TEXT,
    "formatted-label": TEXT,
    "process": PROCESSES,
    "thread": st.builds(Thread, TEXT, st.integers(0, 2**63 - 1), PROCESSES),
    "unheard-of": TEXT,
}
"""What a cell of each type may hold; None stands for a sentinel everywhere."""


@dataclass
class Writer:
    """Writes values the way `xctrace` does: the first use defines an id, later uses refer to it."""

    gaps: list[int]
    """How much each new id exceeds the one before, so that ids need not be dense."""
    ids: dict[tuple[str, object], int] = field(default_factory=dict)
    last: int = 0

    def element(self, tag: str, value: object, *, refer: bool = True) -> str:
        known = self.ids.get((tag, value))
        if known is not None and refer:
            return f'<{tag} ref="{known}"/>'
        self.last += 1 + (self.gaps.pop() if self.gaps else 0)
        identity = self.last
        content, shown = self.content(value)
        self.ids[tag, value] = identity
        text = escape(content) if tag != "formatted-label" else ""
        if isinstance(value, Process | Thread):
            text = content
        return f'<{tag} id="{identity}" fmt={quoteattr(shown, QUOTE)}>{text}</{tag}>'

    def content(self, value: object) -> tuple[str, str]:
        """Content and display text."""
        if isinstance(value, Process):
            return self.element("pid", value.pid) + "<device-session>TODO</device-session>", str(value)
        if isinstance(value, Thread):
            return self.element("tid", value.tid) + self.element("process", value.process), value.text
        return str(value), f"1.234,{value}" if isinstance(value, int) else str(value)


def expected(value: object) -> object:
    """Unsigned numbers above 2^63 - 1 are stored in two's complement."""
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[object]]]:
    types = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=6))
    pools = [draw(st.lists(st.none() | VALUES[kind], min_size=1, max_size=4)) for kind in types]
    rows = draw(st.lists(st.tuples(*(st.sampled_from(pool) for pool in pools)), max_size=12))
    return types, [list(row) for row in rows]


def written(types: list[str], rows: list[list[object]], writer: Writer, table: int, refer: list[bool]) -> str:
    columns = "".join(
        f"<col><mnemonic>c{number}</mnemonic><name>C</name><engineering-type>{kind}</engineering-type></col>"
        for number, kind in enumerate(types)
    )
    cells = [
        "<row>"
        + "".join(
            "<sentinel/>" if value is None else writer.element(kind, value, refer=not refer or refer.pop())
            for kind, value in zip(types, row, strict=True)
        )
        + "</row>\n"
        for row in rows
    ]
    xpath = f"//trace-toc[1]/run[1]/data[1]/table[{table}]"
    return f"<node xpath='{xpath}'><schema name=\"t{table}\">{columns}</schema>{''.join(cells)}</node>"


@settings(deadline=None, max_examples=150)
@given(
    contents=st.lists(tables(), min_size=1, max_size=3),
    gaps=st.lists(st.integers(0, 100_000), max_size=5),
    refer=st.lists(st.booleans(), max_size=20),
)
def test_random_tables_read_back_as_they_were_written(contents, gaps, refer):
    writer = Writer(gaps)
    nodes = "".join(written(types, rows, writer, index, refer) for index, (types, rows) in enumerate(contents, 1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.xml"
        path.write_text(f"<trace-query-result>{nodes}</trace-query-result>", encoding="utf-8")
        recording = open_recording(path)
    for index, (types, rows) in enumerate(contents, 1):
        (table,) = recording.tables(f"t{index}")
        assert [column.engineering_type for column in table.columns] == types
        assert table.rows == len(rows)
        read = [[cells.item(row) for cells in table.cells] for row in range(table.rows)]
        assert read == [[expected(value) for value in row] for row in rows]
