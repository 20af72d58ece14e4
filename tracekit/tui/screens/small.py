"""What all screens are; while a recording is read, or when it cannot be opened; small ones over the main one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual._widget_navigation import Direction
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, OptionList, SelectionList, Static
from textual.widgets.selection_list import Selection as Tick

from tracekit.recording import Progress
from tracekit.report.formatting import visible
from tracekit.tui.action_line import KeysFooter
from tracekit.tui.messages import in_background
from tracekit.tui.text import cut


class SizedScreen(Screen[ScreenResultType], Generic[ScreenResultType]):
    """Is laid out for no size but that of the terminal.

    Textual's screens post to themselves each size that they were laid out for. Of two that come at once, each would
    bring back the other, without end, or the first one would stay.
    """

    def _screen_resized(self, size: Size) -> None:
        del size
        super()._screen_resized(self.app.size)


class Modal(SizedScreen[ScreenResultType], ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """Closes once: keys and clicks that came before the screen was gone would close the one below it too."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, unless that was done."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()


Asked = TypeVar("Asked")


class AskScreen(Modal[Asked], Generic[Asked]):
    """One line of text. What is wrong with it is said below, and the screen stays until it is right."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel"), ("tab", "complete", "Complete")]

    def __init__(
        self,
        title: str,
        hint: str,
        parse: Callable[[str], Asked],
        value: str = "",
        typed: Callable[[Asked], Callable[[], str]] | None = None,
        complete: Callable[[str], str] | None = None,
    ) -> None:
        """`parse` gives what a text means, or raises `ValueError` with what is wrong. `typed` gets the meaning of each
        text, and gives a function that says what comes of it, which runs in a thread. `complete` gives more of a
        text."""
        super().__init__()
        self._complete = complete
        self._typed = typed
        self._title, self._hint, self._parse, self._value = title, hint, parse, value

    def compose(self) -> ComposeResult:
        """The line, what may stand in it, and what is wrong."""
        with Vertical(classes="ask") as box:
            box.border_title = self._title
            box.border_subtitle = f"enter applies, {'tab completes, ' if self._complete else ''}esc cancels"
            yield Input(self._value)
            yield Static(self._hint, classes="dim", markup=False)
            yield Static(id="problem", markup=False)

    def action_complete(self) -> None:
        """Complete the last word."""
        line = self.query_one(Input)
        if self._complete is not None:
            line.value = self._complete(line.value)
            line.cursor_position = len(line.value)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Say what comes of the text so far."""
        text = message.value
        if self._typed is None:
            return
        try:
            meant = self._parse(text)
        except ValueError:
            self._say("")
            return

        def show(words: str) -> None:
            # The prompt may have been answered meanwhile.
            if any(line.value == text for line in self.query(Input)):
                self._say(words)

        in_background(self, self._typed(meant), show)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Take the text, or say what is wrong."""
        try:
            self.dismiss(self._parse(message.value))
        except ValueError as problem:
            self._say(str(problem), wrong=True)

    def _say(self, words: str, *, wrong: bool = False) -> None:
        for line in self.query("#problem").results(Static):
            line.set_class(wrong, "wrong")
            line.update(visible(words))


class ChoiceList(OptionList):
    """A list that begins at its first line, and turns no page until it is laid out; Textual's ends the app then."""

    def on_mount(self) -> None:
        """Begin at the first line."""
        self.highlighted = 0

    def _move_page(self, direction: Direction) -> None:
        if self.scrollable_content_region:
            super()._move_page(direction)


class TickList(SelectionList[str], ChoiceList):
    """The same with things to tick."""


class ChooseScreen(Modal[int]):
    """Asks for one of several lines; gives its index."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "Cancel")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """The lines in a box, as a list with a cursor."""
        with Vertical(classes="ask") as box:
            box.border_title = self._title
            box.border_subtitle = "enter jumps there, esc cancels"
            yield ChoiceList(*(Text(visible(line)) for line in self._lines))

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        """Take the index of a line."""
        self.dismiss(message.option_index)


class TickScreen(Modal[frozenset[str]]):
    """Things that are shown or hidden."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "finish", "Done"), ("q", "finish", "Done")]

    def __init__(
        self, title: str, names: Sequence[str], ticked: frozenset[str], note: Callable[[str, frozenset[str]], str]
    ) -> None:
        """`note` says beside a name what becomes of it while some are ticked, or nothing."""
        super().__init__()
        self._title, self._names, self._ticked, self._note = title, names, ticked, note

    def compose(self) -> ComposeResult:
        """The names in a box, each with a tick."""
        with Vertical(classes="ask") as box:
            box.border_title = self._title
            box.border_subtitle = "space or enter toggles, esc closes"
            yield TickList(*(Tick(self._line(name, self._ticked), name, name in self._ticked) for name in self._names))

    def on_selection_list_selected_changed(self) -> None:
        """Say again what becomes of each: one that goes makes room for another."""
        listed = self.query_one(SelectionList)
        ticked = frozenset(listed.selected)
        for index, name in enumerate(self._names):
            listed.replace_option_prompt_at_index(index, self._line(name, ticked))

    def _line(self, name: str, ticked: frozenset[str]) -> Text:
        note = self._note(name, ticked)
        # The box looks the same with and without a tick where there are no colors.
        state = "shown" if name in ticked else "hidden"
        return Text.assemble(f"{state:<8}", name, (f"  {note}", "dim") if note else "")

    def action_finish(self) -> None:
        """Give the names that are ticked."""
        self.dismiss(frozenset(self.query_one(SelectionList).selected))


_BAR = 40
"""Cells of the bar."""


def progress_text(progress: Progress, width: int) -> str:
    """A bar, or the size read where the whole is not known, and below it the file, in `width` cells."""
    if progress.total_bytes:
        bar = max(min(_BAR, width - len("  100%")), 0)
        filled = progress.done_bytes * bar // progress.total_bytes
        share = progress.done_bytes * 100 // progress.total_bytes
        amount = f"{'█' * filled}{'░' * (bar - filled)}  {share}%"
    else:
        amount = f"{progress.done_bytes / 1e6:,.1f} MB read"
    return f"{amount}\n\n{cut(visible(progress.source), width)}"


class OpeningScreen(SizedScreen[None], inherit_bindings=False):
    """How far reading has come, and how to give up.

    Without Textual's progress bar: it moves fifteen times a second by itself, in the time that reading needs.
    """

    def __init__(self, names: str) -> None:
        super().__init__()
        self._names = names

    def compose(self) -> ComposeResult:
        """A bar in the middle."""
        with Vertical(id="opening"):
            yield Static(visible(f"Opening {self._names}"), markup=False)
            yield Static("", id="progress", markup=False)
            yield Static("q cancels", classes="dim")

    def show(self, progress: Progress) -> None:
        """Show how far it has come."""
        line = self.query_one("#progress", Static)
        # Its size never changes, so that nothing is laid out again while all else waits.
        line.update(progress_text(progress, line.content_size.width), layout=False)


class TroubleScreen(SizedScreen[None], inherit_bindings=False):
    """What is wrong and what to do: the sentence of the error says both."""

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self._sentence = sentence

    def compose(self) -> ComposeResult:
        """The sentence in the middle."""
        with Vertical(id="trouble"):
            yield Static("Can't open this recording", classes="title")
            yield Static(visible(self._sentence), markup=False)
        yield KeysFooter()
