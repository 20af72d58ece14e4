"""Write `docs/sql-views.md`: the views of `tracekit sql` with their columns.

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

PAGE = Path("docs/sql-views.md")
COMMON = 4
"""A column of so many tables is explained once."""


def page() -> str:
    """The page as Markdown. Views with the same columns share a table; one that adds columns to those of another lists
    these alone."""
    lines = [
        "# Views of SQL",
        "",
        f"What `tracekit sql` can read: version {VERSION} of the views. [sql.md](sql.md) says how to ask.",
        "Names end in the unit: `_ns` is nanoseconds, and times count from the start of the run.",
        "",
        "| view | rows | recorded by |",
        "|---|---|---|",
        *(f"| `{name}` | {table.holds} | {_recorded_by(name)} |" for name, table in TABLES.items()),
    ]
    alike: defaultdict[tuple[Column, ...], list[str]] = defaultdict(list)
    for name, table in TABLES.items():
        alike[table.columns].append(f"`{name}`")
    # What each begins with: the columns of another one, if any.
    begins = {
        columns: _longest(other for other in alike if other == columns[: len(other)] != columns) for columns in alike
    }
    added = {columns: columns[len(begins[columns]) :] for columns in alike}
    in_how_many = Counter(column for columns in added.values() for column in columns)
    common = [column for column, count in in_how_many.items() if count >= COMMON]
    lines += ["", "## Columns of many views", "", *_table(common)]
    for columns, names in alike.items():
        shared = begins[columns]
        own = [column for column in added[columns] if column not in common]
        lines += ["", f"## {', '.join(names)}", ""]
        if shared:
            lines += [f"The columns of {alike[shared][0]}, and:", ""]
        elif len(own) < len(columns):
            known = ", ".join(f"`{column.name}`" for column in columns if column in common)
            lines += [f"{known} and", ""] if own else [known]
        lines += _table(own) if own else []
    return "\n".join(lines) + "\n"


def _recorded_by(name: str) -> str:
    return ", ".join(VIEWS[name].instruments if name in VIEWS else ()) or "–"


def _longest(several: Iterable[tuple[Column, ...]]) -> tuple[Column, ...]:
    return max(several, key=len, default=())


def _table(columns: Iterable[Column]) -> list[str]:
    rows = (f"| `{column.name}` | {SQL_TYPES[column.type]} | {column.says} |" for column in columns)
    return ["| column | type | holds |", "|---|---|---|", *rows]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
