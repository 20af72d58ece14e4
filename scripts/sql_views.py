"""Write `docs/sql-views.md`: the views of `tracekit sql` with their columns.

python scripts/sql_views.py
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.query.lake import TABLES
from tracekit.query.views import VERSION, VIEWS

if TYPE_CHECKING:
    from tracekit.query.columns import Column

PAGE = Path("docs/sql-views.md")


def page() -> str:
    """The page as Markdown. Views with the same columns share a table."""
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
    for columns, names in alike.items():
        lines += ["", f"## {', '.join(names)}", "", "| column | type | holds |", "|---|---|---|"]
        lines += [f"| `{column.name}` | {column.type} | {column.holds} |" for column in columns]
    return "\n".join(lines) + "\n"


def _recorded_by(name: str) -> str:
    return ", ".join(VIEWS[name].instruments if name in VIEWS else ()) or "–"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
