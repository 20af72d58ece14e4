"""What an action of the terminal UI is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tracekit.tui.keys import SHORTCUTS, Shortcut


class ActionError(Exception):
    """An action cannot do anything here; the text says why, or what to do, on the status line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Shortcut):
    """One thing that the user can do."""

    help: str
    """One sentence."""
    run: Callable[[Any], None]
    """Does it, given the app: a `StateApp`, of which screens that list actions know nothing."""


def action_of(identity: str, sentence: str, run: Callable[[Any], None]) -> Action:
    """What the shortcut of that id does, and the sentence that says so."""
    return Action(**asdict(SHORTCUTS[identity]), help=sentence, run=run)


def action(identity: str) -> Callable[[Callable[[Any], None]], Action]:
    """Makes a function what the shortcut of that id does. The first paragraph of its docstring is the help."""

    def make_action(run: Callable[[Any], None]) -> Action:
        sentence = inspect.cleandoc(run.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        return action_of(identity, sentence, run)

    return make_action
