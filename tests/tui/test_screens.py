"""What the screens look like, as text that everybody can read in `snapshots/`.

`pytest tests/tui/test_screens.py --update-goldens` writes the files again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"
NARROW, USUAL, WIDE = (80, 24), (120, 40), (200, 50)
SIZES = (NARROW, USUAL, WIDE)
RELOAD = "style_transfer_reload"
SCREENS: dict[str, tuple[str, tuple[str, ...], tuple[tuple[int, int], ...]]] = {
    "findings": (RELOAD, (), SIZES),
    "evidence": (RELOAD, ("1", "enter", "down", "enter"), (USUAL,)),
    "pile-up": ("captions_concurrent", ("n", "n", "n", "f", "s", "s", "s"), (NARROW,)),
    "events": ("sharpen_8bit", ("n", "n", "f", "3"), (NARROW,)),
    "by-event": (RELOAD, ("t",), (NARROW, WIDE)),
    "by-model": (RELOAD, ("t", "t"), (USUAL,)),
    "aggregation": (RELOAD, ("2", "down"), (NARROW, WIDE)),
    "aggregation-of-range": (RELOAD, ("n", "n", "v", *["n"] * 6, "v", "2"), (USUAL,)),
    "predictions": (RELOAD, ("4", "down"), (USUAL,)),
    "models": (RELOAD, ("5", "down"), (NARROW,)),
    "prompt": (RELOAD, ("slash",), (NARROW,)),
    "filtered": (RELOAD, ("2", "slash", *"device:gpu", "enter"), (USUAL,)),
    "inspected-prediction": ("sharpen_8bit", ("4", "down", "i", "i", "tab"), SIZES),
    "inspected-finding": ("sharpen_8bit", ("1", "full_stop"), (USUAL,)),
    "not-judged": ("not_instrumented", (), (NARROW,)),
    "compare": ("style_transfer_reload style_transfer_fixed", ("8",), (NARROW, WIDE)),
    "compare-numbers": ("sharpen_8bit sharpen_float16", ("A", "u", "z"), (USUAL,)),
    "help": ("sharpen_8bit", ("question_mark",), (NARROW,)),
}
"""Screens: samples, the keys that lead there, and the sizes of terminals that lay them out differently."""
OF_ITS_START = {"findings", "inspected-prediction"}
"""Screens that a change of size leaves different from those of an app that starts with that size: it ends a message,
and a part that has no room hands the keys to another."""


OFTEN = {"findings", "events", "by-model", "aggregation", "compare"}
"""Screens that every change is tested with."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in OFTEN else pytest.mark.sweep) for name in SCREENS]
)
def test_a_screen_is_the_golden_one_at_its_sizes(name, run_view, samples, update_goldens):
    names, keys, at = SCREENS[name]
    shown = {}

    for sizes in [[size] for size in at] if name in OF_ITS_START else [at]:

        async def test(screen, sizes=sizes) -> None:
            await screen.press(*keys)
            for size in sizes:
                await screen.pilot.resize_terminal(*size)
                await screen.wait()
                assert screen.app.failure is None
                assert screen.app.is_open
                shown[screen.app.size] = screen.text()

        run_view(test, *(samples / f"{sample}.trace" for sample in names.split()), size=sizes[0])
    assert set(shown) == set(at)
    for size, text in shown.items():
        golden = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.txt"
        assert max(map(len, text.splitlines())) <= size[0]
        if update_goldens:
            golden.write_text(text, "utf-8")
        assert golden.read_text("utf-8") == text, "read the difference; --update-goldens accepts it"


def test_no_golden_screen_is_left_over():
    expected = {f"{name}-{width}x{height}.txt" for name, (_, _, at) in SCREENS.items() for width, height in at}
    assert {path.name for path in SNAPSHOTS.iterdir()} == expected
