"""What the screens look like, as text that everybody can read in `snapshots/`.

`pytest tests/tui/test_screens.py --update-goldens` writes the files again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"
SIZES = ((80, 24), (120, 40), (200, 50))
STEPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "findings": ("style_transfer_reload", ()),
    "evidence": ("style_transfer_reload", ("1", "enter", "down", "enter")),
    "pile-up": ("captions_concurrent", ("n", "n", "n", "f", "s", "s", "s")),
    "events": ("sharpen_8bit", ("n", "n", "f", "3")),
    "by-event": ("style_transfer_reload", ("t",)),
    "by-model": ("style_transfer_reload", ("t", "t")),
    "aggregation": ("style_transfer_reload", ("2", "down")),
    "aggregation-of-range": ("style_transfer_reload", ("n", "n", "v", *["n"] * 6, "v", "2")),
    "predictions": ("style_transfer_reload", ("4", "down", "o")),
    "models": ("style_transfer_reload", ("5", "down")),
    "prompt": ("style_transfer_reload", ("slash",)),
    "filtered": ("style_transfer_reload", ("2", "slash", *"device:gpu", "enter")),
    "inspected-prediction": ("sharpen_8bit", ("4", "down", "i", "i", "tab")),
    "inspected-finding": ("sharpen_8bit", ("1", "full_stop")),
    "not-judged": ("not_instrumented", ()),
    "compare": ("style_transfer_reload style_transfer_fixed", ("8",)),
    "compare-numbers": ("sharpen_8bit sharpen_float16", ("A", "u", "z")),
    "help": ("sharpen_8bit", ("question_mark",)),
}
"""Screens: samples and the keys that lead there."""
OF_ITS_START = {"findings", "not-judged", "compare-numbers", "events", "inspected-prediction", "prompt", "help"}
"""Screens that a change of size leaves different from those of an app that starts with that size: it ends a message, a
list keeps its first row, a part that has no room hands the keys to another, and the screen below the help or
the prompt may be laid out later."""


@pytest.mark.parametrize("name", STEPS)
def test_a_screen_is_the_golden_one_at_all_sizes(name, run_view, samples: Path, update_goldens: bool) -> None:
    names, keys = STEPS[name]
    shown = {}

    for sizes in [[size] for size in SIZES] if name in OF_ITS_START else [SIZES]:

        async def test(screen, sizes=sizes) -> None:
            await screen.press(*keys)
            for size in sizes:
                await screen.pilot.resize_terminal(*size)
                await screen.wait()
                assert screen.app.failure is None
                assert screen.app.is_open
                shown[screen.app.size] = screen.text()

        run_view(test, *(samples / f"{sample}.trace" for sample in names.split()), size=sizes[0])
    assert len(shown) == len(SIZES)
    for size, text in shown.items():
        golden = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.txt"
        assert max(map(len, text.splitlines())) <= size[0]
        if update_goldens:
            golden.write_text(text, "utf-8")
        assert golden.read_text("utf-8") == text, "read the difference; --update-goldens accepts it"


def test_no_golden_screen_is_left_over() -> None:
    expected = {f"{name}-{width}x{height}.txt" for name in STEPS for width, height in SIZES}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected
