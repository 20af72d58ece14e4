"""The one table of actions, and all that is made from it."""

from __future__ import annotations

import asyncio
import io
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from textual.app import App

from tracekit.lanes.categories import Category
from tracekit.trace.instruments.catalogue import CONTEXT
from tracekit.tui.app import ACTIONS, ACTIONS_BY_ID, ActionCommands, ViewApp
from tracekit.tui.detail.rowlist import RowList
from tracekit.tui.keys import Scope, Section, bindings, key_signs
from tracekit.tui.screens.browse import PANES
from tracekit.tui.screens.help import LETTER_SIGNS, help_text
from tracekit.tui.theme import PALETTES
from tracekit.tui.timeline.glyphs import LITTLE
from tracekit.tui.timeline.widget import Timeline


def rendered(block) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(block)
    return console.file.getvalue()


def test_ids_and_titles_are_unique():
    assert len(ACTIONS) > 20
    assert max(Counter(action.id for action in ACTIONS).values()) == 1
    assert max(Counter(action.title for action in ACTIONS).values()) == 1


def test_no_key_does_two_things_in_one_scope():
    used = Counter((action.scope, key) for action in ACTIONS for key in action.keys)
    assert [entry for entry, count in used.items() if count > 1] == []


def test_every_action_is_in_the_help_exactly_once():
    text = rendered(help_text(PALETTES[True], ACTIONS))
    for action in ACTIONS:
        sentence = action.help.removesuffix(".")
        assert text.count(f"{sentence}.") + text.count(f"{sentence} (") == 1, action.id


def test_every_look_on_the_lanes_is_in_the_help():
    text = rendered(help_text(PALETTES[True], ACTIONS)).partition("On the lanes")[2]
    for look in Category:
        assert f" {look.letter} " in text
        assert f"{look.title}\n" in "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    assert len({look.letter for look in Category}) == len(Category)


@pytest.mark.parametrize("letters", [False, True])
def test_every_sign_on_and_around_the_lanes_is_in_the_help(letters):
    text = rendered(help_text(PALETTES[True], ACTIONS, monochrome=letters)).partition("On the lanes")[2]
    lines = [line.split("  ")[1].strip() for line in text.splitlines() if line.startswith("  ") and line.strip()]
    assert {"▼", "◆", "◇", "▸ ▹", "+", "▾ ▴", "╱╱╱", "underlined"} <= set(lines)
    assert ({LITTLE, "[LLLL]", "[====]", "[ ]", "reversed"} <= set(lines)) == letters
    assert ("▁ ▄ █" in lines) == ("╌╌╌" in text) == (not letters)
    # A state that has no look of its own, as `Unknown`, is drawn as any other event.
    assert all("unknown" not in context.strip.colors for context in CONTEXT if context.strip is not None)
    assert "unknown state" in Category.OTHER.title


def test_the_page_tells_the_signs_that_stand_for_colors():
    page = (Path(__file__).parents[2] / "docs" / "view.md").read_text("utf-8")
    section = page.partition("With `NO_COLOR` set")[2].partition("\n## ")[0]
    signs = [sign for sign, _ in LETTER_SIGNS if not sign.isalpha()]
    assert len(signs) > 3
    assert [sign for sign in (*signs, Category.FADED.letter) if f"`{sign}`" not in section] == []


def test_every_action_is_in_the_palette_exactly_once():
    async def discovered() -> list[str]:
        app: App[None] = App()
        async with app.run_test():
            provider = ActionCommands(app.screen)
            return [str(hit.display) async for hit in provider.discover()]

    names = asyncio.run(discovered())
    assert names == [f"{action.section}: {action.title}  ({key_signs(action)})" for action in ACTIONS]


def test_the_palette_finds_an_action_by_its_title():
    async def found(query: str) -> list[str]:
        app: App[None] = App()
        async with app.run_test():
            provider = ActionCommands(app.screen)
            hits = [hit async for hit in provider.search(query)]
            return [str(hit.text) for hit in sorted(hits, reverse=True)]

    assert "Zoom in" in asyncio.run(found("zoom in"))[0]
    # The name of its section holds the word for others too.
    assert all("ookmark" in text.partition(": ")[2] for text in asyncio.run(found("bookm"))[:3])


def test_every_action_is_bound_where_its_scope_says():
    places = {Scope.APP: ViewApp, Scope.TIMELINE: Timeline, Scope.LIST: RowList}
    for action in ACTIONS:
        owner = places[action.scope]
        bound = {binding.id: binding for binding in owner.BINDINGS}
        assert bound[action.id].action == f"app.run('{action.id}')"
        assert bound[action.id].key == ",".join(action.keys)
    assert sum(len(bindings(scope)) for scope in Scope) == len(ACTIONS)


def test_every_action_says_what_it_does_in_one_sentence():
    for action in ACTIONS:
        assert action.help.endswith(".")
        assert action.help[0].isupper()
        assert len(action.title) <= 20
        assert action.keys
        assert action.section in Section


def test_the_help_says_what_enter_does_on_rows_that_stand_for_many():
    text = " ".join(rendered(help_text(PALETTES[True], ACTIONS)).split())
    assert "List a finding's intervals, or the events behind a row; zoom to others" in text
    assert "double click On a title, show all rows; on a list row, enter." in text


def test_every_pane_has_an_action():
    assert len(PANES) >= 3
    for pane in PANES:
        assert ACTIONS_BY_ID[f"pane_{pane.PANE}"].title == pane.TITLE


def test_an_unknown_action_is_no_action():
    with pytest.raises(KeyError):
        ACTIONS_BY_ID["fly"]
