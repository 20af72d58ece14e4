"""Chooses how a file of nodes is read: with the compiled scanner where that is possible, else strictly.

Both give the same cells. Whatever the scanner declines is read by the strict reader from its beginning, and every error
message is the strict reader's.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from tracekit.recording.export.nodes import NodeReader, Restart

try:
    from tracekit.recording.export import scanned
    from tracekit.recording.export._scan import Declined
except ImportError:
    # Where the package was installed without a C compiler.
    scanned = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Collection

    from tracekit.recording.export.nodes import FileNodes
    from tracekit.recording.progress import Meter
    from tracekit.recording.sources import Source

_LOG = logging.getLogger(__name__)


def read_nodes(source: Source, wanted: Collection[str] | None, meter: Meter) -> FileNodes:
    """Read a file. Cells are decoded where it holds one of the `wanted` schemas (None: always), else only counted.

    Raises `UnreadableRecording`.
    """
    reason = "the compiled scanner is not installed"
    if scanned is not None:
        begin = meter.done
        try:
            nodes = _read(scanned.ScanReader, source, wanted, meter)
        except Declined as declined:
            reason = str(declined)
            meter.begin_again(begin)
        else:
            _LOG.info("read %s with the compiled scanner", source.label)
            return nodes
    nodes = _read(NodeReader, source, wanted, meter)
    _LOG.info("read %s with the strict reader (%s)", source.label, reason)
    return nodes


def _read(reader: type[NodeReader], source: Source, wanted: Collection[str] | None, meter: Meter) -> FileNodes:
    try:
        return reader(source, wanted).read(meter)
    except Restart:
        return reader(source, None).read(meter)
