"""Labeled recordings judged without Core ML's rows, from call stacks and hardware, against the same with them.

`PYTHONPATH=tests python -m suite.blind [STEP]` judges one in `STEP` recordings (8 by default), and every healthy app in
one of the ways, prints what is wrong, and writes docs/detectors/blind.md.
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
from tracekit.detectors.inference import EITHER, either_of
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
STACKS, METAL, WAITING = SHOWN = ("stacks alone", "Metal's tables", "waiting threads")
"""What a recording holds beside rows of compute units: the stacks of threads that run, with what they encode for the
GPU, with those that wait."""
STEP = 8
CHANGES = ("twice", "longer", "beside")
"""Changes that make a further recording of every tenth one."""
RANDOM = {HEALTHY: 1_000, PROBLEM: 200, SESSION: 100, ILL_SESSION: 100}

NOT_SHOWN = {
    "what Core ML copies and converts, and what no step explains": (
        "excess-data-copies float-conversion state-copies unexplained-time"
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
HEAD = """# Without Core ML's rows

Which findings remain if Core ML recorded no rows? `make blind` writes this page. The labeled recordings of
[accuracy.md](accuracy.md) and random apps get call stacks of 1 ms and 5 ms. These have missed samples, several
threads, inlined frames and functions without names. Each is evaluated with Core ML's rows and, without them, in
three ways:

- *stacks alone*: stacks of running threads, and rows of compute units
- *Metal's tables*: also what threads encode for the GPU, as the Core ML template records it
- *waiting threads*: also stacks of waiting threads, as `tracekit record` asks for them

{count:,} recordings count. Left out: several processes; no rows of Core ML{artifacts}.{part}

A cell has the findings that are found again, of those that cost more than {worth} samples or have no cost. The others
are not evaluated. A check without such findings has no row. What one check leaves to another from a threshold on,
either finds: {either}.
"""


class RecordingKey(NamedTuple):
    """A labeled recording."""

    source: str
    """Module of cases, or kind of random app."""
    number: int
    change: str = ""
    """A key of `RELATIONS`."""
    period_ms: int = 1
    shown: str = STACKS
    """One of `SHOWN`."""

    @property
    def name(self) -> str:
        what = f"{self.source} {self.number}{self.change and ' ' + self.change} at {self.period_ms} ms"
        return what if self.shown == STACKS else f"{what} with {self.shown}"


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
    build = None if key.source in MAKERS else load(key.source)[key.number].build
    # Of several cases from one builder, each is the builder with some values.
    artifact = (key.source, getattr(getattr(build, "func", build), "__name__", "")) in ARTIFACTS
    return not lost and not artifact and any(map(is_call, scenario.coreml))


def compared(key: RecordingKey) -> Compared:
    """A recording with call stacks, judged with and without Core ML's rows."""
    return compared_as([key])[0]


def compared_as(keys: Sequence[RecordingKey]) -> list[Compared]:
    """The same of one recording in several ways, which is judged with Core ML's rows once."""
    key, period_ns = keys[0], PERIODS[keys[0].period_ms]
    try:
        scenario, may_hold, settings = labeled(key)
        if not counts(key, scenario):
            return [Compared(each) for each in keys]
        draws = Draws(zlib.crc32(f"{key.source} {key.number}".encode()))
        running, every, calls = with_stacks(scenario, draws, period_ns)
        metal = replace(running, graphs=[], command_buffers=[], driver=[])
        encode_graphs(metal, threads_of(metal, calls), callers_of(metal, calls))
        # A healthy app holds nothing but what `may_hold` says.
        truth = [] if key.source == HEALTHY else run_detectors(trace_of(running), **settings)
        bare = running.missing | ENCODED
        ways = {STACKS: replace(running, missing=bare), METAL: metal, WAITING: replace(every, missing=bare)}
        results = []
        for each in keys:
            whole = ways[each.shown]
            trace = trace_of(replace(whole, emptied={*whole.emptied, CORE_ML}))
            blind = run_detectors(trace, **_by_inferred_name(settings, trace.models.name, calls))
            answers = tuple(compare_answers(truth, blind, calls, may_hold, period_ns))
            of_calls = compare_calls(trace.activity, calls, running.samples, period_ns)
            results.append(Compared(each, answers, of_calls, "; ".join(named(blind)[1])))
        return results
    except Exception:
        return [Compared(each, error=traceback.format_exc()) for each in keys]


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
    """Comparisons of each finding of either side. An answer is about all models that its name may stand for. Of checks
    between which a threshold decides, either finds what the other does."""
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
        beside = {what for (other, name), what in said.items() if other in either_of(detector) and model in about[name]}
        here |= beside & {FINDING}
        yield detector, FOUND if FINDING in here else CONTRADICTION if only_passed else MISSING, must
    for (detector, name), what in said.items():
        models = about[name] if (detector, name) not in worth else {name}
        checks = {detector} | either_of(detector)
        right = any((each, model) in worth or may_hold((each, model)) for each in checks for model in models)
        if what == FINDING and not right and detector not in OF_ROWS:
            yield detector, FALSE_ALARM, False


Way = tuple[int, str]
"""Period in ms, and what is shown."""
WAYS: tuple[Way, ...] = tuple((ms, shown) for shown in SHOWN for ms in PERIODS)


