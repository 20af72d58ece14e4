"""What concerns the whole screen and the program."""

from __future__ import annotations

from tracekit.lanes.lanes import Grouping
from tracekit.tui.action import action, action_of
from tracekit.tui.state_app import StateApp


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


focus_next = action_of("focus_next", "Move the focus to the next pane.", lambda app: app.screen.focus_next())
focus_previous = action_of(
    "focus_previous", "Move the focus to the previous pane.", lambda app: app.screen.focus_previous()
)
switch_theme = action_of("theme", "Switch between dark and light theme.", StateApp.switch_theme)
draw_anew = action_of("redraw", "Redraw the screen, where another program wrote over it.", StateApp.draw_anew)
leave = action_of("quit", "Quit.", StateApp.leave)
