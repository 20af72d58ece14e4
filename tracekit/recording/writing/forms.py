"""The forms that a table can be written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from tracekit.recording.table import Table

    TableWriter = Callable[[Table, BinaryIO], None]

FORMATS: Final = ("csv", "jsonl", "parquet", "xml")
"""Names of the forms; each is also the suffix of its files."""
XML: Final = "xml"


def writer_for(name: str) -> TableWriter:
    """The writer of a form. Raises `TracekitError` where a package that it needs is not installed."""
    # Imported here, so that pyarrow is asked for only where it is wanted.
    if name == XML:
        from tracekit.recording.writing.xml import write_xml

        return write_xml
    if name == "parquet":
        from tracekit.recording.writing.parquet import check_available, write_parquet

        check_available()
        return write_parquet
    from tracekit.recording.writing.text_forms import write_csv, write_jsonl

    return {"csv": write_csv, "jsonl": write_jsonl}[name]
