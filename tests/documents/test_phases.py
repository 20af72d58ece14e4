"""Inferred calls in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_analysis
from tracekit.analysis.code.phases import FIRST, LOAD, OTHER, OTHERS, WAITING, CallPhases, Phase
from tracekit.columns import codes_of
from tracekit.documents.phases import calls_words, headline, phase_lines, phase_rows, source_words
from tracekit.report.formatting import inferred_facts
from tracekit.trace.calls.stacks import LoadPhase
from tracekit.trace.events import BOUNDS, Calls

MS = 1_000_000


def calls(kind: str, count: int, busy: dict[str, float], **times: float) -> CallPhases:
    """Calls with these mean times in ms by path, its names joined with two underscores."""
    outer = sum(ms for path, ms in times.items() if "__" not in path)
    phases = (
        Phase(tuple(name.replace("_", " ") for name in path.split("__")), ms * MS, ms / outer)
        for path, ms in times.items()
    )
    return CallPhases(kind, count, outer * MS, tuple(phases), busy)


@pytest.fixture
def inferred(full):
    """A model with a load and predictions that stacks alone show, to 1 ms."""
    other, waiting = OTHER.replace(" ", "_"), WAITING
    times = {other: 10.0, waiting: 20.0}
    phases = (
        calls(LOAD, 1, {}, compiling=960, compiling__trying=500, compiling__copying=20, **times),
        calls(FIRST, 1, {}, GPU=180, GPU__specializing=100, binding=2, **{waiting: 18.0}),
        calls(OTHERS, 8, {"gpu": 3.05 * MS}, GPU=14.4, CPU=1.6),
    )
    return replace(full.models[0], loads=1, predictions=9, phases=phases, resolution_ns=MS)


def test_loads_and_first_predictions_are_taken_apart(inferred):
    assert phase_lines(inferred) == (
        "load ≥ 990 ms: compiling 960 ms (500 ms trying), waiting 20 ms, other 10 ms",
        "first prediction 200 ms: CPU time in GPU code 180 ms (100 ms specializing), waiting 18 ms, other 2 ms",
    )


def test_a_load_that_compiles_says_so_first_and_in_one_unit(inferred):
    program, compiling, engine = LoadPhase.PROGRAM, LoadPhase.COMPILING, LoadPhase.NEURAL_ENGINE
    means = {(program,): 3_110, (program, compiling): 2_950, (program, compiling, engine): 1_570, (WAITING,): 120}
    phases = tuple(Phase(path, ms * MS, ms / 3_230) for path, ms in means.items())
    load = replace(inferred.phases[0], mean_ns=3_230 * MS, phases=phases)
    (line,) = phase_lines(replace(inferred, phases=(load,)))
    parts = "compiling 2.95 s (1.57 s trying the Neural Engine), cache lookup 0.16 s, waiting 0.12 s"
    assert line == f"load ≥ 3.23 s: {parts}"


@pytest.mark.sweep
@pytest.mark.corpus
def test_a_call_site_and_the_phases_of_its_calls_give_one_share(corpus):
    report = kept_analysis(corpus / "bundles" / "quick_probe.trace").report
    (model,), shares = report.models, {}
    for site in report.code.call_sites:
        # Of one load, one first prediction and all others, each from a place of its own.
        kind = LOAD if site.api == "load" else FIRST if site.calls == 1 else OTHERS
        phases = [phase for calls in model.phases if calls.kind == kind for phase in calls.phases]
        for busy in site.busy:
            shares[kind, busy.what] = busy.share
            assert busy.share == pytest.approx(sum(phase.share for phase in phases if phase.path[-1] == busy.what))
    assert shares[LOAD, "compiling"] == pytest.approx(0.92, abs=0.005)
    assert {kind for kind, _ in shares} == {LOAD, FIRST, OTHERS}
    outcomes = {check.id: check.outcome for check in report.results}
    assert (outcomes["cold-load"], outcomes["slow-load"], outcomes["recompiled-each-run"]) == (
        "finding",
        "not_applicable",
        "not_applicable",
    )


def test_a_prediction_is_said_by_units_and_what_takes_most(inferred):
    assert headline(inferred) == "GPU busy 3.05 ms, CPU time in GPU code 90%, CPU compute 10%"
    assert headline(replace(inferred, phases=inferred.phases[:2])).startswith("CPU time in GPU code 90%")


def test_calls_are_counted_with_what_loads_took(inferred):
    load = inferred.load
    assert load is not None
    timed = replace(inferred, load=replace(load, total_ns=3_225 * MS))
    assert calls_words(timed) == "1 load ≥ 3.23 s · 9 predictions"
    assert calls_words(replace(inferred, load=None, loads=None, predictions=1)) == "1 prediction"


def test_each_phase_has_a_row_and_an_id(inferred):
    rows = list(phase_rows([inferred]))
    assert [row.words for row in rows[:3]] == ["whole call", "compiling", "of which trying"]
    assert rows[0].share == 1
    assert len({row.quantity for row in rows}) == len(rows)


def test_the_source_is_named_where_core_ml_recorded_nothing(full, inferred):
    assert source_words(full.models) == source_words(()) == source_words((inferred, *full.models)) == ""
    assert source_words((replace(inferred, breakdown=None),)) == "inferred from call stacks"


def test_a_call_says_what_shows_it_and_between_which_times_it_began_and_ended():
    rows = [
        ("core-ml", 0, 5 * MS, 5 * MS, 9 * MS, 9 * MS, True),
        ("call-stacks", MS, 704_614_250, 707_614_250, 3_931_614_000, 3_932_615_083, True),
        ("call-stacks", 5 * MS, 0, 5 * MS, 5 * MS, 80 * MS, False),
        ("signposts", 0, 5 * MS, 5 * MS, 9 * MS, 9 * MS, True),
        ("hardware", 0, 0, 20 * MS, 30 * MS, 900 * MS, True),
    ]
    origins, *columns = zip(*rows, strict=True)
    told = replace(Calls.none(), origin=codes_of(np.arange(len(rows)), origins))
    told = replace(told, **dict(zip(("resolution_ns", *BOUNDS, "single"), map(np.array, columns), strict=True)))
    recorded, sampled, several, logged, hardware = map(dict, inferred_facts(told))
    assert recorded == {}
    assert sampled == {
        "inferred from": "call stacks",
        "resolution": "±1 ms",
        "started": "0.704 614 s to 0.707 614 s",
        "ended": "3.931 614 s to 3.932 615 s",
    }
    assert several["calls"] == "one or more"
    # That is exact, too.
    assert logged == {"recorded as": "Core ML's signpost"}
    # Nothing bounds a call that only its work shows: when the recording began and ended says nothing of it.
    assert hardware == {
        "inferred from": "hardware rows",
        "started": "at 0.020 000 s or before",
        "ended": "at 0.030 000 s or later",
    }
