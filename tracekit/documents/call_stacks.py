"""The call stacks of a recording as a page: functions of the app, and room for the flame graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.documents.report_code import app_functions
from tracekit.render.blocks import Document, Figure, Paragraph, Role, present
from tracekit.render.markup import page_data
from tracekit.report.viewers.lane_columns import flame_payload

if TYPE_CHECKING:
    from tracekit.report.flame import Flame


def call_stacks_document(flame: Flame, source: str, words: str) -> Document:
    """`source` is the file name of the recording; `words` say what was sampled."""
    data = page_data("flame", *flame_payload(flame, source))
    blocks = present(*app_functions(flame, f"{words}."), Figure("", data=data))
    context = (Paragraph("Samples measure CPU time: waiting threads are not sampled", Role.DIM),)
    return Document(f"Call stacks of {source}", "", Role.PLAIN, context, blocks)
