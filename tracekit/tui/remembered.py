"""What the terminal UI keeps from one run to the next: the theme."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

THEMES = ("dark", "light")


def theme_file() -> Path:
    """Where the theme is kept, by the rules of XDG: beside what other programs remember."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "tracekit" / "theme"


def remembered_theme() -> str | None:
    """The theme that was chosen last; None where none is known, or what is there is none."""
    with suppress(OSError, UnicodeDecodeError, RuntimeError):
        theme = theme_file().read_text("utf-8").strip()
        return theme if theme in THEMES else None
    return None


def remember_theme(theme: str) -> None:
    """Keep a theme. Where nothing can be written, it holds for this run only."""
    with suppress(OSError, RuntimeError):
        file = theme_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{theme}\n", "utf-8")
