"""Every action of the terminal UI: the functions of `tracekit.tui.commands` with the keys of `tracekit.tui.keys`.

Help and command palette are made from this table, and shown here; bindings and footer, from that of the keys.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.await_complete import AwaitComplete
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider

from tracekit.tui.commands import export, find, select, views
from tracekit.tui.keys import SHORTCUTS, Action, action, key_signs
from tracekit.tui.screens.help import HelpScreen
from tracekit.tui.screens.small import Modal
from tracekit.tui.state_app import StateApp


@action("help")
def show_help(app: StateApp) -> None:
    """Show all keys; type there to search them."""
    app.push_screen(HelpScreen(ACTIONS))


class ActionCommands(Provider):
    """Finds actions by name and by what they do."""

    async def discover(self) -> Hits:
        """All actions, before anything is typed."""
        for entry in ACTIONS:
            yield DiscoveryHit(_name(entry), self._runner(entry), help=entry.help)

    async def search(self, query: str) -> Hits:
        """Actions whose name or sentence fits."""
        matcher = self.matcher(query)
        for entry in ACTIONS:
            name = _name(entry)
            # The section stands in each of its names, so that it says least.
            score = max(matcher.match(entry.title), matcher.match(entry.help) / 2, matcher.match(name) / 4)
            if score > 0:
                yield Hit(score, matcher.highlight(name), self._runner(entry), help=entry.help)

    def _runner(self, entry: Action) -> Callable[[], object]:
        return partial(self.app.call_later, self.app.run_action, f"run('{entry.id}')")


class CommandScreen(CommandPalette, Modal[None]):
    """The palette; Textual's ends the app where its list has no lines yet, no room for one, or is gone."""

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close; a search that went on would look for its list."""
        self.workers.cancel_node(self)
        self._stop_busy_countdown()
        self._stop_no_matches_countdown()
        return super().dismiss(result)


@action("palette")
def show_palette(app: StateApp) -> None:
    """Find a command by name."""
    app.push_screen(CommandScreen(providers=[ActionCommands], placeholder="Find a command"))


ACTIONS_BY_ID = {
    value.id: value
    for names in (globals(), *map(vars, (export, find, select, views)))
    for value in (*names.values(), *views.PANES)
    if isinstance(value, Action)
}
ACTIONS: tuple[Action, ...] = tuple(ACTIONS_BY_ID[identity] for identity in SHORTCUTS)
"""In the order in which each section of the help screen shows them."""


def _name(action: Action) -> str:
    return f"{action.section}: {action.title}  ({key_signs(action)})"
