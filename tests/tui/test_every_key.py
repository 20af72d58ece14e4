"""Every key, in every pane, on every kind of row: it does something or says why not, and the screen can be drawn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from functools import partial

import pytest

from tests.tui.conftest import kept_judged
from tracekit.analysis.comparison import Measure
from tracekit.tui import opening
from tracekit.tui.detail.pane import ListPane
from tracekit.tui.keys import SHORTCUTS, Scope
from tracekit.tui.opening import Canceled
from tracekit.tui.screens.browse import PANES
from tracekit.tui.state import LATENCY, Selection, Session, State

RECORDINGS = {
    "one": ("sharpen_8bit",),
    "two": ("style_transfer_reload", "style_transfer_fixed"),
    "signposts": ("local_chat",),
    "language models": ("meal_planner",),
    "memory": ("album_memory",),
    "late frames": ("camera_hitches",),
    "without Core ML": ("not_instrumented",),
}
SIZES = ((60, 16), (120, 40), (200, 60))
PATIENCE_S = 900.0
PLACE = ("pane", "selection", "active", "opened", "filter", "maximized", "inspector", "measure")
"""What of a state says what a key is about. All else, as the part in view, may be that of the last key."""


def kind_of(session: Session, chosen: Selection | None) -> Hashable:
    """What keys may tell apart of what a row stands for."""
    if chosen is None:
        return None
    known: list[Hashable] = [field.name for field in fields(chosen) if getattr(chosen, field.name) is not None]
    if chosen.event is not None:
        row = session.row(chosen.event)
        known += [chosen.event.frame, *map(str, (row.get(name) for name in ("kind", "level", "attribution", "phase")))]
    if chosen.finding is not None:
        check = session.check(chosen.finding)
        known += [check.outcome, check.model is None, bool(check.evidence), chosen.finding.evidence is None]
    if chosen.row is not None:
        known += [chosen.row.source.kind, chosen.row.source.model is None, chosen.row.warm]
    return tuple(known)


async def rows_of_each_kind(screen) -> list[int]:
    """The last row of each kind in the list on screen; none in a text. Of the first finding, intervals are listed."""
    pane, session = screen.app.browse.pane, screen.state.session
    if not isinstance(pane, ListPane):
        return []
    if screen.state.pane == "findings" and session.report is not None:
        await screen.press("enter")
    rows = pane.focus_target().rows
    return sorted({kind_of(session, pane._selection_of(rows, row)): row for row in range(len(rows))}.values())


def place(state: State) -> list[object]:
    return [getattr(state, name) for name in PLACE]


async def press_all(screen, scope: Scope, turn: int) -> None:
    """Press a key of each action here. Of several for the same, each has its `turn`."""
    app, start = screen.app, screen.state
    for entry in SHORTCUTS.values():
        if entry.scope not in (Scope.APP, scope) or entry.id == "quit":
            continue
        if place(app.state) != place(start):
            app.change(**dict(zip(PLACE, place(start), strict=True)))
            await screen.wait()
        if scope is Scope.LIST:
            app.browse.focus_pane()
        else:
            app.browse.focus_timeline(start.active)
        key = entry.keys[turn % len(entry.keys)]
        # Prompts and lists over the screen are confirmed, else left.
        for each in (key, "enter", "escape", "escape"):
            app.simulate_key(each)
            await screen.settle()
            assert app._exception is None, f"{each} for {entry.id} in {start.pane} with {start.selection}"
            if app.screen is app.browse:
                break
        assert app.screen is app.browse, entry.id
        assert app.state.view.span_ns >= app.browse.columns, entry.id


def never(_: Session) -> Session:
    """In place of the checks, as if they took without end."""
    raise Canceled


@pytest.mark.turns(149)
@pytest.mark.parametrize("pane", sorted(pane.PANE for pane in PANES))
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("names", RECORDINGS.values(), ids=RECORDINGS)
@pytest.mark.parametrize("judged", [True, False], ids=["judged", "not judged"])
def test_every_key_does_something_or_says_why_not(
    judged, names, size, pane, run_view, samples, monkeypatch, tmp_path, pytestconfig
):
    every_case = pytestconfig.getoption("--every-case")
    # Reports are saved there.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "judge_session", partial(kept_judged, only=()) if judged else never)

    async def press_on_rows(screen) -> None:
        # Each kind of row at one of the sizes, and any at each; in an ordinary run one.
        rows, at = await rows_of_each_kind(screen), SIZES.index(size)
        chosen = rows[(at + 1) % len(SIZES) :: len(SIZES)] or rows[:1]
        for turn, row in enumerate(chosen if every_case else chosen[:1]):
            screen.app.browse.focus_pane()
            screen.app.browse.pane.focus_target().go(row)
            await screen.settle()
            await press_all(screen, Scope.LIST, turn)

    async def test(screen) -> None:
        (key,) = SHORTCUTS[f"pane_{pane}"].keys
        await screen.press(key)
        if every_case:
            await press_all(screen, Scope.TIMELINE, 0)
            await screen.press(key)
        compares = len(names) > 1 and pane == "compare"
        for measure in (None, Measure.MEAN, LATENCY) if compares else (screen.state.measure,):
            screen.app.change(measure=measure)
            await screen.wait()
            await press_on_rows(screen)
        await screen.press("q")
        assert screen.app.return_code == 0

    run_view(test, *(samples / f"{name}.trace" for name in names), size=size, patience_s=PATIENCE_S)
