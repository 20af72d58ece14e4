"""Runs the app without a terminal, and reads its screen as text."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from inspect import iscoroutinefunction
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import textual.app
import textual.pilot
import textual.screen
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widgets import Input

from support.analyses import keep, kept_trace
from tracekit.api import judge_with_answers
from tracekit.lanes.events import Events
from tracekit.recording.progress import Progress
from tracekit.request import ALL, Request, request_of
from tracekit.trace.trace import Trace
from tracekit.tui import opening
from tracekit.tui.app import ViewApp
from tracekit.tui.opening import Viewed, calls_of, evidence_rows

PATIENCE_S = 30.0
IDLE_TURNS = 3
"""How often in a row the event loop must have nothing to do: what a thread hands over is noticed a turn later."""
SOON_S = 0.02
"""Textual puts off some work, that after a change of the size too, for up to the time of a frame in a terminal."""
FRAME_S = 0.002


async def until_idle(*_: object) -> None:
    """Until no task can go on without a key or a thread. Textual sleeps until the process hardly works, which takes the
    longer the more others do on the machine."""
    loop = asyncio.get_running_loop()
    turns = 0
    while turns < IDLE_TURNS:
        await asyncio.sleep(0)
        now = loop.time()
        due = [timer.when() for timer in loop._scheduled if not timer.cancelled() and timer.when() < now + SOON_S]
        if due:
            await asyncio.sleep(max(due) - now)
        turns = 0 if loop._ready or due else turns + 1


async def until_screen_is_idle(pilot: Pilot[None], timeout: float = PATIENCE_S) -> bool:
    """In place of a message to each widget and the wait for all of them."""
    await until_idle()
    return True


class Screen:
    """A running app and what is on its screen."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.app: ViewApp = pilot.app
        self.is_drawn = False
        """Whether nothing was waited for since all of it was drawn."""

    @property
    def state(self):
        return self.app.state

    async def press(self, *keys: str) -> None:
        """Press keys one by one, and wait until all that follows is done. `text` draws what is on screen then."""
        for key in keys:
            await self.pilot.press(key)
            await self.wait()

    async def answer(self, text: str) -> None:
        """Put text into the prompt, in place of what stands there, and confirm."""
        self.app.screen.query_one(Input).value = text
        await self.press("enter")

    async def wait(self) -> None:
        """Wait until threads, messages and layout are done."""
        self.is_drawn = False
        due = True
        while due:
            await self.app.workers.wait_for_complete()
            await self.pilot.pause()
            await until_idle()
            at_work = any(not work.is_finished for work in self.app.workers)
            due = at_work or self.app.screen._update_timer._active.is_set()

    def draw(self) -> None:
        """Draw what changed on screen."""
        draw(self.app.screen._compositor, screen_stack=self.app._background_screens)
        self.is_drawn = True

    async def settle(self) -> None:
        """Wait until all is done, and draw what changed by then."""
        await self.wait()
        self.draw()

    def text(self) -> str:
        """The characters on screen, without blanks at the ends of lines."""
        visible_screen_stack.set(self.app._background_screens)
        lines = self.app.screen._compositor.render_strips()
        self.is_drawn = True
        return "\n".join(strip.text.rstrip() for strip in lines) + "\n"


draw = Compositor.render_update


def skip_frame(compositor: Compositor, **_: object) -> None:
    """In place of a frame for a terminal: without one, Textual draws several for each key and throws them away."""


parse_rules = Stylesheet._parse_rules
_RULES: dict[tuple[object, ...], list[RuleSet]] = {}


def parse_once(sheet: Stylesheet, css: str, *where: object, **how: object) -> list[RuleSet]:
    """Rules of a style sheet, which are the same for every app with the same colors."""
    key = (css, *where, *how.items(), *sheet._variables.items())
    if key not in _RULES:
        _RULES[key] = parse_rules(sheet, css, *where, **how)
    return _RULES[key]


_read = opening.read

DETECTORS = ("reload-before-predict", "excess-data-copies", "concurrent-predictions")


@cache
def kept_session(path: str):
    with pytest.MonkeyPatch.context() as monkeypatch:
        keep(monkeypatch, {Path(path).parent})
        return _read(path)


def kept_read(path: str, request: Request = ALL, *_: object):
    return kept_session(path)


@cache
def kept_judged(session, only=DETECTORS):
    """Judged by some detectors, so that a screen does not change with each new one."""
    report, answers = judge_with_answers(session.trace, request_of(only=only, redact=False), None)
    evidence = evidence_rows(session.trace, report, answers)
    return replace(session, report=report, evidence=evidence, calls=calls_of(session.trace))


