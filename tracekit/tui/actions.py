"""Every action of the terminal UI, once. Key bindings, footer, help and command palette are made from this table.

Adding an action is a function in a module of `tracekit.tui.commands` and one entry in its `ACTIONS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding

from tracekit.tui.commands import bookmarks, compare, detail, export, find, lists, program, select, views, walk

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tracekit.tui.action import Action, Scope

ACTIONS: tuple[Action, ...] = (
    *views.ACTIONS,
    *select.ACTIONS,
    *walk.ACTIONS,
    *find.ACTIONS,
    *bookmarks.ACTIONS,
    *detail.ACTIONS,
    *lists.ACTIONS,
    *export.ACTIONS,
    *compare.ACTIONS,
    *program.ACTIONS,
)
"""In the order in which the footer and each group of the help screen show them."""

_BY_ID = {action.id: action for action in ACTIONS}


def action_named(identity: str) -> Action:
    """The action of that id. Raises KeyError."""
    return _BY_ID[identity]


def bindings(scope: Scope) -> list[BindingType]:
    """Key bindings of one scope."""
    return [
        Binding(",".join(action.keys), f"app.run('{action.id}')", action.title, show=action.footer, id=action.id)
        for action in ACTIONS
        if action.scope is scope
    ]
