"""`docs/limits.md` tells the limits that hold."""

import re
from pathlib import Path

import pytest

from tracekit.recording import limits
from tracekit.recording.bundle import limits as bundle
from tracekit.recording.export import limits as export
from tracekit.report import choice

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([A-Z_]+)` \| ([0-9,]+) \| .+ \|$", re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "module"), [("Files, archives and times", limits), ("Exports", export), ("Bundles", bundle)]
)
def test_the_page_lists_every_limit_with_its_value(heading, module):
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    listed = {name: int(value.replace(",", "")) for name, value in ROW.findall(section)}
    assert listed == {name: value for name, value in vars(module).items() if name.isupper()}


def test_the_page_tells_what_a_report_takes():
    assert f"A report holds at most {choice.MAX_MODELS:,} models" in PAGE
    assert f"{choice.MAX_NAME_CHARS:,} characters (`MAX_NAME_CHARS`)" in PAGE
    assert f"{choice.MAX_INSTANCE_SPAN_NS:,} ns" in PAGE
