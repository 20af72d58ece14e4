"""Every action of the terminal UI: the functions of `tracekit.tui.commands` with the keys of `tracekit.tui.keys`.

Help and command palette are made from this table; bindings and footer, which need no function, from that of the keys.
"""

from __future__ import annotations

from tracekit.tui.action import Action
from tracekit.tui.commands import bookmarks, compare, detail, export, find, lists, program, select, views, walk
from tracekit.tui.keys import SHORTCUTS

_BY_ID = {
    value.id: value
    for module in (bookmarks, compare, detail, export, find, lists, program, select, views, walk)
    for value in vars(module).values()
    if isinstance(value, Action)
}

ACTIONS: tuple[Action, ...] = tuple(_BY_ID[shortcut.id] for shortcut in SHORTCUTS)
"""In the order in which each section of the help screen shows them."""


def action_named(identity: str) -> Action:
    """The action of that id. Raises KeyError."""
    return _BY_ID[identity]
