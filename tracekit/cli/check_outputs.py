"""What `tracekit check` prints and writes: every output, whatever the verdict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.exits import ExitStatus
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.compare.gate import Gate
    from tracekit.compare.verdict import Item

ENDINGS = {
    ".benchmark.json": "benchmark",
    ".bencher.json": "bencher",
    ".sarif.json": "sarif",
    ".sarif": "sarif",
    ".txt": "text",
    ".md": "markdown",
    ".json": "json",
    ".xml": "junit",
}
"""Form of a file by the end of its name; the first that fits counts."""
SUMMARY_BYTES = 900_000
"""GitHub drops a whole step summary above 1 MiB (actions/runner `FileCommandManager.cs`)."""

STATUS = {
    "passed": ExitStatus.DONE,
    "failed": ExitStatus.GATE_FAILED,
    "unusable": ExitStatus.UNUSABLE,
    "not enough data": ExitStatus.INCONCLUSIVE,
}


class Outputs:
    """Where the verdict goes. Raises `UsageError` for what cannot be written, before anything is read."""

    def __init__(self, arguments: Namespace, config: Path | None) -> None:
        from tracekit.cli.reports import check_output

        self._format = "markdown" if arguments.format == "md" else arguments.format
        self._config = config
        self._lines: dict[tuple[str | int, ...], int] = {}
        self._files = [(Path(name), _form_of(Path(name))) for name in arguments.output]
        for path, _ in self._files:
            check_output(path, arguments.path)
        if "sarif" in (self._format, *(form for _, form in self._files)) and config is None:
            raise UsageError("SARIF results stand at lines of the settings, and there is no tracekit.toml; add one")

    def write(self, gate: Gate) -> None:
        """Write all outputs. One that fails keeps no other from being written; the first failure is raised at the end.

        Raises `TracekitError`.
        """
        from tracekit.cli.output import emit, has_color
        from tracekit.cli.reports import write_report

        failures = []
        for path, form in self._files:
            try:
                write_report(path, self._rendered(gate, form))
            except (OSError, TracekitError) as error:
                failures.append(error)
        if self._format == "github":
            failures += _write_for_runner(gate)
        is_text = self._format in ("text", "markdown", "github")
        emit(self._rendered(gate, self._format), styled=self._format == "text" and has_color(), utf8=not is_text)
        if failures:
            raise failures[0]

    def _rendered(self, gate: Gate, form: str) -> str:
        """The verdict as a document."""
        from tracekit.cli.output import has_color, width
        from tracekit.compare.renderers.gate import render_markdown, render_text
        from tracekit.report.renderers.text_layout import FILE_WIDTH

        if form == "markdown":
            return render_markdown(gate)
        if form in ("text", "github"):
            color = has_color() and form == self._format == "text"
            text = render_text(gate, width=width(FILE_WIDTH), color=color)
            return text if form == "text" else self._annotations(gate) + text
        return self._data(gate, form)

    def _data(self, gate: Gate, form: str) -> str:
        from tracekit.compare.renderers.benchmarks import render_bencher, render_benchmark
        from tracekit.compare.renderers.junit import render_junit
        from tracekit.compare.renderers.sarif import render_sarif
        from tracekit.report.renderers.serialize import to_json

        if form == "sarif":
            return render_sarif(gate, self._settings_file() or "tracekit.toml", self._line)
        if form == "junit":
            return render_junit(gate, "tracekit check")
        return {"json": to_json, "benchmark": render_benchmark, "bencher": render_bencher}[form](gate)

    def _annotations(self, gate: Gate) -> str:
        from tracekit.compare.renderers.workflow_commands import workflow_commands

        return workflow_commands(gate, self._settings_file(), self._line)

    def _line(self, item: Item) -> int:
        from tracekit.compare.setting_lines import line_of

        if self._config is None:
            return 1
        if item.setting not in self._lines:
            self._lines[item.setting] = line_of(self._config, item.setting)
        return self._lines[item.setting]

    def _settings_file(self) -> str | None:
        """The file of settings as a path in the repository, with `/`; None where it is outside."""
        if self._config is None:
            return None
        path = self._config.resolve()
        workspace = os.environ.get("GITHUB_WORKSPACE")
        roots = [Path(workspace).resolve()] if workspace else []
        roots += [folder for folder in path.parents if (folder / ".git").exists()]
        return next((path.relative_to(root).as_posix() for root in roots if path.is_relative_to(root)), None)


def _form_of(path: Path) -> str:
    name = path.name.lower()
    form = next((form for ending, form in ENDINGS.items() if name.endswith(ending)), None)
    if form is None:
        raise UsageError(f"{path}: unknown extension (supported: {' '.join(ENDINGS)})")
    return form


def _write_for_runner(gate: Gate) -> list[TracekitError]:
    """Step summary and outputs, in the files that the runner names."""
    from tracekit.compare.renderers.gate import render_markdown

    verdict = str(gate.verdict).replace(" ", "-")
    texts = {
        "GITHUB_STEP_SUMMARY": render_markdown(gate, SUMMARY_BYTES),
        "GITHUB_OUTPUT": f"verdict={verdict}\nexit-code={int(STATUS[gate.verdict])}\n",
    }
    return [error for variable, text in texts.items() if (error := _append(variable, text)) is not None]


def _append(variable: str, text: str) -> TracekitError | None:
    """Add to the file that an environment variable names; nothing where it is not set. Returns what went wrong."""
    name = os.environ.get(variable)
    if not name:
        return None
    try:
        with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        return TracekitError(f"cannot write {variable}: {error.strerror or error}")
    return None
