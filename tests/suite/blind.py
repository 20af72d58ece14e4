"""Labeled recordings judged without Core ML's rows, from call stacks and hardware, against the same with them.

`PYTHONPATH=tests python -m suite.blind [STEP]` judges one in `STEP` recordings, prints what is wrong, and writes
docs/detectors/blind.md.
"""

from __future__ import annotations

import sys
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from suite.blind_calls import Calls, calls_meant, compare_calls
from suite.blind_stacks import TrueCall, callers_of, is_call, threads_of, with_stacks
from suite.frame import FINDING, NOT_EVALUATED, PASSED, Key, allows, detector_ids, draws_of, expected_of, load, named
from suite.metamorphic import RELATIONS, all_keys
from suite.processes import on_all_processors
from suite.random_apps import HEALTHY, ILL_SESSION, MAKERS, PROBLEM, SESSION
from support.handover import trace_of
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding
from tracekit.detectors.runner import run_detectors
from tracekit.testing import Draws, Scenario
from tracekit.testing.metal import encode_graphs
from tracekit.testing.recorder import App
from tracekit.testing.scenario import CORE_ML
from tracekit.trace.instruments import metal

PERIODS = {1: 1_000_000, 5: 5_000_000}
"""Times between samples in ns, by ms."""
WORTH = 10
"""A finding must be found again from a cost of more than so many samples on."""
FOUND, MISSING, CONTRADICTION, FALSE_ALARM = "found again", "not evaluated", "contradicts", "false alarm"
ENCODED = frozenset(schema for part in metal.INSTRUMENT.context for schema in part.schemas)
"""Schemas of what threads encode for the GPU."""
CHANGES = ("twice", "longer", "beside")
"""Changes that make a further recording of every tenth one."""
RANDOM = {HEALTHY: 1_000, PROBLEM: 200, SESSION: 100, ILL_SESSION: 100}

NOT_SHOWN = {
    "what Core ML copies and converts, and what no step explains": (
        "excess-data-copies float-conversion state-copies unaccounted-time"
    ),
    "requests of a call to compute units, and its hand-offs": (
        "neural-engine-contention gpu-contention cpu-contention compute-unit-ping-pong neural-engine-fragmentation"
    ),
    "numbers of instances, and which models the app loaded": "duplicate-instances foreign-neural-engine-work",
    "the recording itself": "run-issues attached-late",
    "what each load and each prediction leaves in memory": "memory-growth unreturned-load duplicate-memory memory-peak",
    "requests to language models": (
        "load-before-first-token prompt-reprocessing rebuilt-instructions slowing-generation work-outside-model "
        "queued-requests slow-tool-calls full-context-window request-errors"
    ),
}
"""Detectors whose findings need not be found again, by what they rest on."""

ARTIFACTS = {
    ("load_on_main_thread", "two_at_once"): "two threads load and Core ML's rows hold one load",
    ("truncated_recording", "events_lost"): "Core ML's rows end before the work does",
    ("truncated_recording", "work_after"): "Core ML's rows end before the work does",
}
"""Recordings that do not count, by module and builder, with the reason."""
OF_ROWS = {
    "core-ml-not-instrumented": "finds that Core ML's rows are missing",
    "truncated-recording": "finds rows of Core ML that are cut off",
}
"""Detectors whose answers are not compared, with the reason."""
EXEMPT = {*OF_ROWS, *(detector for detectors in NOT_SHOWN.values() for detector in detectors.split())}

PAGE = Path("docs/detectors/blind.md")
RULES = "../../tracekit/detectors/rules"
COLUMNS = (FOUND, MISSING, CONTRADICTION, FALSE_ALARM)

HEAD = """# Without Core ML's rows

Which findings remain where Core ML recorded no rows; `make blind` writes this page. The labeled recordings of
[accuracy.md](accuracy.md) and random apps get call stacks of 1 ms and 5 ms, with missed samples, several threads,
inlined frames and functions without names. Each is evaluated with Core ML's rows and without, and the answers are
compared: {count:,} recordings. Those of several processes do not count, nor do those
without Core ML's rows{artifacts}.{part}

- *Found again*, *not evaluated*: findings with a cost of more than {worth} samples, or without cost.
- *Contradicts*: a check passes that has a finding with Core ML's rows. *False alarm*: a finding only without them.
  Neither may occur.
"""


class RecordingKey(NamedTuple):
    """A labeled recording."""

    source: str
    """Module of cases, or kind of random app."""
    number: int
    change: str = ""
    """A key of `RELATIONS`."""
    period_ms: int = 1
    metal: bool = False
    """Whether the recording has Metal's tables of what threads encode."""

    @property
    def name(self) -> str:
        what = f"{self.source} {self.number}{self.change and ' ' + self.change} at {self.period_ms} ms"
        return f"{what} with Metal's tables" if self.metal else what


