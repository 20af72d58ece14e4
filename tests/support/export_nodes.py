"""An export reader of its own, so that the files are judged by neither the writer nor the product."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Node:
    """One node of a query result with resolved references."""

    xpath: str
    schema: str | None
    columns: list[tuple[str, str, str]] = field(default_factory=list)
    """Mnemonic, title, engineering type."""
    rows: list[list[ET.Element | None]] = field(default_factory=list)

    def texts(self, mnemonic: str) -> list[str | None]:
        """Raw text of a column; the display text for containers."""
        index = [column[0] for column in self.columns].index(mnemonic)
        cells = [row[index] for row in self.rows]
        return [None if cell is None else cell.get("fmt") if len(cell) else cell.text or "" for cell in cells]

    def integers(self, mnemonic: str) -> list[int]:
        """Whole numbers of a column without empty cells."""
        return [int(text) for text in self.texts(mnemonic) if text is not None]


def read_export(path: Path) -> list[Node]:
    """Nodes of a file; fails for a reference that does not point backwards to the same tag."""
    known: dict[str, ET.Element] = {}
    nodes = []
    for node in ET.parse(path).getroot():  # noqa: S314  files of our own
        schema = node.find("schema")
        columns = [] if schema is None else [tuple(item.text or "" for item in col) for col in schema]
        entry = Node(node.get("xpath", ""), None if schema is None else schema.get("name"), columns)
        for row in node.findall("row"):
            for element in row.iter():
                if "ref" in element.attrib:
                    assert known[element.get("ref")].tag == element.tag
                elif "id" in element.attrib:
                    known[element.get("id")] = element
            entry.rows.append(
                [None if cell.tag == "sentinel" else known[cell.get("ref") or cell.get("id")] for cell in row]
            )
        nodes.append(entry)
    return nodes
