"""Options of instruments with which a recording holds more of an app's calls.

`xctrace record --show-recording-options` prints those of a template and its instruments as JSON, `{"Time Profiler":
{"recordWaitingThreads": false, ...}, ...}`, and records nothing; `--recording-options FILE` takes the same document. A
part of it ends in exit status 57, and names that are not known are ignored (public notes on Xcode 16 to 27), so what is
printed is passed on, with other values where it has the names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracekit.errors import TracekitError
from tracekit.recording.xctrace import tool as xctrace

REFUSED: Final = 57
"""Exit status of `xctrace` for options that it does not take."""
WAITING: Final = "threads that wait"
HIGH_FREQUENCY: Final = "samples at high frequency"
DYNAMIC: Final = "Core ML's own signposts"
_SWITCHES: Final = {
    "recordWaitingThreads": WAITING,
    "highFrequencySampling": HIGH_FREQUENCY,
    "dynamicTracingEnabledSubsystems": DYNAMIC,
}
_CORE_ML: Final = "com.apple.coreml"


class Options(NamedTuple):
    """What to record with."""

    document: str
    """As `xctrace` takes it; empty where it has none of the options."""
    shown: tuple[str, ...]
    """What it makes a recording show, in words."""
    missing: tuple[str, ...]
    """What this `xctrace` cannot record."""


def options_for(tool: xctrace.Tool, arguments: Sequence[str], wanted: Sequence[str]) -> Options:
    """Those of a template and its instruments, given as arguments of `xctrace record`, with what is wanted on.

    That Core ML logs more of itself where tracing of its subsystem is enabled is a guess: no recording shows it. Where
    `xctrace` prints no options, as before Xcode 16, all is missing.
    """
    try:
        printed = json.loads(xctrace.ask(tool, "record", *arguments, "--show-recording-options"))
    except (TracekitError, ValueError):
        printed = None
    if not isinstance(printed, dict):
        return Options("", (), tuple(wanted))
    on: set[str] = set()
    document = {name: _switched(of, wanted, on) if isinstance(of, dict) else of for name, of in printed.items()}
    shown = tuple(each for each in wanted if each in on)
    return Options(json.dumps(document) if on else "", shown, tuple(each for each in wanted if each not in on))


def _switched(options: Mapping[str, Any], wanted: Sequence[str], on: set[str]) -> dict[str, Any]:
    """Options of an instrument with those on that are wanted, which are added to `on`."""
    changed = dict(options)
    for name, what in _SWITCHES.items():
        if name not in options or what not in wanted:
            continue
        value = options[name]
        if isinstance(value, bool):
            changed[name] = True
        elif isinstance(value, list):
            changed[name] = [*value, *([] if _CORE_ML in value else [_CORE_ML])]
        else:
            continue
        on.add(what)
    return changed
