"""The table of formats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.choice import sweep_rest
from tracekit.cli.commands import COMMANDS
from tracekit.documents.report import report_file
from tracekit.errors import UsageError
from tracekit.render.forms import ENDINGS, REPORT_FORMS, form_for
from tracekit.report.report import Report


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a.txt", "text"),
        ("b.md", "markdown"),
        ("c.markdown", "markdown"),
        ("d.tar.json", "json"),
        ("E.JSON", "json"),
        ("f.html", "html"),
    ],
)
def test_the_ending_of_a_file_tells_the_format(file, name):
    assert form_for(Path(file)) == name


@pytest.mark.parametrize("file", ["report.pdf", "report", ".json", "json"])
def test_an_unknown_ending_is_refused_with_the_known_ones(file):
    with pytest.raises(UsageError, match=r"\(supported: \.txt \.md \.html \.json\)"):
        form_for(Path(file))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_no_ending_belongs_to_two_formats_of_a_command(command):
    # What is printed as JSON is not what a file holds.
    formats = {*command.forms, *command.files}
    formats -= {"json"} if "chrome" in formats else set()
    endings = [ending for name in formats & set(ENDINGS) for ending in ENDINGS[name]]
    assert len(endings) == len(set(endings))


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", REPORT_FORMS)
@pytest.mark.parametrize("report", sweep_rest("full", "clean", "not_judged", "failed", "hostile", "hundred"))
def test_every_format_renders_every_report_the_same_twice(name, report, request):
    value: Report = request.getfixturevalue(report)
    text = report_file(value, name)
    assert text.endswith("\n")
    assert text == report_file(value, name)
    text.encode("utf-8")


def test_the_table_loads_no_renderer():
    code = "import sys, tracekit.render.forms; sys.exit(bool({'rich', 'pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
