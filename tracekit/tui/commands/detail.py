"""The detail area and the inspector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.tui.action import Action, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.tui.app import ViewApp
    from tracekit.tui.detail.listing import ListPane


def pane(name: str) -> Callable[[ViewApp], None]:
    """Shows a pane and puts the keys on it."""

    def show(app: ViewApp) -> None:
        app.change(pane=name)
        app.browse.focus_pane()

    return show


def toggle_inspector(app: ViewApp) -> None:
    """Show or hide the inspector."""
    app.change(inspector=not app.state.inspector)


def _list(app: ViewApp) -> ListPane[Any] | None:
    """The pane on screen, where it is a list that can be sorted."""
    from tracekit.tui.detail.listing import ListPane

    return app.browse.pane if isinstance(app.browse.pane, ListPane) else None


def sort_next(app: ViewApp) -> None:
    """Sort the list by its next column."""
    rows = _list(app)
    if rows is None or not rows.sort_next():
        app.say(_UNSORTED)


def sort_reversed(app: ViewApp) -> None:
    """Sort the list the other way round."""
    rows = _list(app)
    if rows is None or not rows.sort_reversed():
        app.say(_UNSORTED)


def choose_columns(app: ViewApp) -> None:
    """Ask which columns of the list are to be seen."""
    from tracekit.tui.screens.ask import TickScreen

    rows = _list(app)
    titles = rows.titles if rows is not None else ()
    if rows is None or not titles:
        app.say("This has no columns to choose: go to one of the lists with 1 to 5.")
        return
    pane = rows.PANE

    def take(ticked: frozenset[str] | None) -> None:
        if ticked:
            others = {entry for entry in app.state.hidden if entry[0] != pane}
            app.change(hidden=frozenset({*others, *((pane, title) for title in titles if title not in ticked)}))
        elif ticked is not None:
            app.say("At least one column must stay.")

    def note(title: str, ticked: frozenset[str]) -> str:
        # Behind the inspector, a list has no size.
        if not listed.size.width or title not in ticked:
            return ""
        shown = [column.title for column in listed.shown_without(frozenset(titles) - ticked)]
        return "" if title in shown else "no room at present"

    listed = rows.focus_target()
    seen = frozenset(title for title in titles if (pane, title) not in app.state.hidden)
    app.push_screen(TickScreen(f"Columns of {rows.TITLE.lower()}", titles, seen, note), take)


_UNSORTED = "This is not sorted by columns: go to one of the lists with 1 to 5."


ACTIONS: tuple[Action, ...] = (
    Action(
        "pane_findings", ("1",), "Findings", Section.DETAIL, "Show the findings and all other checks.", pane("findings")
    ),
    Action(
        "pane_aggregation",
        ("2",),
        "Aggregation",
        Section.DETAIL,
        "Show statistics by lane, event and model, of the range or of all.",
        pane("aggregation"),
    ),
    Action("pane_events", ("3",), "Events", Section.DETAIL, "Show the events one by one.", pane("events")),
    Action(
        "pane_predictions",
        ("4",),
        "Predictions",
        Section.DETAIL,
        "Show the predictions one by one, with where their time went.",
        pane("predictions"),
    ),
    Action("pane_models", ("5",), "Models", Section.DETAIL, "Show the models.", pane("models")),
    Action(
        "pane_facts",
        ("6",),
        "Recording",
        Section.DETAIL,
        "Show facts of the recording, and what can be concluded from it.",
        pane("facts"),
    ),
    Action("sort_next", ("o",), "Sort by next column", Section.DETAIL, "Sort the list by its next column.", sort_next),
    Action(
        "sort_reversed", ("O",), "Reverse order", Section.DETAIL, "Sort the list the other way round.", sort_reversed
    ),
    Action(
        "columns",
        ("C",),
        "Columns",
        Section.DETAIL,
        "Choose which columns of the list are seen.",
        choose_columns,
    ),
    Action(
        "toggle_inspector",
        ("i",),
        "Inspector",
        Section.DETAIL,
        "Show or hide the inspector.",
        toggle_inspector,
    ),
)
