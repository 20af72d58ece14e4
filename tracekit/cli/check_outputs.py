"""What `tracekit check` prints and writes: every output, whatever the verdict."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import ExitStatus
from tracekit.cli.forms import deliver, files_of, form_of
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    from tracekit.compare.gate import Gate
    from tracekit.compare.verdict import Item

FORMS = ("text", "markdown", "html", "json", "junit", "sarif")
GITHUB = "github"
"""Text with workflow commands, for the log of an action."""
SUMMARY_BYTES = 900_000
"""GitHub drops a whole step summary above 1 MiB (actions/runner `FileCommandManager.cs`)."""

STATUS = {
    "passed": ExitStatus.DONE,
    "failed": ExitStatus.GATE_FAILED,
    "error": ExitStatus.UNUSABLE,
    "inconclusive": ExitStatus.INCONCLUSIVE,
}


class Outputs:
    """Where the verdict goes. Raises `UsageError` for what cannot be written, before anything is read."""

    def __init__(self, arguments: Namespace, config: Path | None) -> None:
        self._form = form_of(arguments)
        self._files = files_of(arguments, FORMS, arguments.path)
        self._config = config
        self._lines: dict[tuple[str | int, ...], int] = {}
        if "sarif" in (self._form, *self._files.values()) and config is None:
            raise UsageError("SARIF results stand at lines of the settings, and there is no tracekit.toml; add one")

    def write(self, gate: Gate) -> None:
        """Write all outputs. One that fails keeps no other from being written; the first failure is raised at the end.

        Raises `TracekitError`.
        """
        from tracekit.cli.output import emit
        from tracekit.compare.renderers.junit import render_junit
        from tracekit.compare.renderers.sarif import render_sarif
        from tracekit.compare.renderers.workflow_commands import workflow_commands
        from tracekit.documents.gate import gate_document
        from tracekit.report.renderers.serialize import to_json

        for_github = self._form == GITHUB
        failures = _write_for_runner(gate) if for_github else []
        if for_github:
            emit(workflow_commands(gate, self._settings_file(), self._line), commands=True)
        data = {
            "json": lambda: to_json(gate),
            "junit": lambda: render_junit(gate, "tracekit check"),
            "sarif": lambda: render_sarif(gate, self._settings_file() or "tracekit.toml", self._line),
        }
        deliver("text" if for_github else self._form, self._files, lambda _: gate_document(gate), data)
        if failures:
            raise failures[0]

    def _line(self, item: Item) -> int:
        from tracekit.compare.settings import line_of

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


def _write_for_runner(gate: Gate) -> list[TracekitError]:
    """Step summary and outputs, in the files that the runner names."""
    from tracekit.documents.gate import gate_document
    from tracekit.render.markdown import markdown_of

    texts = {
        "GITHUB_STEP_SUMMARY": markdown_of(gate_document(gate), SUMMARY_BYTES),
        "GITHUB_OUTPUT": f"verdict={gate.verdict}\nexit-code={int(STATUS[gate.verdict])}\n",
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