def page(results: Sequence[Compared], step: int = 1) -> str:
    """The page as Markdown."""
    counted = [result for result in results if result.calls is not None]
    answers = Counter(
        ((result.key.period_ms, result.key.shown), detector, what)
        for result in counted
        for detector, what, worth in result.answers
        if worth or what not in (FOUND, MISSING)
    )
    recall = [detector for detector in detector_ids() if detector not in EXEMPT]
    part = f"\n\n**These are the figures of {'' if step == 1 else f'one in {step}: '}"
    healthy = {result.key.number for result in counted if result.key.source == HEALTHY}
    others = {result.key[:3] for result in counted if result.key.source != HEALTHY}
    part += f"{len(others):,} recordings in all of the ways, and {len(healthy):,} healthy apps, each in one of them.**"
    lines = [
        HEAD.format(
            count=len({result.key[:3] for result in counted}),
            worth=WORTH,
            either="; ".join(" and ".join(sorted(each)) for each in EITHER),
            part=part,
            artifacts="".join(f"; {why}" for why in dict.fromkeys(ARTIFACTS.values())),
        )
    ]
    headings = [f"{shown}, {ms} ms" for ms, shown in WAYS]
    lines += [f"| check | {' | '.join(headings)} |", f"|---|{'---:|' * len(WAYS)}"]
    with_findings = {each for (_, each, what), count in answers.items() if what in COMPARED and count}
    lines += [_row(f"[{each}]({RULES}/{each}.md)", answers, [each]) for each in recall if each in with_findings]
    lines += [_row("**all of these**", answers, recall), _row("all others", answers, sorted(EXEMPT))]
    lines += ["", "The other checks are not expected to find anything. Call stacks and hardware do not show:", ""]
    lines += [f"- {reason}: {', '.join(detectors.split())}." for reason, detectors in NOT_SHOWN.items()]
    lines += ["", "Not compared:", "", *(f"- {each} {why}." for each, why in OF_ROWS.items())]
    lines += ["", "## Wrong answers, and calls", "", f"| | {' | '.join(headings)} |", f"|---|{'---:|' * len(WAYS)}"]
    by_way = [[each for each in counted if (each.key.period_ms, each.key.shown) == way] for way in WAYS]
    lines += [f"| {title} | {' | '.join(map(figure, by_way))} |" for title, figure in FIGURES.items()]
    return "\n".join(lines) + "\n"


def _row(name: str, answers: Counter[tuple[Way, str, str]], detectors: Sequence[str]) -> str:
    cells = []
    for way in WAYS:
        found, *others = (sum(answers[way, each, what] for each in detectors) for what in COMPARED)
        cells.append(f"{found}/{found + sum(others)}")
    return f"| {name} | {' | '.join(cells)} |"


COMPARED = (FOUND, MISSING, CONTRADICTION)


def _total(figure: Callable[[Compared], int]) -> Callable[[Sequence[Compared]], str]:
    return lambda results: f"{sum(map(figure, results)):,}"


def _answers(what: str, results: Iterable[Compared]) -> int:
    return sum(said == what for result in results for _, said, _ in result.answers)


def _held(results: Sequence[Compared]) -> str:
    inferred, within = (sum(getattr(each.calls, name) for each in results) for name in ("inferred", "within"))
    return f"{within / max(inferred, 1):.2%}"


FIGURES: dict[str, Callable[[Sequence[Compared]], str]] = {
    "a check passes that has a finding with Core ML's rows": lambda results: str(_answers(CONTRADICTION, results)),
    "a finding only without those rows": lambda results: str(_answers(FALSE_ALARM, results)),
    "healthy apps": _total(lambda result: result.key.source == HEALTHY),
    "healthy apps with a finding": _total(
        lambda result: result.key.source == HEALTHY and _answers(FALSE_ALARM, [result]) > 0
    ),
    "loads, compilations and predictions": _total(lambda result: result.calls.true),
    "inferred": _total(lambda result: result.calls.inferred),
    "of these, with begin and end within the stated bounds": _held,
    "several calls reported as one": _total(lambda result: result.calls.several),
    "begins and ends while the thread runs": _total(lambda result: len(result.calls.widths)),
    "of these, bounds of at most 3 samples": _total(lambda result: sum(width <= 3 for width in result.calls.widths)),
    "Core ML's predictions that the inferred ones contradict in begin, end or count": lambda results: " of ".join(
        f"{sum(getattr(each.calls, name) for each in results):,}" for name in ("contradicted", "predictions")
    ),
    "recordings with too many calls": _total(lambda result: bool(result.calls.too_many)),
}


def wanted(step: int) -> list[list[RecordingKey]]:
    """The recordings of a run, each in the ways in which it is compared: all of them, a healthy app in one."""
    every = keys()
    chosen = [key for key in every if key.source != HEALTHY][::step]
    all_ways = [[key._replace(period_ms=ms, shown=shown) for shown in SHOWN] for key in chosen for ms in PERIODS]
    healthy = [key for key in every if key.source == HEALTHY]
    turns = [(key, WAYS[number % len(WAYS)]) for number, key in enumerate(healthy)]
    return all_ways + [[key._replace(period_ms=ms, shown=shown)] for key, (ms, shown) in turns]


def main(step: int = STEP) -> int:
    """Compare, print, write the page, and return the exit status."""
    results = [result for results in on_all_processors(compared_as, wanted(step)) for result in results]
    text = page(results, step)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    complaints = [line for result in results for line in result.complaints]
    sys.stdout.writelines([text, *(f"{line}\n" for line in complaints)])
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