@dataclass(frozen=True)
class Compared:
    """What of a recording's judgment is left without Core ML's rows."""

    key: RecordingKey
    answers: tuple[tuple[str, str, bool], ...] = ()
    """Detector, one of the four comparisons, and whether the finding had to be found again."""
    calls: Calls | None = None
    """None where the recording does not count."""
    error: str = ""

    @property
    def complaints(self) -> list[str]:
        """Contradictions, false alarms, counts above the truth, and failures, one line each."""
        wrong = [f"{detector} {what}" for detector, what, _ in self.answers if what in (CONTRADICTION, FALSE_ALARM)]
        wrong += [f"{name}: more than there are" for name in (self.calls.too_many if self.calls else ())]
        return [f"{self.key.name}: {line}" for line in (*dict.fromkeys(wrong), *filter(None, [self.error]))]


def keys() -> list[RecordingKey]:
    """Every recording of the blind test, with samples every ms."""
    cases = [RecordingKey(*key) for key in all_keys()]
    changed = [key._replace(change=change) for key in cases[::10] for change in CHANGES]
    apps = [RecordingKey(kind, seed) for kind, count in RANDOM.items() for seed in range(count)]
    return [*cases, *changed, *apps]


def labeled(key: RecordingKey) -> tuple[Scenario, Callable[[Key], bool], dict[str, Any]]:
    """The recording, what may be found in it besides what is found with Core ML's rows, and settings of detectors."""
    if key.source in MAKERS:
        made = MAKERS[key.source](key.number)
        right = made.planted.union(made.allowed, *made.one_of)
        return made.simulation.recorded.finish(), right.__contains__, {"model_settings": made.settings}
    case = load(key.source)[key.number]
    recorded = case.build(draws_of(case, key.number))
    scenario = recorded.finish() if isinstance(recorded, App) else recorded
    if key.change and counts(key, scenario):
        scenario = RELATIONS[key.change].change(scenario) or scenario
    expected = expected_of(case, recorded, {}) if scenario.coreml else {}
    return scenario, lambda it: allows(case, it) or expected.get(it) == FINDING, {"settings": case.settings}


def counts(key: RecordingKey, scenario: Scenario) -> bool:
    """Whether Core ML's rows tell what the app called. Rows of several processes do not say whose they are."""
    lost = CORE_ML in scenario.missing | scenario.emptied or scenario.all_processes
    artifact = key.source not in MAKERS and (key.source, load(key.source)[key.number].build.__name__) in ARTIFACTS
    return not lost and not artifact and any(map(is_call, scenario.coreml))


def compared(key: RecordingKey) -> Compared:
    """A recording with call stacks, judged with and without Core ML's rows."""
    try:
        scenario, may_hold, settings = labeled(key)
        if not counts(key, scenario):
            return Compared(key)
        period_ns = PERIODS[key.period_ms]
        whole, calls = with_stacks(scenario, Draws(zlib.crc32(f"{key.source} {key.number}".encode())), period_ns)
        if key.metal:
            whole = replace(whole, graphs=[], command_buffers=[], driver=[])
            encode_graphs(whole, threads_of(whole, calls), callers_of(whole, calls))
        else:
            whole = replace(whole, missing=whole.missing | ENCODED)
        trace = trace_of(replace(whole, emptied={*whole.emptied, CORE_ML}))
        truth, blind = (
            run_detectors(trace_of(whole), **settings),
            run_detectors(trace, **_by_inferred_name(settings, trace.models.name, calls)),
        )
        answers = tuple(compare_answers(truth, blind, calls, may_hold, period_ns))
        errors = named(blind)[1]
        return Compared(key, answers, compare_calls(trace.activity, calls, whole.samples, period_ns), "; ".join(errors))
    except Exception:
        return Compared(key, error=traceback.format_exc())


def _by_inferred_name(settings: dict[str, Any], names: Iterable[str], calls: Sequence[TrueCall]) -> dict[str, Any]:
    """Settings of models, for the names by which they are inferred: whoever sets a budget knows what a model is called
    there."""
    of_model = settings.get("model_settings", {})
    meant = {name: {call.row.model.base for call in calls_meant(name, calls)} for name in names}
    known = {
        name: of_model[base] for name, bases in meant.items() for base in bases if len(bases) == 1 and base in of_model
    }
    return {**settings, "model_settings": {**of_model, **known}} if of_model else settings


