"""A path that nothing can be at is one sentence and status 2, whichever command writes to it or reads from it."""

from __future__ import annotations

from pathlib import Path

import pytest

WRITING = (
    "analyze {good} -o {path}.md",
    "analyze {good} -o {path}.json",
    "analyze {good} -o {path}.html",
    "analyze {good} -o {path}/report.md",
    "analyze {good} {good} --folder {path}",
    "compare {report} {report} -o {path}.html",
    "matrix {report} -o {path}.csv",
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
    "matrix {path}.json",
    "check {path}.trace --no-config",
    "check {report} --baseline {path}.json",
    "check --save-baseline --baseline {folder}/b.json {path}.trace",
    "check --show-baseline --baseline {path}.json",
    "export {path}.trace --folder {folder}/tables",
    "stacks {path}",
    "diagnose {path}",
    "whatif {path}",
    "analyze {path} -o {folder}/b.zip",
    "export {path}.trace",
    "inspect {path}.mlmodel",
    "inspect {path}.mlpackage",
    "inspect {path}.json",
    "{path}",
)
ENDINGS = ("", ".md", ".json", ".html", ".csv", ".xml", ".zip", ".trace", ".toml", ".mlmodel", ".mlpackage")


@pytest.mark.parametrize("kind", ["loop", "long"])
@pytest.mark.parametrize("command", [*WRITING, *READING])
def test_no_command_breaks(
    tracekit, samples: Path, reports: Path, tmp_path: Path, monkeypatch, command: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = {"loop": "loop", "long": "n" * 300}[kind]
    for ending in ENDINGS if kind == "loop" else ():
        Path(f"loop{ending}").symlink_to(f"loop{ending}")
    report = sorted(reports.iterdir())[0]
    names = {"path": path, "good": samples / "sharpen_float16.trace", "report": report, "folder": tmp_path}
    result = tracekit(*(word.format(**names) for word in command.split()))
    said = result.out + result.err
    assert result.status == 2
    assert path[:40] in "".join(said.split())
    assert "nternal error" not in said
    if not command.startswith("check {"):
        assert result.err.count("\n") == 1
        assert result.err.startswith("tracekit: ")
