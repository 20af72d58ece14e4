"""The code behind loads and predictions on screen."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console, Group

from support.choice import sweep_rest
from tests.tui.conftest import kept_judged, kept_session
from tracekit.analysis.specialization import Specialization
from tracekit.testing import Draws, Model, cpu, start_recording, write_bundle
from tracekit.tui.inspection.report import model_blocks
from tracekit.tui.theme import PALETTES

MS = 1_000_000


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """One load on the main thread, and predictions of a worker."""
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    app.code.on_main = True
    app.load(Model("Net"), 20 * MS)
    app.code.on_main = False
    for _ in range(4):
        app.predict(Model("Net"), cpu(5 * MS), inputs=0)
    return write_bundle(app.finish(), tmp_path_factory.mktemp("code") / "a.trace", rows_per_block=64)


def test_the_inspector_names_the_caller_of_a_load_and_of_a_prediction(run_view, bundle):
    async def test(screen) -> None:
        await screen.press("n")
        text = screen.text()
        assert "Called from" in text
        assert "App.apply (Style.swift:42)" in text
        assert "App.run (main.swift:17)" in text
        assert "main thread" in text
        await screen.press("n")
        assert "background thread" in screen.text()
        assert "CPU compute" in screen.text()

    run_view(test, bundle, size=(200, 60))


def test_the_pane_shows_the_tree_of_the_selection_and_of_everything(run_view, bundle):
    async def test(screen) -> None:
        await screen.press("7")
        assert "40 samples of running threads; threads" in screen.text()
        assert "100%" not in screen.text()
        await screen.press("n", "7")
        text = screen.text()
        assert "20 samples of running threads from 0.200 s to 0.220 s" in text
        assert "20 100%  start  [dyld]" in text
        assert "+[MLModel modelWithContentsOfURL:configuration:error:]" in text
        assert "App.apply (Style.swift:42)" in text
        assert "X: system functions folded · U: outermost first" in text
        assert "-[MLE5" not in text
        await screen.press("X")
        assert "-[MLE5" in screen.text()
        await screen.press("X", "U")
        text = screen.text()
        assert "X: functions of the app · U: innermost first" in text
        assert text.index("App.apply") < text.index("App.run")
        assert "dyld" not in text.partition("innermost first")[2]

    run_view(test, bundle, size=(200, 60))


@pytest.mark.sweep
def test_what_is_longer_than_a_line_goes_on_below_its_beginning(run_view, bundle):
    async def test(screen) -> None:
        await screen.press("n", "7", "Z")
        shown = screen.text().splitlines()
        name = "+[MLModel modelWithContentsOfURL:configuration:error:]"
        at = next(at for at, line in enumerate(shown) if name in line)
        assert "[CoreML]" not in shown[at]
        assert shown[at + 1].index("[CoreML]") == shown[at].index(name)

    run_view(test, bundle, size=(80, 24))


@pytest.mark.view("captions_concurrent", size=(120, 40))
@pytest.mark.parametrize("key", sweep_rest("7", "6"))
async def test_a_text_has_all_of_the_width_until_something_is_selected(screen, key):
    inspector = screen.app.browse.query_one("#inspector")
    await screen.press(key)
    assert ("Call Stacks were not recorded. Record with --instrument 'Time Profiler'." in screen.text()) == (key == "7")
    assert not inspector.display
    assert screen.app.browse.pane.size.width == 120
    # The key that hides it hides nothing.
    await screen.press("i")
    assert "Nothing is selected" in screen.text()
    await screen.press("tab", "n")
    assert inspector.display
    assert "Prediction" in screen.text()
    assert "Called from" not in screen.text()
    await screen.press("6", "1")
    assert inspector.display
    # Hidden where there was something to see, it comes back with the answer to a question.
    await screen.press("4", "down", "i", key, "escape", "W")
    assert inspector.display


@pytest.mark.sweep
@pytest.mark.corpus
def test_calls_that_core_ml_did_not_record_name_their_callers(run_view, corpus):
    async def test(screen) -> None:
        await screen.press("n")
        assert all(words in screen.text() for words in ("MambaASRRunner_main", "(main.swift:1514)"))
        await screen.press("n")
        text = screen.text()
        assert "MambaASRRunner.runStreaming" in text
        assert "(main.swift:1229)" in text

    run_view(test, corpus / "bundles/quick_probe.trace", size=(200, 60))


@pytest.mark.view("style_transfer_reload", size=(120, 40))
async def test_the_code_is_that_of_what_the_inspector_is_about(screen):
    finding, model = "in the 50 longest intervals of the finding", "during loads and predictions of "
    cases = (
        (("1", "down"), finding, "severity"),
        (("5", "down"), model, "predictions"),
        (("3", "down"), "from 0.", "end"),
    )
    for keys, where, inspected in cases:
        await screen.press(*keys, "7")
        text = " ".join(screen.text().split())
        assert where in text
        assert inspected in text
    # A range comes first in both.
    await screen.press("tab", "n", "V", "n", "7")
    lines = screen.text().splitlines()
    assert any(line[76:].strip() == "Range" for line in lines[20:26])


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (
            Specialization("m", "compiled", 2, 3_230_000_000, ("call stacks",)),
            "yes, in this recording, 3.23 s (call stacks)",
        ),
        (Specialization("m", "cached", 0, 20_000_000, ("load rows",)), "no, came from the cache (load rows)"),
        (Specialization("m", "unknown", 0, None, why="no load was recorded"), "unknown (no load was recorded)"),
    ],
)
def test_a_model_says_whether_it_was_specialized(samples, shown, words):
    session = kept_judged(kept_session(str(samples / "style_transfer_reload.trace")))
    held, model = session.report.specializations, session.report.models[0].name
    report = replace(session.report, specializations=replace(held, models=(replace(shown, model=model),)))
    console = Console(width=200, file=io.StringIO())
    blocks = model_blocks(replace(session, report=report), model, PALETTES[True], monochrome=False)
    console.print(Group(*blocks))
    assert f"specialized   {words}\n" in re.sub(" +\n", "\n", console.file.getvalue())
