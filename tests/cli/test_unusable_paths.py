"""A path that nothing can be at is one sentence and status 2, whichever command writes to it or reads from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

WRITING = (
    "analyze {good} -o {path}.md",
    "analyze {good} -o {path}.json",
    "analyze {good} -o {path}.html",
    "analyze {good} -o {path}/report.md",
    "analyze {good} {good} --folder {path}",
    "compare {report} {report} -o {path}.html",
    "compare {report} {report} --label x -o {path}.csv",
    "check {report} -o {path}.xml --no-config",
    "check --save-baseline --baseline {path}.json {report}",
    "check --update-baseline --baseline {path}.json {report}",
    "export {good} --folder {path}",
    "export {good} -o {path}.json",
    "analyze {good} -o {path}.zip",
)
READING = (
    "analyze {path}",
    "analyze {path}.trace",
    "analyze {good} --config {path}.toml",
    "analyze {good} --model-file {path}.mlmodel",
    "analyze {good} --model-file {path}.mlpackage",
    "analyze {good} --perf-report {path}.json",
    "analyze {path} -o {folder}/x.md",
    "compare {path}.trace {good}",
    "check {path}.trace --no-config",
    "check {report} --baseline {path}.json",
    "check --save-baseline --baseline {folder}/b.json {path}.trace",
    "check --show-baseline --baseline {path}.json",
    "export {path}.trace --folder {folder}/tables",
    "stacks {path}",
    "explain {path}",
    "why {path} --without",
    "analyze {path} -o {folder}/b.zip",
    "export {path}.trace",
    "inspect {path}.mlmodel",
    "inspect {path}.mlpackage",
    "inspect {path}.json",
    "{path}",
)
ENDLESS = (*READING, "history {path}.jsonl", "history {report} --add-to {path}.jsonl", "sql {good} --file {path}.json")
ENDINGS = ("", ".md", ".json", ".html", ".csv", ".xml", ".zip", ".trace", ".toml", ".mlmodel", ".mlpackage", ".jsonl")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        *((command, kind) for command in (*WRITING, *READING) for kind in ("loop", "long")),
        *((command, kind) for command in ENDLESS for kind in ("pipe", "zero")),
    ],
)
def test_no_command_breaks(
    tracekit, samples: Path, reports: Path, tmp_path: Path, monkeypatch, command: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = "n" * 300 if kind == "long" else kind
    for ending in ENDINGS if kind != "long" else ():
        if kind == "pipe":
            os.mkfifo(f"pipe{ending}")
        else:
            Path(f"{kind}{ending}").symlink_to("/dev/zero" if kind == "zero" else f"{kind}{ending}")
    report = sorted(reports.iterdir())[0]
    names = {"path": path, "good": samples / "sharpen_float16.trace", "report": report, "folder": tmp_path}
    result = tracekit(*(word.format(**names) for word in command.split()))
    said = result.out + result.err
    if kind in ("pipe", "zero") and "--model-file" in command:
        # It is of no model of the recording, and the report is complete without it.
        assert path in said
        return
    assert result.status == 2
    assert path[:40] in "".join(said.split())
    assert "nternal error" not in said
    if not command.startswith("check {"):
        assert result.err.count("\n") == 1
        assert result.err.startswith("tracekit: ")
