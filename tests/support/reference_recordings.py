"""Public recordings that no one published as files, rebuilt from the figures their authors gave.

`speech_app` is a speech synthesizer on an iPhone Air with iOS 27.2, recorded with Instruments 27.2 for 36.03 s (project
`Ashtabula/Cosyvoice`, 16-bit weights). Counts and total times of every kind of row, the times of the first four decode
calls and the number of rows of each table are those of the recording. When which model ran is invented, and so are the
durations of single rows, the load of `PREFILL`, GPU rows, and the checks of `PARTITION_B` and `HIFT`, of which only the
number is known.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from tracekit.testing.machines import BACKBOARD, NEW_IPHONE, NEW_MAC, Process
from tracekit.testing.rng import Draws, on_clock
from tracekit.testing.rows import ENGINE_LOAD, Model, SignpostRow
from tracekit.testing.scenario import Prediction, Scenario

US = 1_000
MS = 1_000_000


def _artifact(role: str) -> Model:
    """The app names its compiled models by a hash."""
    return Model(hashlib.sha256(role.encode()).hexdigest())


DECODE = _artifact("decode")
"""Neural Engine, one call per token. Its three instances with number 1 hold 777 of 1,295 calls."""
PREFILL = _artifact("prefill")
"""Neural Engine, one call per utterance."""
PARTITION_A = _artifact("partition A")
"""GPU; preparation and request overlap, and their sum exceeds the prediction."""
PARTITION_B = _artifact("partition B")
"""GPU."""
HIFT = _artifact("hift")
"""No row explains 97 % of its predictions."""
CONDITIONS = _artifact("conditions")
"""CPU; its rows cover 35 % of its predictions."""

UTTERANCES = 5
TOKENS = 259
"""Decode calls of an utterance: 1,295 in all."""
PASSES = 6
"""Calls of each partition in an utterance: 30 in all."""
DURATION_NS = 36_030 * MS

FIRST_CALLS = (
    (3_339_285_666, 3_352_683_041, 3_340_589_958, 3_352_571_083),
    (3_352_792_708, 3_365_723_083, 3_353_693_916, 3_365_625_166),
    (3_365_879_083, 3_379_147_916, 3_366_820_833, 3_378_970_416),
    (3_379_325_708, 3_392_553_000, 3_380_406_083, 3_392_479_250),
)
"""Start and end of the first four decode calls and of their Neural Engine rows, in ns."""

_INSTANCES = (1, 2, 1, 2, 1)
"""Instance numbers of the decode model by utterance; they are used again."""
_SPACING_NS = 6_300 * MS
"""From one utterance to the next (invented)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one kind in the predictions of a model."""

    label: str
    each: int
    """In each prediction."""
    total_ns: int
    """Of all predictions together."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of a model."""

    predictions: int
    total_ns: int
    rows: tuple[Rows, ...]
    """Before the computation, in order; `Output Transformation` is last in the prediction."""
    engine_ns: int = 0
    """Total of its Neural Engine rows, one in each prediction."""


def _figures(predictions: int, total_us: int, kinds: dict[str, tuple[int, int]], engine_us: int = 0) -> Figures:
    """With the number in each prediction, and the total in µs, of each kind of row."""
    rows = tuple(Rows(label, each, in_all * US) for label, (each, in_all) in kinds.items())
    return Figures(predictions, total_us * US, rows, engine_us * US)


_CHECK, _COPY, _OUT = "Input Validation", "Input Copy", "Output Transformation"
_PREPARE, _REQUEST = "Prepare GPU Request", "GPU Request"
FIGURES: dict[Model, Figures] = {
    DECODE: _figures(
        1_295,
        16_171_800,
        {_CHECK: (2, 19_470), _COPY: (5, 10_650), "Data Cast": (1, 2_600), _OUT: (1, 3_190)},
        15_173_900,
    ),
    PREFILL: _figures(5, 147_800, {_CHECK: (2, 75), _COPY: (4, 32), "Data Cast": (1, 10), _OUT: (1, 12)}, 138_900),
    PARTITION_A: _figures(
        30,
        2_741_100,
        {_CHECK: (1, 190), _COPY: (5, 2_350), "CPU": (1, 840)}
        | {_PREPARE: (1, 526_700), _REQUEST: (1, 2_524_700), _OUT: (1, 1_180)},
    ),
    PARTITION_B: _figures(
        30,
        2_190_200,
        {_CHECK: (1, 190), _COPY: (2, 700), "CPU": (1, 21_100)}
        | {_PREPARE: (1, 348_100), _REQUEST: (1, 1_985_700), _OUT: (1, 350)},
    ),
    HIFT: _figures(
        5, 2_777_300, {_CHECK: (1, 32), _COPY: (4, 5_880), "CPU": (1, 60_200), _PREPARE: (1, 9_170), _OUT: (1, 140)}
    ),
    CONDITIONS: _figures(5, 36_200, {_CHECK: (1, 30), "CPU": (1, 12_600), _OUT: (1, 30)}),
}
"""Counts and totals by model; both totals of a kind that is only counted are invented."""

LOADS: dict[Model, tuple[int, int]] = {
    DECODE: (5, 900_600 * US),
    PREFILL: (5, 600_000 * US),
    PARTITION_A: (1, 558_800 * US),
    PARTITION_B: (1, 480_400 * US),
    HIFT: (1, 183_900 * US),
    CONDITIONS: (1, 9_000 * US),
}
"""Number and total time of the loads from the cache."""


