"""The theme is kept from one run to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracekit.tui.app import ViewApp
from tracekit.tui.opening import Viewed
from tracekit.tui.theme import DARK, LIGHT, remember_theme, remembered_theme, theme_file


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_the_theme_that_was_chosen_last_is_taken_again() -> None:
    assert remembered_theme() is None
    app = ViewApp(Viewed(("x.trace",)), remember=True)
    assert app.theme == DARK
    app.switch_theme()
    assert remembered_theme() == "light"
    assert ViewApp(Viewed(("x.trace",)), remember=True).theme == LIGHT
    # What is asked for goes before, and is kept too.
    assert ViewApp(Viewed(("x.trace",), theme="dark"), remember=True).theme == DARK
    assert remembered_theme() == "dark"


def test_without_memory_nothing_is_read_or_written(state_folder: Path) -> None:
    remember_theme("light")
    app = ViewApp(Viewed(("x.trace",)))
    assert app.theme == DARK
    app.switch_theme()
    app.switch_theme()
    assert remembered_theme() == "light"


@pytest.mark.parametrize("content", [b"blue", b"\xff\xfe", b""])
def test_what_is_no_theme_is_none(content: bytes) -> None:
    remember_theme("light")
    theme_file().write_bytes(content)
    assert remembered_theme() is None


def test_a_folder_that_cannot_be_written_holds_nothing_up(state_folder: Path) -> None:
    (state_folder / "tracekit").write_text("a file in place of the folder")
    remember_theme("light")
    assert remembered_theme() is None
