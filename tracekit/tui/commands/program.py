"""What concerns the whole screen and the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import Action, Section
from tracekit.tui.state import Grouping
from tracekit.tui.theme import DARK, LIGHT

if TYPE_CHECKING:
    from tracekit.tui.app import ViewApp


def focus_next(app: ViewApp) -> None:
    """Put the keys on the next area."""
    app.screen.focus_next()


def focus_previous(app: ViewApp) -> None:
    """Put the keys on the area before."""
    app.screen.focus_previous()


def next_grouping(app: ViewApp) -> None:
    """Lay the lanes out in the next way."""
    ways = list(Grouping)
    app.regroup(ways[(ways.index(app.state.grouping) + 1) % len(ways)])


def expand(app: ViewApp) -> None:
    """Show all rows of the lane with the cursor, or a few again."""
    app.change(expanded=app.state.expanded ^ {app.state.lane})


def switch_theme(app: ViewApp) -> None:
    """Switch between light and dark."""
    app.theme = LIGHT if app.current_theme.dark else DARK


def show_help(app: ViewApp) -> None:
    """Show all keys."""
    from tracekit.tui.screens.help import HelpScreen

    app.push_screen(HelpScreen())


def show_palette(app: ViewApp) -> None:
    """Find an action by name."""
    from textual.command import CommandPalette

    from tracekit.tui.palette import ActionCommands

    app.push_screen(CommandPalette(providers=[ActionCommands], placeholder="What do you want to do?"))


def leave(app: ViewApp) -> None:
    """End the program; a read that is under way is given up."""
    app.leave()


ACTIONS: tuple[Action, ...] = (
    Action("focus_next", ("tab",), "Next area", Section.DETAIL, "Put the keys on the next area.", focus_next),
    Action(
        "focus_previous",
        ("shift+tab",),
        "Area before",
        Section.DETAIL,
        "Put the keys on the area before.",
        focus_previous,
    ),
    Action(
        "grouping",
        ("t",),
        "Grouping",
        Section.APP,
        "Lay the lanes out by Activity, Data and Compute, by event, or by model.",
        next_grouping,
        footer=True,
    ),
    Action("expand", ("x",), "Expand lane", Section.APP, "Show all rows of the lane, or a few again.", expand),
    Action(
        "theme",
        ("T",),
        "Light or dark",
        Section.APP,
        "Switch between the light and the dark theme.",
        switch_theme,
        early=True,
    ),
    Action("help", ("question_mark", "f1"), "Help", Section.APP, "Show all keys.", show_help, footer=True, early=True),
    Action("palette", ("ctrl+p",), "Commands", Section.APP, "Find an action by name.", show_palette),
    Action("quit", ("q", "ctrl+c"), "Quit", Section.APP, "Leave.", leave, footer=True, early=True),
)
