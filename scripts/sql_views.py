"""Write `docs/sql-views.md` and `docs/sql-instruments.md`: the views of `tracekit sql` with their columns.

python scripts/sql_views.py
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.query.columns import SQL_TYPES
from tracekit.query.lake import TABLES
from tracekit.query.views import VERSION, VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tracekit.columns import Column

VIEWS_PAGE, INSTRUMENTS_PAGE = Path("docs/sql-views.md"), Path("docs/sql-instruments.md")
INSTRUMENTS = ("samples", "operations")
"""First and last of the views of other instruments than Core ML and those of hardware. They have their own page."""
COMMON = 4
"""A column of so many tables is explained once."""


def pages() -> dict[Path, str]:
    """Both pages as Markdown. Views with the same columns share a table; one that adds columns to those of another
    lists these alone."""
    alike: defaultdict[tuple[Column, ...], list[str]] = defaultdict(list)
    for name, table in TABLES.items():
        alike[table.columns].append(name)
    # What each begins with: the columns of another one, if any.
    begins = {
        columns: _longest(other for other in alike if other == columns[: len(other)] != columns) for columns in alike
    }
    added = {columns: columns[len(begins[columns]) :] for columns in alike}
    in_how_many = Counter(column for columns in added.values() for column in columns)
    common = [column for column, count in in_how_many.items() if count >= COMMON]
    names = list(TABLES)
    of_instruments = names[names.index(INSTRUMENTS[0]) : names.index(INSTRUMENTS[1]) + 1]
    views = [
        "# Views of SQL",
        "",
        f"The views of `tracekit sql`, version {VERSION}. [sql.md](sql.md) shows queries.",
        "",
        "A column has type VARCHAR, or BIGINT if its name ends in `_ns`, unless another type follows the name.",
        "`_ns` means nanoseconds, and times count from the start of the run. Null means not recorded or unknown.",
        "",
        "| view | rows | recorded by |",
        "|---|---|---|",
        *(f"| `{name}` | {table.holds} | {_recorded_by(name)} |" for name, table in TABLES.items()),
        "",
        "## Columns of many views",
        "",
        *_table(common),
    ]
    instruments = [
        "# Views of other instruments",
        "",
        "Call stacks, signposts, Metal, memory, frames, runtimes. [Views of SQL](sql-views.md) has the others and",
        "the types.",
    ]
    for columns, sharing in alike.items():
        own = [column for column in added[columns] if column not in common]
        section = ["", f"## {_quoted(sharing)}", ""]
        if begins[columns]:
            section += [f"The columns of `{alike[begins[columns]][0]}`, and:", ""]
        elif len(own) < len(columns):
            known = _quoted(column.name for column in columns if column in common)
            section += [f"{known} and", ""] if own else [known]
        section += _table(own) if own else []
        (instruments if sharing[0] in of_instruments else views).extend(section)
    return {page: "\n".join(lines) + "\n" for page, lines in ((VIEWS_PAGE, views), (INSTRUMENTS_PAGE, instruments))}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _recorded_by(name: str) -> str:
    return ", ".join(VIEWS[name].instruments if name in VIEWS else ()) or "–"


def _longest(several: Iterable[tuple[Column, ...]]) -> tuple[Column, ...]:
    return max(several, key=len, default=())


def _table(columns: Iterable[Column]) -> list[str]:
    return ["| column | contents |", "|---|---|", *(f"| {_name(column)} | {column.says} |" for column in columns)]


def _name(column: Column) -> str:
    kind = SQL_TYPES[column.type]
    usual = "BIGINT" if column.name.endswith("_ns") else "VARCHAR"
    return f"`{column.name}`" if kind == usual else f"`{column.name}` {kind}"


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8", newline="\n")