def compare_answers(
    truth: Sequence[Judgment],
    blind: Sequence[Judgment],
    calls: Sequence[TrueCall],
    may_hold: Callable[[Key], bool],
    period_ns: int,
) -> Iterator[tuple[str, str, bool]]:
    """Comparisons of each finding of either side. An answer is about all models that its name may stand for."""
    said, _ = named(blind)
    about = {name: {None, *(call.row.model.base for call in calls_meant(name, calls))} for _, name in said}
    worth: dict[Key, bool] = {}
    for judgment in truth:
        key = (judgment.detector.id, judgment.outcome.model)
        if isinstance(judgment.outcome, Finding) and key[0] not in OF_ROWS:
            cost = judgment.outcome.cost
            worth[key] = worth.get(key, False) or cost is None or cost.ns > WORTH * period_ns
    for (detector, model), must in worth.items():
        here = {what for (other, name), what in said.items() if other == detector and model in about[name]}
        if (detector, model) in said:
            here = {said[detector, model]}
        only_passed = PASSED in here and NOT_EVALUATED not in here
        yield detector, FOUND if FINDING in here else CONTRADICTION if only_passed else MISSING, must
    for (detector, name), what in said.items():
        models = about[name] if (detector, name) not in worth else {name}
        right = any((detector, model) in worth or may_hold((detector, model)) for model in models)
        if what == FINDING and not right and detector not in OF_ROWS:
            yield detector, FALSE_ALARM, False


def page(results: Sequence[Compared], step: int) -> str:
    """The page as Markdown."""
    counted = [result for result in results if result.calls is not None]
    answers = Counter(
        (result.key.period_ms, detector, what)
        for result in counted
        for detector, what, worth in result.answers
        if worth or what not in (FOUND, MISSING)
    )
    recall = [detector for detector in detector_ids() if detector not in EXEMPT]
    lines = [
        HEAD.format(
            count=len({result.key[:3] for result in counted}),
            worth=WORTH,
            part="" if step == 1 else f"\n\n**These are the figures of one recording in {step}.**",
            artifacts="".join(f", nor where {why}" for why in dict.fromkeys(ARTIFACTS.values())),
        )
    ]
    headings = " | ".join(f"{what}, {ms} ms" for ms in PERIODS for what in COLUMNS)
    lines += [f"| check | {headings} | ", f"|---|{'---:|' * len(COLUMNS) * len(PERIODS)}"]
    lines += [_row(f"[{each}]({RULES}/{each}.md)", answers, [each]) for each in recall]
    lines += [_row("**all of these**", answers, recall), _row("all others", answers, sorted(EXEMPT))]
    lines += ["", "The others need not find anything again. Neither call stacks nor hardware show:", ""]
    lines += [f"- {reason}: {', '.join(detectors.split())}." for reason, detectors in NOT_SHOWN.items()]
    lines += ["", "Answers of these are not compared:", "", *(f"- {each} {why}." for each, why in OF_ROWS.items())]
    lines += ["", "## Calls", "", *_calls(counted)]
    return "\n".join(lines).replace(" | \n", " |\n") + "\n"


def _row(name: str, answers: Counter[tuple[int, str, str]], detectors: Sequence[str]) -> str:
    cells = [str(sum(answers[ms, each, what] for each in detectors)) for ms in PERIODS for what in COLUMNS]
    return f"| {name} | {' | '.join(cells)} |"


def _calls(counted: Sequence[Compared]) -> Iterator[str]:
    """A table of the inferred calls, by period."""
    yield f"| | {' | '.join(f'{ms} ms' for ms in PERIODS)} |"
    yield f"|---|{'---:|' * len(PERIODS)}"
    by_period = [[each for each in counted if each.key.period_ms == ms] for ms in PERIODS]
    for title, figure in FIGURES.items():
        yield f"| {title} | {' | '.join(f'{sum(map(figure, results)):,}' for results in by_period)} |"


def _false_alarm(result: Compared) -> bool:
    return any(what == FALSE_ALARM for _, what, _ in result.answers)


FIGURES: dict[str, Callable[[Compared], int]] = {
    "loads, compilations and predictions": lambda result: result.calls.true,
    "inferred": lambda result: result.calls.inferred,
    "inferred, with begin and end within their bounds": lambda result: result.calls.within,
    "begins and ends of these at which the thread runs": lambda result: len(result.calls.widths),
    "of these, bounds of at most 3 samples": lambda result: sum(width <= 3 for width in result.calls.widths),
    "recordings with more calls than there are": lambda result: bool(result.calls.too_many),
    "healthy apps": lambda result: result.key.source == HEALTHY,
    "healthy apps with a false alarm": lambda result: result.key.source == HEALTHY and _false_alarm(result),
}


def main(step: int = 1) -> int:
    """Compare, print, write the page, and return the exit status."""
    results = on_all_processors(compared, [key._replace(period_ms=ms) for key in keys()[::step] for ms in PERIODS])
    text = page(results, step)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    complaints = [line for result in results for line in result.complaints]
    sys.stdout.writelines([text, *(f"{line}\n" for line in complaints)])
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
