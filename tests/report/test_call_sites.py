"""How call sites are worded."""

from __future__ import annotations

import re

import pytest

from support.analyses import kept_analysis
from tracekit.analysis.code.sites import Busy, CallSite
from tracekit.report.call_sites import busy_words, code_info, main_work
from tracekit.trace.calls.stacks import Api, LoadPhase, Unit
from tracekit.trace.events import Kind
from tracekit.trace.filter import everything, only_models

PROGRAM = Busy(LoadPhase.PROGRAM, 92, 0.92)
CACHE_KEY = Busy(LoadPhase.CACHE_KEY, 17, 0.17, LoadPhase.PROGRAM)
READYING = Busy(LoadPhase.READYING, 7, 0.07)
COMPILED = (
    Busy(LoadPhase.PROGRAM, 96, 0.96),
    Busy(LoadPhase.CACHE_KEY, 1, 0.01, LoadPhase.PROGRAM),
    Busy(LoadPhase.COMPILING, 95, 0.95, LoadPhase.PROGRAM),
    Busy(LoadPhase.NEURAL_ENGINE, 50, 0.5, LoadPhase.COMPILING),
)


def site(api: Api, *busy: Busy) -> CallSite:
    times = {"first_ns": 0, "last_ns": 9, "median_ns": 9, "longest_ns": 9}
    return CallSite(
        api,
        None,
        "main",
        None,
        None,
        (),
        "main",
        1,
        1,
        1.0,
        inferred=True,
        samples=100,
        ambiguous=0,
        busy=busy,
        **times,
    )


@pytest.mark.parametrize(
    ("busy", "words"),
    [
        (
            (PROGRAM, CACHE_KEY, READYING),
            "getting the compiled program 92% (17% computing the cache key), making operations ready 7%",
        ),
        (
            COMPILED,
            "getting the compiled program 96% (1% computing the cache key, 95% compiling "
            "(50% trying the Neural Engine))",
        ),
        ((READYING,), "making operations ready 7%"),
    ],
)
def test_phases_of_a_load_stand_in_those_that_they_are_part_of(busy, words):
    assert busy_words(site(Api.LOAD, *busy)) == f"{words} of 100 samples"
    outside = words
    while "(" in outside:
        outside = re.sub(r" \([^()]*\)", "", outside)
    assert sum(map(int, re.findall(r"(\d+)%", outside))) <= 100


def test_the_short_report_leaves_out_what_compiling_says_already():
    words = main_work(site(Api.LOAD, *COMPILED))
    assert words == "compiling 95% (50% trying the Neural Engine)"
    words = main_work(site(Api.LOAD, PROGRAM, CACHE_KEY))
    assert words == "nothing compiled, getting the compiled program 92% (17% computing the cache key)"


def test_samples_of_a_prediction_are_time_of_the_cpu():
    call = site(Api.PREDICTION, Busy(Unit.GPU, 94, 0.94), Busy(Unit.CPU, 4, 0.04))
    assert main_work(call) == "CPU time in GPU code 94%"
    assert busy_words(call) == "CPU time in GPU code 94%, CPU compute 4% of 100 samples"
    assert main_work(site(Api.PREDICTION)) == ""


def test_of_some_models_the_code_counts_their_calls_alone(samples):
    trace = kept_analysis(samples / "style_transfer_reload.trace").trace
    shown = only_models(everything(trace), trace, {"Mosaic"})
    kinds = trace.activity.kind.take(trace.activity.model.is_any("Mosaic"))
    sites = code_info(trace, shown).call_sites
    assert {site.api: site.of for site in sites} == {
        "load": kinds.is_any(Kind.LOAD_CACHED).sum(),
        "prediction": kinds.is_any(Kind.PREDICTION).sum(),
    }
    assert {site.model for site in sites} == {"Mosaic"}
