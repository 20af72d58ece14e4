"""Issues that Instruments noted while recording."""

from __future__ import annotations

from suite.frame import INSUFFICIENT, LOOKALIKE, NEAR_ABOVE, NEAR_BELOW, NEGATIVE, POSITIVE, cases, each
from support.scenarios import any_clean_app
from tracekit.testing import Draws
from tracekit.testing.apps import neural_engine_app
from tracekit.testing.recorder import App

ID = "run-issues"

MESSAGES = (
    "Fatal logging system error: The log archive is corrupt or incomplete",
    "Recording of 'Network Connections' is not supported in the Simulator.",
    "Hitches is not supported on this platform.",
    "Permission to debug Camera was denied.",
    "Failed to gain authorization",
    "Data stream: Lost 512 events",
)
"""As seen or reported; the last is invented."""

LIVE = (
    "Data stream: Signpost intervals with backdated timestamps were emitted that are not visualized on the timeline "
    "until immediate mode recording is stopped."
)
"""In a sound recording of Xcode 16.4."""


def any_app(draws: Draws) -> App:
    """A clean app of any kind, with what every recording notes."""
    return any_clean_app(draws)


def noted(draws: Draws, message: str) -> App:
    """The same with an issue."""
    app = any_app(draws)
    app.scenario.issues.append(message)
    return app


def some(draws: Draws, count: int) -> App:
    """So many issues, and the warning about the live display among them."""
    app = any_app(draws)
    app.scenario.issues += [LIVE, *(MESSAGES[number % len(MESSAGES)] for number in range(count))]
    return app


def at_the_time_limit(draws: Draws) -> App:
    """A launched app still runs when the time is up."""
    app = any_clean_app(draws, attached=False)
    app.scenario.end_reason = "Time limit reached"
    return app


def live_display(draws: Draws) -> App:
    """The warning about the live display alone."""
    return some(draws, 0)


CASES = [
    *each(ID, POSITIVE, MESSAGES, noted, bundle=True),
    *each(ID, POSITIVE, (2, 3, 4, 5), some, bundle=True),
    *cases(ID, NEGATIVE, 10, any_app, bundle=True),
    # One issue decides.
    *each(ID, NEAR_ABOVE, (1, 1, 1, 1, 1), some, bundle=True),
    *cases(ID, NEAR_BELOW, 5, live_display, bundle=True),
    *cases(ID, LOOKALIKE, 3, live_display, bundle=True),
    *cases(ID, LOOKALIKE, 2, at_the_time_limit, bundle=True, page="`xctrace` exits with status 54"),
    *each(ID, INSUFFICIENT, MESSAGES[:2], noted),
    *cases(ID, INSUFFICIENT, 1, neural_engine_app),
]