def speech_app() -> Scenario:
    """13,644 Core ML rows, 1,310 Neural Engine rows, 1,315 intervals of the app itself."""
    draws = Draws(1_295)
    scenario = Scenario(
        Process("CosyDemo", 1_804, "/private/var/containers/Bundle/Application/CosyDemo.app/CosyDemo"),
        duration_ns=DURATION_NS,
        xcode_version="27.2",
        device=NEW_IPHONE,
        host=NEW_MAC,
        template="Core AI",
        end_reason="Time limit reached",
        time_limit="36 seconds",
        start_date="2026-10-11T09:41:07.220+02:00",
        event_types=False,
        processes=[BACKBOARD, *(Process(f"daemon{number}", 100 + number) for number in range(227))],
    )
    calls = {model: _Calls(draws, scenario, model, figures) for model, figures in FIGURES.items()}
    loads = {model: draws.durations(count, total, 40) for model, (count, total) in LOADS.items()}
    now = 300 * MS
    for model in (CONDITIONS, PARTITION_A, PARTITION_B, HIFT):
        now = scenario.load(model, now, loads[model][0]) + 20 * MS
    for turn in range(UTTERANCES):
        _utterance(scenario, calls, turn, [loads[DECODE][turn], loads[PREFILL][turn]])
    return scenario


def _utterance(scenario: Scenario, calls: dict[Model, _Calls], turn: int, loads: list[int]) -> None:
    """Loads of the language model, then all models in the order of the synthesis."""
    begin = FIRST_CALLS[0][0] + turn * _SPACING_NS
    decode = replace(DECODE, instance=_INSTANCES[turn])
    now = on_clock(begin - 520 * MS)
    for model, length in ((decode, loads[0]), (PREFILL, loads[1])):
        scenario.other_neural_engine(now + length // 3, length // 90, ENGINE_LOAD)
        now = scenario.load(model, now, length) + 2 * MS
    now = calls[CONDITIONS].call(now)
    calls[PREFILL].call(now)
    now = begin
    for _ in range(TOKENS):
        now = calls[DECODE].call(now, decode)
    for model in (PARTITION_A, PARTITION_B):
        phase = now
        for _ in range(PASSES):
            now = calls[model].call(now)
        _signpost(scenario, phase, now, "partition")
    _signpost(scenario, begin, now, "utterance")
    calls[HIFT].call(now)


def _signpost(scenario: Scenario, start_ns: int, end_ns: int, name: str) -> None:
    """An interval of the app."""
    row = SignpostRow(start_ns, end_ns - start_ns, name, "com.example.cosydemo", "synthesis")
    scenario.signposts.append(row)


class _Calls:
    """Predictions of one model, whose rows have the given totals in the end."""

    def __init__(self, draws: Draws, scenario: Scenario, model: Model, figures: Figures) -> None:
        self._draws, self._scenario, self._model, self._figures = draws, scenario, model, figures
        known = FIRST_CALLS if model == DECODE else ()
        ran = [engine_end - engine for _, _, engine, engine_end in known]
        lengths = [end - start for start, end, _, _ in known]
        count = figures.predictions - len(known)
        self._lengths = [*lengths, *draws.durations(count, figures.total_ns - sum(lengths), 12)]
        self._engine = self._engine_lengths(ran, count)
        self._rows = {rows.label: self._row_lengths(rows) for rows in figures.rows}
        self._next = 0

    def _engine_lengths(self, known: list[int], count: int) -> list[int]:
        """Neural Engine time of each call: the share that the totals give it."""
        total = self._figures.engine_ns - sum(known)
        if total <= 0:
            return []
        lengths = self._lengths[len(known) :]
        ends = [total * sum(lengths[: k + 1]) // sum(lengths) for k in range(count)]
        return [*known, *(end - start for start, end in zip([0, *ends[:-1]], ends, strict=True))]

    def _row_lengths(self, rows: Rows) -> list[int]:
        """Durations of all rows of a kind: all alike but for a rest of a ns."""
        count = rows.each * self._figures.predictions
        ends = [rows.total_ns * (k + 1) // count for k in range(count)]
        return [end - start for start, end in zip([0, *ends[:-1]], ends, strict=True)]

    def call(self, now_ns: int, model: Model | None = None) -> int:
        """One prediction; returns when the next may start."""
        index, self._next = self._next, self._next + 1
        length = self._lengths[index]
        start = FIRST_CALLS[index][0] if self._model == DECODE and index < len(FIRST_CALLS) else now_ns
        prediction = self._scenario.predict(model or self._model, start, length)
        at = 2_000
        for rows in self._figures.rows:
            for number in range(rows.each):
                at = self._row(prediction, rows.label, self._rows[rows.label][index * rows.each + number], at)
        if self._engine:
            self._engine_row(prediction, index)
            _signpost(self._scenario, start, prediction.row.end_ns, "step")
        return start + length + self._draws.integer(880, 1_440) * 125

    def _row(self, prediction: Prediction, label: str, length: int, at: int) -> int:
        """A row at its place; returns where the next one may start."""
        total = prediction.row.duration_ns
        if label == "Output Transformation":
            prediction.event(label, total - length - 2_000, length)
        elif label == "GPU Request":
            # It ends shortly before the output, so that it begins while the request is still being prepared.
            prediction.event(label, total - length - 60_000, length)
            prediction.gpu(total - length - 60_000 + length // 20, length * 9 // 10, buffers=2)
        else:
            prediction.event(label, at, length)
            return at + length + 500
        return at

    def _engine_row(self, prediction: Prediction, index: int) -> None:
        """The Neural Engine ends a tenth of a millisecond before the call."""
        length = self._engine[index]
        if self._model == DECODE and index < len(FIRST_CALLS):
            at = FIRST_CALLS[index][2] - prediction.row.start_ns
        else:
            at = prediction.row.duration_ns - length - 120_000
        prediction.neural_engine(at, length)
