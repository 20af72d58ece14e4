"""Ctrl-C ends a long read of an export at once."""

import pytest

from support.interrupts import AT_ONCE_S, interrupted_after_s
from tracekit.recording import open_recording

# An interrupt may come while an object is finalized: Python reports it, and files that were being read, as ignored.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_rows_of_an_export(xml, write):
    rows = "".join(f"<row><event-time>{number}</event-time><string>{number}</string></row>" for number in range(60_000))
    path = write(xml.result(f"<node>{xml.schema('sample', 'time:event-time name:string')}{rows}</node>"))
    assert interrupted_after_s(lambda: open_recording(path)) < AT_ONCE_S


@pytest.mark.sweep
def test_parts_of_one_cell(xml, write):
    parts = "<string>x</string>" * 45_000
    rows = f"<row><narrative>{parts}</narrative></row>" * 8
    path = write(xml.result(f"<node>{xml.schema('sample', 'text:narrative')}{rows}</node>"))
    assert interrupted_after_s(lambda: open_recording(path)) < AT_ONCE_S
