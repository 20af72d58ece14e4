"""Writes small exports the way `xctrace` writes them, for the tests of the readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

DECLARATION = '<?xml version="1.0"?>\n'


class ExportText:
    """Pieces of exports as text."""

    @staticmethod
    def column(mnemonic: str, engineering_type: str = "") -> str:
        return (
            f"<col><mnemonic>{mnemonic}</mnemonic><name>{mnemonic}</name>"
            f"<engineering-type>{engineering_type or mnemonic}</engineering-type></col>"
        )

    @classmethod
    def schema(cls, name: str, columns: str) -> str:
        """`columns` are blank-separated `mnemonic:type`; the type is left out where both are the same."""
        cells = "".join(cls.column(*item.split(":")) for item in columns.split())
        return f'<schema name="{name}">{cells}</schema>'

    @staticmethod
    def node(content: str, *, run: int = 1, table: int = 1) -> str:
        return f"<node xpath='//trace-toc[1]/run[{run}]/data[1]/table[{table}]'>{content}</node>"

    @staticmethod
    def rows(*rows: str) -> str:
        return "\n".join(f"<row>{row}</row>" for row in rows)

    @staticmethod
    def result(*nodes: str) -> str:
        return f"{DECLARATION}<trace-query-result>\n{''.join(nodes)}</trace-query-result>\n"

    @classmethod
    def one_table(cls, columns: str, *rows: str, name: str = "sample", run: int = 1, table: int = 1) -> str:
        return cls.result(cls.node(cls.schema(name, columns) + cls.rows(*rows), run=run, table=table))

    @staticmethod
    def toc(*tables: str, summary: str = "<duration>1.5</duration>", target: str = "", number: int = 1) -> str:
        """A table of contents with one run; `tables` are the attributes of each table."""
        listed = "".join(f"<table {attributes}/>" for attributes in tables)
        return (
            f'{DECLARATION}\n<trace-toc>\n    <run number="{number}"><info><target>{target}</target>'
            f"<summary>{summary}</summary></info><processes/><data>{listed}</data><tracks/></run>\n</trace-toc>\n"
        )


@pytest.fixture(scope="session")
def xml() -> type[ExportText]:
    """Pieces of exports as text."""
    return ExportText


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of the test's folder and return its path."""

    def written(content: str | bytes, name: str = "export.xml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


@pytest.fixture
def items() -> Callable[[Any], list[object]]:
    """All values of a column, None where there is none."""
    return lambda cells: [cells.item(row) for row in range(len(cells))]
