"""Parquet, with the optional package pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracekit.errors import TracekitError
from tracekit.recording.table import IntegerCells
from tracekit.recording.writing.cells import column_names, is_unsigned

if TYPE_CHECKING:
    from typing import BinaryIO

    from tracekit.recording.table import Cells, Column, Table


def check_available() -> None:
    """Raise `TracekitError` where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401 - only whether it can be had
    except ImportError as error:
        raise TracekitError(
            "Parquet needs the package pyarrow; install it with: pip install 'coreml-tracekit[parquet]', or choose "
            "--format csv or jsonl"
        ) from error


def write_parquet(table: Table, stream: BinaryIO) -> None:
    """Numbers as int64 or uint64, texts as dictionaries; null where there is no value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = [_array(column, cells) for column, cells in zip(table.columns, table.cells, strict=True)]
    pq.write_table(pa.table(arrays, names=column_names(table.columns)), stream, compression="zstd")


def _array(column: Column, cells: Cells) -> Any:
    import pyarrow as pa

    if isinstance(cells, IntegerCells):
        values = cells.values.astype(np.uint64) if is_unsigned(column.engineering_type) else cells.values
        return pa.array(values, mask=~cells.valid)
    texts = [str(value).encode("utf-8", "backslashreplace").decode() for value in cells.values]
    codes = pa.array(cells.codes, mask=cells.codes < 0)
    # Two values may look the same, and a dictionary holds each text once.
    distinct = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    if len(distinct) < len(texts):
        new_codes = np.array([*(distinct[text] for text in texts), -1], dtype=np.int32)
        codes = pa.array(new_codes[cells.codes], mask=cells.codes < 0)
    return pa.DictionaryArray.from_arrays(codes, pa.array(list(distinct), type=pa.string()))