@pytest.fixture
def run_view(monkeypatch: pytest.MonkeyPatch, samples: Path) -> Callable[..., None]:
    """Runs a test in the app: `run_view(test, paths, size)`; `test` gets the `Screen` of an app that has judged."""

    # Nobody looks: waiting for frames of a terminal would take a third of the time.
    monkeypatch.setattr(textual.screen, "UPDATE_PERIOD", FRAME_S)
    monkeypatch.setattr(textual.app, "wait_for_idle", until_idle)
    monkeypatch.setattr(textual.pilot, "wait_for_idle", until_idle)
    monkeypatch.setattr(Pilot, "_wait_for_screen", until_screen_is_idle)
    monkeypatch.setattr(Compositor, "render_update", skip_frame)
    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_once)
    # Sessions never change, so that each sample is read once for all tests.
    keep(monkeypatch, {samples})
    monkeypatch.setattr(opening, "read", kept_read)
    monkeypatch.setattr(opening, "judge_session", kept_judged)

    def run(
        test: Callable[[Screen], Awaitable[None]],
        *paths: Path,
        size=(120, 40),
        wait: bool = True,
        sixteen_colors: bool = False,
        patience_s: float = PATIENCE_S,
    ) -> None:
        async def main() -> None:
            app = ViewApp(Viewed(tuple(map(str, paths))), sixteen_colors=sixteen_colors)
            async with app.run_test(size=size) as pilot:
                screen = Screen(pilot)
                if wait:
                    await screen.wait()
                await test(screen)
                if app.is_running and not screen.is_drawn:
                    screen.draw()

        asyncio.run(asyncio.wait_for(main(), patience_s))

    return run


@pytest.fixture
def screen(request: pytest.FixtureRequest, run_view: Callable[..., None], samples: Path) -> Callable[..., None]:
    """What a test that is a coroutine gets the `Screen` from. Its mark `view` names the samples and has the options of
    `run_view`; without names the app has opened the sample that loads its models again and again."""
    mark = request.node.get_closest_marker("view") or pytest.mark.view
    options = dict(mark.kwargs)
    if "size" in request.fixturenames:
        options["size"] = request.getfixturevalue("size")
    names = mark.args or ("style_transfer_reload",)
    return lambda test: run_view(test, *(samples / f"{name}.trace" for name in names), **options)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is a coroutine runs inside the app."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    run = arguments.pop("screen")
    run(lambda screen: pyfuncitem.obj(screen=screen, **arguments))
    return True


@pytest.fixture
def held_reading(run_view, monkeypatch: pytest.MonkeyPatch) -> Event:
    """Reading waits until this is set."""
    held, read = Event(), opening.read

    def wait_and_read(path: str, request: Request = ALL, *_: object):
        if request.progress is not None:
            request.progress(Progress(3, 4, "signposts"))
        assert held.wait(PATIENCE_S)
        return read(path, request)

    monkeypatch.setattr(opening, "read", wait_and_read)
    return held


@pytest.fixture
def reload_sample(samples: Path) -> Path:
    """Each model is loaded again for each prediction."""
    return samples / "style_transfer_reload.trace"


@pytest.fixture
def fixed_sample(samples: Path) -> Path:
    """The same app, where each model is loaded once."""
    return samples / "style_transfer_fixed.trace"


@pytest.fixture(scope="session")
def reload_trace(samples: Path) -> Trace:
    """The sample that loads its models again and again."""
    return kept_trace(samples / "style_transfer_reload.trace")


@pytest.fixture(scope="session")
def make_events() -> Callable[..., Events]:
    """Events of a lane from (start, duration) or (start, duration, category)."""

    def make(*rows, labels=None) -> Events:
        ordered = sorted(rows, key=lambda row: (row[0], -row[1]))
        starts = np.array([row[0] for row in ordered], np.int64)
        lengths = np.array([row[1] for row in ordered], np.int64)
        categories = np.array([row[2] if len(row) > 2 else 1 for row in ordered], np.int8)
        none = np.full(len(ordered), -1, np.int32)
        codes = np.arange(len(ordered), dtype=np.int32) if labels else none
        return Events(
            "activity",
            np.arange(len(ordered)),
            starts,
            starts + lengths,
            categories,
            codes,
            tuple(labels or ()),
            none,
            (),
        )

    return make
