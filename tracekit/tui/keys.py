"""What an action of the terminal UI is, and the keys of every one, as data.

Widgets read their bindings here and know no action. A key is changed here; `tracekit.tui.commands` says what an action
does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from textual.binding import Binding, BindingType
from textual.keys import format_key


class Scope(StrEnum):
    """Where the keys of an action work."""

    APP = "app"
    """Everywhere, except while text is typed."""
    TIMELINE = "timeline"
    """While the timeline has the focus."""
    LIST = "list"
    """While a list of the detail area, or a text, has the focus: there, keys mean what they mean in less and vim."""


class Section(StrEnum):
    """Sections of the help screen and the palette, in order."""

    MOVE = "Move and zoom"
    SELECT = "Select and step"
    FIND = "Search and bookmarks"
    DETAIL = "Panes and lists"
    EXPORT = "Copy and save"
    COMPARE = "Compare two recordings"
    APP = "View and app"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """The keys of an action, and how they are listed."""

    id: str
    keys: tuple[str, ...]
    """Keys as Textual names them; where there is room for one alone, it is the first."""
    title: str
    """Two or three words."""
    section: Section
    scope: Scope = Scope.APP
    early: bool = False
    """Whether it can be done before a recording is open."""
    of_row: bool = False
    """Whether it is about a list or its row: where that has the keys, it waits until the list shows what was asked."""


SHORTCUTS: dict[str, Shortcut] = {
    shortcut.id: shortcut
    for shortcut in (
        Shortcut("zoom_in", ("w", "plus", "equals_sign"), "Zoom in", Section.MOVE),
        Shortcut("zoom_out", ("s", "minus"), "Zoom out", Section.MOVE),
        Shortcut("pan_left", ("a", "left", "h"), "Pan left", Section.MOVE),
        Shortcut("pan_right", ("d", "right", "l"), "Pan right", Section.MOVE),
        Shortcut("lane_up", ("up", "k"), "Lane above", Section.MOVE, Scope.TIMELINE),
        Shortcut("lane_down", ("down", "j"), "Lane below", Section.MOVE, Scope.TIMELINE),
        Shortcut("fit", ("0", "home"), "Fit all", Section.MOVE),
        Shortcut("fit_selection", ("f",), "Fit selection", Section.MOVE, of_row=True),
        Shortcut("back", ("left_square_bracket",), "Back", Section.MOVE),
        Shortcut("forward", ("right_square_bracket",), "Forward", Section.MOVE),
        Shortcut("next_event", ("n",), "Next event", Section.SELECT),
        Shortcut("previous_event", ("N", "p"), "Previous event", Section.SELECT),
        Shortcut("next_slow", ("e",), "Next slow event", Section.SELECT),
        Shortcut("previous_slow", ("E",), "Previous slow event", Section.SELECT),
        Shortcut("select_here", ("enter",), "Select", Section.SELECT, Scope.TIMELINE),
        Shortcut("mark", ("v",), "Mark range", Section.SELECT, of_row=True),
        Shortcut("range_of_event", ("V",), "Range from event", Section.SELECT, of_row=True),
        Shortcut("clear", ("escape",), "Clear", Section.SELECT),
        Shortcut("next_evidence", ("full_stop",), "Next interval", Section.SELECT, of_row=True),
        Shortcut("previous_evidence", ("comma",), "Previous interval", Section.SELECT, of_row=True),
        Shortcut("to_finding", ("F",), "Go to its finding", Section.SELECT, of_row=True),
        Shortcut("to_related", ("r",), "Related finding", Section.SELECT, of_row=True),
        Shortcut("to_prediction", ("P",), "Go to its prediction", Section.SELECT, of_row=True),
        Shortcut("why", ("W",), "Why slow", Section.SELECT, of_row=True),
        Shortcut("filter", ("slash",), "Search and filter", Section.FIND),
        Shortcut("clear_filter", ("c",), "Clear filter", Section.FIND),
        Shortcut("next_match", ("m",), "Next match", Section.FIND),
        Shortcut("previous_match", ("M",), "Previous match", Section.FIND),
        Shortcut("go_to_time", ("g", "colon"), "Go to time", Section.FIND),
        Shortcut("bookmark", ("b",), "Bookmark", Section.FIND, of_row=True),
        Shortcut("bookmarks", ("B",), "Bookmarks", Section.FIND),
        Shortcut("next_bookmark", ("apostrophe",), "Next bookmark", Section.FIND),
        Shortcut("pane_findings", ("1",), "Findings", Section.DETAIL),
        Shortcut("pane_aggregation", ("2",), "Aggregation", Section.DETAIL),
        Shortcut("pane_events", ("3",), "Events", Section.DETAIL),
        Shortcut("pane_predictions", ("4",), "Predictions", Section.DETAIL),
        Shortcut("pane_models", ("5",), "Models", Section.DETAIL),
        Shortcut("pane_facts", ("6",), "Recording", Section.DETAIL),
        Shortcut("pane_code", ("7",), "Code", Section.DETAIL),
        Shortcut("frames", ("X",), "Call tree frames", Section.DETAIL),
        Shortcut("invert", ("U",), "Invert call tree", Section.DETAIL),
        Shortcut("sort_next", ("o",), "Sort by next column", Section.DETAIL, of_row=True),
        Shortcut("sort_reversed", ("O",), "Reverse sort order", Section.DETAIL, of_row=True),
        Shortcut("columns", ("C",), "Columns", Section.DETAIL),
        Shortcut("toggle_inspector", ("i",), "Inspector", Section.DETAIL),
        Shortcut("page", ("I",), "Full page", Section.DETAIL, of_row=True),
        Shortcut("row_up", ("up", "k"), "Row above", Section.DETAIL, Scope.LIST),
        Shortcut("row_down", ("down", "j"), "Row below", Section.DETAIL, Scope.LIST),
        Shortcut("page_up", ("pageup",), "Page up", Section.DETAIL, Scope.LIST),
        Shortcut("page_down", ("pagedown",), "Page down", Section.DETAIL, Scope.LIST),
        Shortcut("half_page_up", ("ctrl+u",), "Half a page up", Section.DETAIL, Scope.LIST),
        Shortcut("half_page_down", ("ctrl+d",), "Half a page down", Section.DETAIL, Scope.LIST),
        Shortcut("first_row", ("home", "g"), "First row", Section.DETAIL, Scope.LIST),
        Shortcut("last_row", ("end", "G"), "Last row", Section.DETAIL, Scope.LIST),
        Shortcut("open_row", ("enter",), "Open row", Section.DETAIL, Scope.LIST),
        Shortcut("copy_row", ("y",), "Copy row", Section.EXPORT, of_row=True),
        Shortcut("copy_finding", ("Y",), "Copy finding", Section.EXPORT, of_row=True),
        Shortcut("copy_statistics", ("ctrl+y",), "Copy statistics", Section.EXPORT),
        Shortcut("save_report", ("S",), "Save report", Section.EXPORT),
        Shortcut("save_range", ("R",), "Save range report", Section.EXPORT),
        Shortcut("pane_compare", ("8",), "Compare", Section.COMPARE),
        Shortcut("next_measure", ("u",), "Compare by", Section.COMPARE),
        Shortcut("other_recording", ("z",), "Switch recording", Section.COMPARE),
        Shortcut("align", ("A",), "Align", Section.COMPARE),
        Shortcut("focus_next", ("tab",), "Next pane", Section.DETAIL),
        Shortcut("focus_previous", ("shift+tab",), "Previous pane", Section.DETAIL),
        Shortcut("grouping", ("t",), "Group by", Section.APP),
        Shortcut("maximize", ("Z",), "Maximize", Section.APP),
        Shortcut("expand", ("x",), "Expand lane", Section.APP),
        Shortcut("legend", ("L",), "Legend", Section.APP),
        Shortcut("theme", ("T",), "Light/dark theme", Section.APP, early=True),
        Shortcut("redraw", ("ctrl+l",), "Redraw", Section.APP, early=True),
        Shortcut("help", ("question_mark", "f1"), "Help", Section.APP, early=True),
        Shortcut("palette", ("ctrl+p",), "Command palette", Section.APP),
        Shortcut("quit", ("q", "ctrl+c"), "Quit", Section.APP, early=True),
    )
}
"""By id, in the order in which each section of the help screen shows them."""


def bindings(scope: Scope) -> list[BindingType]:
    """Key bindings of one scope."""
    return [
        Binding(",".join(entry.keys), f"app.run('{entry.id}')", entry.title, id=entry.id)
        for entry in SHORTCUTS.values()
        if entry.scope is scope
    ]


_KEY_WORDS = {"enter": "enter", "pageup": "page up", "pagedown": "page down"}
"""What Textual has signs for that not every font holds, or shortens."""


def key_signs(shortcut: Shortcut) -> str:
    """Keys as they stand on a keyboard: `w + =`."""
    return "  ".join(_KEY_WORDS.get(key) or format_key(key) for key in shortcut.keys)


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
