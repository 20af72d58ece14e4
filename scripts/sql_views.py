"""Write `docs/sql-views.md`: the views of `tracekit sql` with their columns.

python scripts/sql_views.py
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

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
        *(f"| `{view.name}` | {view.holds} | {', '.join(view.instruments) or '–'} |" for view in VIEWS.values()),
    ]
    alike: defaultdict[tuple[Column, ...], list[str]] = defaultdict(list)
    for view in VIEWS.values():
        alike[view.columns].append(f"`{view.name}`")
    for columns, names in alike.items():
        lines += ["", f"## {', '.join(names)}", "", "| column | type | holds |", "|---|---|---|"]
        lines += [f"| `{column.name}` | {column.type} | {column.holds} |" for column in columns]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
