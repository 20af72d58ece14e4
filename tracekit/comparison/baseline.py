"""A baseline: measurements of up to ten recordings of one kind of device, in a small JSON file for a repository."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tracekit._version import __version__
from tracekit.comparison.comparison import environment_differences, same_recording
from tracekit.comparison.figures import names_of
from tracekit.comparison.latency import METHOD_VERSION
from tracekit.comparison.measurements import Measurements, of_model
from tracekit.comparison.storage import MalformedError, from_plain, read_json, to_plain
from tracekit.errors import TracekitError, UsageError

SCHEMA_VERSION = 2
MAX_RECORDINGS = 10
"""More would make the file grow, and a baseline old."""
_MOST_ANCHORED = MAX_RECORDINGS // 2
MAX_BYTES = 64 << 20
"""Of a baseline file; ten recordings of a thousand predictions a model have 0.1 MB."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What later recordings are held against."""

    recordings: tuple[Measurements, ...]
    """At least one, oldest first."""
    checks: frozenset[str]
    """Checks that the tracekit which wrote it knew: a new one is no regression."""
    method: int = METHOD_VERSION
    tracekit: str = __version__
    """Version that wrote it."""
    anchored: int = 0
    """How many recordings, the first ones, it was first saved with: they stay, so that it cannot drift."""

    def spread(self, model: str) -> float | None:
        """How far the recordings of a model differ: standard deviation of the logarithms of their medians, about a
        share of the latency; None with fewer than two."""
        medians = (entry.quantities["p50_ns"] for entry in of_model(self.recordings, model))
        logs = [math.log(value) for value in medians if value]
        return float(np.std(logs, ddof=1)) if len(logs) > 1 else None


def baseline_of(recordings: Sequence[Measurements], earlier: Baseline | None = None) -> Baseline:
    """A baseline of these recordings, behind those of an earlier one; beyond `MAX_RECORDINGS` the oldest go that it was
    not first saved with.

    Raises `UsageError` for recordings without predictions, of different environments, and for one that is in it.
    """
    all_recordings = list(earlier.recordings if earlier is not None else ())
    for recording in recordings:
        if not any(len(model.latencies_ns) for model in recording.models):
            raise UsageError(f"{recording.source}: no prediction with a known latency, so nothing to compare with")
        if any(same_recording(recording, other) for other in all_recordings):
            raise UsageError(f"{recording.source} is in the baseline already; a recording counts once")
        all_recordings.append(recording)
    differences = environment_differences(all_recordings[:1], all_recordings[1:])
    if differences:
        first = differences[0]
        raise UsageError(
            f"recordings of different environments ({first.what}: {first.before}, {first.after}); "
            "keep a baseline for each"
        )
    nameless = (replace(recording, source=f"recording {number}") for number, recording in enumerate(all_recordings, 1))
    checks = frozenset(result.id for recording in all_recordings for result in recording.checks)
    anchored = min(len(recordings) if earlier is None else earlier.anchored, _MOST_ANCHORED)
    beyond = max(len(all_recordings) - MAX_RECORDINGS, 0)
    return Baseline(
        tuple(one for place, one in enumerate(nameless) if not 0 <= place - anchored < beyond),
        checks | (earlier.checks if earlier is not None else frozenset()),
        anchored=anchored,
    )


def to_text(baseline: Baseline) -> str:
    """The file: sorted keys and a line for each value, so that a review shows what moved."""
    plain = {
        "schema_version": SCHEMA_VERSION,
        "tracekit": baseline.tracekit,
        "method": baseline.method,
        "anchored": baseline.anchored,
        "checks": sorted(baseline.checks),
        "spread": {
            name: round(spread, 4)
            for name in names_of(baseline.recordings)
            if (spread := baseline.spread(name)) is not None
        },
        "recordings": [to_plain(recording) for recording in baseline.recordings],
    }
    text = json.dumps(plain, ensure_ascii=True, allow_nan=False, indent=1, sort_keys=True)
    # Lists of numbers stand on one line. Texts hold no raw line break, so none is touched.
    text = re.sub(r"\[\n\s*(-?\d+(?:,\n\s*-?\d+)*)\n\s*\]", lambda match: f"[{' '.join(match[1].split())}]", text)
    return f"{text}\n"


def load_baseline(path: Path) -> Baseline:
    """A baseline file. Raises `TracekitError` with what is wrong with it."""
    plain = read_json(path, str(path), "baseline", MAX_BYTES, TracekitError)
    if not isinstance(plain, dict) or plain.get("schema_version") != SCHEMA_VERSION:
        raise TracekitError(
            f"{path} is not a baseline of this version of tracekit; delete it, then save it again with "
            "`tracekit check --save-baseline`"
        )
    entries, checks = plain.get("recordings"), plain.get("checks")
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_RECORDINGS or not isinstance(checks, list):
        raise TracekitError(f"{path} is not a whole baseline: it holds no recordings; save it again")
    try:
        recordings = tuple(map(from_plain, entries))
    except MalformedError as error:
        raise TracekitError(f"{path} is not a whole baseline: '{error}' is missing or wrong; save it again") from None
    method, version, anchored = plain.get("method"), plain.get("tracekit"), plain.get("anchored")
    return Baseline(
        recordings,
        frozenset(map(str, checks)),
        method if isinstance(method, int) else 0,
        version if isinstance(version, str) else "unknown",
        anchored if type(anchored) is int and 0 < anchored <= len(recordings) else min(len(recordings), _MOST_ANCHORED),
    )
