"""What concerns the whole screen and the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.lanes.lanes import Grouping
from tracekit.tui.action import action

if TYPE_CHECKING:
    from tracekit.tui.state_app import StateApp


@action("focus_next")
def focus_next(app: StateApp) -> None:
    """Move the focus to the next pane."""
    app.focus_area(1)


@action("focus_previous")
def focus_previous(app: StateApp) -> None:
    """Move the focus to the previous pane."""
    app.focus_area(-1)


@action("grouping")
def next_grouping(app: StateApp) -> None:
    """Group lanes by Activity, Data and Compute, by event, or by model."""
    ways = list(Grouping)
    app.regroup(ways[(ways.index(app.state.grouping) + 1) % len(ways)])


@action("maximize")
def maximize(app: StateApp) -> None:
    """Give the whole screen to the part that has the focus, or share it again."""
    app.change(maximized=None if app.state.maximized is not None else app.focused_area)


@action("expand")
def expand(app: StateApp) -> None:
    """Show all rows of the lane, or only the first few."""
    app.change(expanded=app.state.expanded ^ {app.state.lane})


@action("theme")
def switch_theme(app: StateApp) -> None:
    """Switch between dark and light theme."""
    app.switch_theme()


@action("redraw")
def draw_anew(app: StateApp) -> None:
    """Redraw the screen, where another program wrote over it."""
    app.draw_anew()


@action("help")
def show_help(app: StateApp) -> None:
    """Show all keys."""
    app.show_help()


@action("palette")
def show_palette(app: StateApp) -> None:
    """Find a command by name."""
    app.show_palette()


@action("quit")
def leave(app: StateApp) -> None:
    """Quit."""
    app.leave()
