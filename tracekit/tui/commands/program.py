"""What concerns the whole screen and the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.tui.action import action
from tracekit.tui.state import Grouping

if TYPE_CHECKING:
    from tracekit.tui.action import ActionHost


@action("focus_next")
def focus_next(app: ActionHost) -> None:
    """Put the keys on the next area."""
    app.focus_area(1)


@action("focus_previous")
def focus_previous(app: ActionHost) -> None:
    """Put the keys on the area before."""
    app.focus_area(-1)


@action("grouping")
def next_grouping(app: ActionHost) -> None:
    """Lay the lanes out by Activity, Data and Compute, by event, or by model."""
    ways = list(Grouping)
    app.regroup(ways[(ways.index(app.state.grouping) + 1) % len(ways)])


@action("expand")
def expand(app: ActionHost) -> None:
    """Show all rows of the lane, or a few again."""
    app.change(expanded=app.state.expanded ^ {app.state.lane})


@action("theme")
def switch_theme(app: ActionHost) -> None:
    """Switch between the light and the dark theme."""
    app.switch_theme()


@action("help")
def show_help(app: ActionHost) -> None:
    """Show all keys."""
    app.show_help()


@action("palette")
def show_palette(app: ActionHost) -> None:
    """Find an action by name."""
    app.show_palette()


@action("quit")
def leave(app: ActionHost) -> None:
    """Leave."""
    app.leave()
