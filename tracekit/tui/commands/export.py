"""Copying to the clipboard and saving reports.

What makes them is imported once one is wanted: renderers and texts of all detectors would delay the first lanes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from tracekit.errors import UsageError
from tracekit.recording.places import check_usable, is_part_of_recording
from tracekit.render.blocks import plain
from tracekit.render.forms import ENDINGS, REPORT_FORMS, form_for
from tracekit.tui.commands.select import NOT_YET, selected_check
from tracekit.tui.commands.views import focused_list
from tracekit.tui.detail.columns import ListColumn
from tracekit.tui.detail.events import FIRST_SORT, event_columns, event_record
from tracekit.tui.keys import ActionError, action, action_of
from tracekit.tui.messages import in_background
from tracekit.tui.screens.small import AskScreen
from tracekit.tui.state import EVIDENCE_FRAMES
from tracekit.tui.state_app import StateApp
from tracekit.tui.text import longest_that_fits
from tracekit.tui.viewport import Span
from tracekit.units import format_count


@action("copy_row")
def copy_row(app: StateApp) -> None:
    """Copy the row or event as Markdown."""
    state, listed = app.state, focused_list(app)
    event, trace = state.selection.event, state.session.trace
    columns: Sequence[ListColumn[Any]]
    if listed is not None and listed.cursor < len(listed.rows):
        columns, record = listed.rows.columns, listed.rows.record(listed.cursor)
    elif listed is None and event is not None and event.frame in EVIDENCE_FRAMES:
        columns, record = event_columns(trace, FIRST_SORT), event_record(trace, event)
    else:
        raise ActionError("No row to copy; go to a list with tab, or select an event with n.")
    titles, texts = [column.title for column in columns], [plain(column.text(record)) for column in columns]
    compared = state.pane == "compare" and listed is not None
    traces = [session.whole_trace for session in (state.sessions if compared else (state.session,))]
    about = state.session.name if len(state.sessions) > 1 else ""
    if compared:
        before, after = state.sessions
        measure = f"{state.measure}, " if state.measure is not None else ""
        about = f"{measure}before: {before.name}, after: {after.name}"
    _copy(app, lambda export: export.row_markdown(traces, titles, texts, about), "the row")


@action("copy_finding")
def copy_finding(app: StateApp) -> None:
    """Copy the finding as Markdown."""
    session, (ref, check) = app.state.session, selected_check(app)
    _copy(app, lambda export: export.finding_markdown(session, ref.check), f"the check {check.id}")


@action("copy_statistics")
def copy_statistics(app: StateApp) -> None:
    """Copy the statistics as Markdown."""
    session, span, event_filter = app.state.session, app.state.range, app.state.filter
    if span is None and session.report is None:
        raise ActionError(NOT_YET)
    about = "the statistics of the range" if span is not None else "the statistics of the recording"
    named = len(app.state.sessions) > 1
    _copy(app, lambda export: export.statistics_markdown(session, span, event_filter, named=named), about)


@action("save_range")
def save_range(app: StateApp) -> None:
    """Save a report of the range."""
    if app.state.range is None:
        raise ActionError("No range; set one with v, or drag along the ruler.")
    _save(app, app.state.range)


def _copy(app: StateApp, make: Callable[[ModuleType], str], what: str) -> None:
    from tracekit.tui import export

    def show(text: str) -> None:
        if not text:
            app.say("No events start in the range; nothing to copy.")
            return
        app.copy_to_clipboard(text)
        lines = format_count(len(text.splitlines()), "line")
        # It goes through the terminal, which does not report whether it took it.
        hint = "; tmux needs `set -g set-clipboard on`" if "TMUX" in os.environ else ""
        ways = (f"{what} as Markdown ({lines}, redacted)", f"{what} ({lines}, redacted)", f"{lines}, redacted")
        app.say(longest_that_fits([f"Copied {way}{hint}." for way in ways], app.size.width - 2))

    in_background(app, lambda: make(export), show)


class FileName:
    """Takes the name of a file to write. One that is there must be given twice."""

    def __init__(self, recordings: Sequence[str] = ()) -> None:
        """`recordings` are the paths that are open, which no report may replace."""
        self._recordings = recordings
        self._confirmed = ""

    def __call__(self, name: str) -> tuple[Path, bool]:
        """The file, and whether it may replace one that is there. Raises `ValueError` with what is wrong."""
        path = Path(name.strip()).expanduser()
        try:
            form_for(path)
            check_usable(path)
        except UsageError as error:
            raise ValueError(f"{error}.") from error
        if not path.parent.is_dir():
            raise ValueError(f"No such folder: '{path.parent}'.")
        if path.is_dir():
            raise ValueError(f"'{path}' is a folder.")
        with suppress(OSError):
            if is_part_of_recording(path, self._recordings):
                raise ValueError(f"'{path}' is part of a recording.")
        if path.exists() and self._confirmed != name:
            self._confirmed = name
            raise ValueError(f"'{path}' exists; enter again overwrites, or change the name.")
        return path, self._confirmed == name


def _save(app: StateApp, span: Span | None) -> None:
    from tracekit.tui import export

    session = app.state.session
    if session.report is None:
        raise ActionError(NOT_YET)

    def take(file: tuple[Path, bool] | None) -> None:
        if file is None:
            return
        app.say("Writing the report…")
        path, replace = file

        def report(ways: Sequence[str]) -> None:
            app.say(longest_that_fits(ways, app.size.width - 2))

        in_background(app, lambda: export.save_report(session, span, path, replace=replace), report)

    about = "recording" if span is None else "range"
    suggested = f"{PurePath(session.name).stem}{'' if span is None else '-range'}.md"
    hint = f"Format follows the extension: {_ENDINGS}. Private data is redacted."
    app.push_screen(AskScreen(f"Save the report of the {about}", hint, FileName(app.viewed.paths), suggested), take)


*_OTHERS, _LAST = (ENDINGS[form][0] for form in REPORT_FORMS)
_ENDINGS = f"{', '.join(_OTHERS)} or {_LAST}"
save_report = action_of("save_report", f"Save the report as {_ENDINGS}.", partial(_save, span=None))
