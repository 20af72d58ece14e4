"""The detail area and the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import Action, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.tui.app import ViewApp


def pane(name: str) -> Callable[[ViewApp], None]:
    """Shows a pane and puts the keys on it."""

    def show(app: ViewApp) -> None:
        app.change(pane=name)
        app.browse.focus_pane()

    return show


def toggle_inspector(app: ViewApp) -> None:
    """Show or hide the inspector."""
    app.change(inspector=not app.state.inspector)


ACTIONS: tuple[Action, ...] = (
    Action(
        "pane_findings", ("1",), "Findings", Section.DETAIL, "Show the findings and all other checks.", pane("findings")
    ),
    Action("pane_events", ("3",), "Events", Section.DETAIL, "Show the events one by one.", pane("events")),
    Action(
        "pane_facts",
        ("6",),
        "Recording",
        Section.DETAIL,
        "Show facts of the recording, and what can be concluded from it.",
        pane("facts"),
    ),
    Action(
        "toggle_inspector",
        ("i",),
        "Inspector",
        Section.DETAIL,
        "Show or hide the inspector.",
        toggle_inspector,
    ),
)
