"""Filters and times as they are typed."""

from contextlib import suppress
from string import ascii_letters, digits

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.tui.query import (
    Known,
    QueryError,
    complete_last_word,
    filter_hint,
    filter_text,
    filter_words,
    parse_duration,
    parse_filter,
    parse_time,
)
from tracekit.tui.state import EventFilter

KNOWN = Known(
    ("My Model", "Style-A", "Style-B", "none"), ("load", "load_cached", "prediction"), ("neural-engine", "cpu", "gpu")
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", EventFilter()),
        ("input copy", EventFilter(text="input copy")),
        ("model:style-a", EventFilter(model="Style-A")),
        ("model:'My Model' copy", EventFilter(text="copy", model="My Model")),
        ("model:my", EventFilter(model="My Model")),
        ("model:", EventFilter(model="")),
        ("kind:load", EventFilter(kind="load")),
        ("kind:pred device:GPU", EventFilter(kind="prediction", device="gpu")),
        (">5ms <1.5s", EventFilter(min_ns=5_000_000, max_ns=1_500_000_000)),
        ("duration>5ms", EventFilter(min_ns=5_000_000)),
        (">7 ms", EventFilter(min_ns=7_000_000)),
        ("> 7 ms <9 ms copy", EventFilter(text="copy", min_ns=7_000_000, max_ns=9_000_000)),
        ("> 7ms", EventFilter(min_ns=7_000_000)),
        (">7ms ms", EventFilter(text="ms", min_ns=7_000_000)),
        ("7 ms", EventFilter(text="7 ms")),
        ("a:b", EventFilter(text="a:b")),
    ],
)
def test_a_text_means_a_filter(text, meant):
    assert parse_filter(text, KNOWN) == meant


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model:style", "'style' matches several models: Style-A, Style-B."),
        ("model:x", "Unknown model 'x'. Available: My Model, Style-A, Style-B, none."),
        ("device:tpu", "Unknown device 'tpu'. Available: gpu, cpu, neural-engine."),
        (">5", "Invalid duration '5'. Examples: 5ms, 250us, 1.5s."),
        ("> copy", "Invalid duration ''. Examples: 5ms, 250us, 1.5s."),
        ("kind:lod", "Unknown kind 'lod'. Available: load, load_cached, prediction."),
        (">", "Invalid duration ''. Examples: 5ms, 250us, 1.5s."),
        ("'open", "Missing closing quote."),
        ("models:my", "Unknown filter 'models:'; did you mean model:my?"),
    ],
)
def test_what_means_nothing_is_explained(text, told):
    with pytest.raises(QueryError) as caught:
        parse_filter(text, KNOWN)
    assert str(caught.value) == told


def test_what_is_alike_is_named_first_and_the_rest_is_counted():
    kinds = (
        "neural_engine_exec",
        "neural_engine_load",
        "compile",
        "gpu_exec",
        "gpu_prepare",
        "load",
        "other",
        "prediction",
    )
    with pytest.raises(QueryError) as caught:
        parse_filter("kind:foo", Known((), kinds, ()))
    listed = "neural_engine_exec, neural_engine_load, compile, gpu_exec, gpu_prepare, load"
    assert str(caught.value) == f"Unknown kind 'foo'. Available: {listed} and 2 more."
    with pytest.raises(QueryError) as caught:
        parse_filter("kind:predicton", Known((), kinds, ()))
    listed = "prediction, neural_engine_exec, neural_engine_load, compile, gpu_exec, gpu_prepare"
    assert str(caught.value) == f"Unknown kind 'predicton'. Available: {listed} and 2 more."
    # One more takes less room than to say so.
    with pytest.raises(QueryError, match=r"Available: neural_engine_exec, .*, load, other\.$"):
        parse_filter("kind:foo", Known((), kinds[:7], ()))
    with pytest.raises(QueryError, match=r"Unknown device 'cpu'. Available: gpu\.$"):
        parse_filter("device:cpu", Known((), (), ("gpu",)))


def test_the_prompt_offers_what_occurs():
    told, units = filter_hint(KNOWN), "neural-engine|cpu|gpu"
    assert told.startswith(f"text, model:NAME, kind:KIND, device:{units}, >5ms, <20ms; quote names with spaces")
    assert told.endswith("\nkinds: load, load_cached, prediction")
    assert filter_hint(Known((), ("other",), ("gpu",))) == "text, kind:KIND, device:gpu, >5ms, <20ms\nkinds: other"
    assert filter_hint(Known((), (), ())) == "text, >5ms, <20ms"


def test_a_recording_without_devices_says_so():
    with pytest.raises(QueryError, match="No event in this recording has a device"):
        parse_filter("device:gpu", Known((), (), ()))


FILTERS = st.builds(
    EventFilter,
    text=st.lists(st.text(ascii_letters + digits, min_size=1), max_size=3).map(" ".join),
    model=st.sampled_from([None, "", *KNOWN.model]),
    kind=st.sampled_from([None, *KNOWN.kind]),
    device=st.sampled_from([None, *KNOWN.device]),
    min_ns=st.none() | st.integers(0, 10**12),
    max_ns=st.none() | st.integers(0, 10**12),
)


@settings(deadline=None)
@given(FILTERS)
def test_the_text_of_a_filter_means_that_filter(chosen):
    assert parse_filter(filter_text(chosen), KNOWN) == chosen


@settings(deadline=None)
@given(st.text())
def test_any_text_means_something_or_is_explained(text):
    with suppress(QueryError):
        assert isinstance(parse_filter(text, KNOWN), EventFilter)


def test_a_filter_is_said_in_words():
    chosen = EventFilter("copy", "", "load", "gpu", 5_000_000, 20_000_000)
    assert filter_words(chosen) == "copy, unattributed, load, gpu, ≥ 5 ms, ≤ 20 ms"


@pytest.mark.parametrize(
    ("text", "ns"),
    [("1ns", 1), ("1.5us", 1500), ("2.5µs", 2500), ("250 ms", 250_000_000), ("0.000000001s", 1), ("12s", 12 * 10**9)],
)
def test_durations_have_a_unit(text, ns):
    assert parse_duration(text) == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1.5s", 1_500_000_000),
        ("2.4", 2_400_000_000),
        ("+2", 2_100_000_000),
        ("00:01.234", 1_234_000_000),
        ("1:02.5", 62_500_000_000),
        ("1:00:01", 3_601_000_000_000),
        ("+10ms", 110_000_000),
        ("-10ms", 90_000_000),
        ("665597750ns", 665_597_750),
        # As the screen shows it.
        ("00:12.345 678", 12_345_678_000),
    ],
)
def test_times_count_from_the_start_or_from_the_cursor(text, ns):
    assert parse_time(text, 100_000_000) == ns


@pytest.mark.parametrize("text", ["", "12 parsecs", "soon", "1:2:3:4", "+", "--1s"])
def test_what_is_no_time_is_explained(text):
    with pytest.raises(QueryError, match="Invalid time"):
        parse_time(text, 0)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        # In place of nothing stands the model that the screen is about.
        ("", "model:Style-B "),
        ("model:", "model:Style-B "),
        ("sty", "model:Style-A "),
        (">5ms sty", ">5ms model:Style-A "),
        # Once more goes on to the next one, and from the last to the first.
        ("model:Style-A ", "model:Style-B "),
        ("model:none ", "model:'My Model' "),
        ("model:'My Model' ", "model:Style-A "),
        ("kind:pred", "kind:prediction "),
        ("device:", "device:neural-engine "),
        ("zzz", "zzz"),
        ("kinds:load", "kinds:load"),
    ],
)
def test_the_last_word_of_a_filter_is_completed(text, more):
    assert complete_last_word(text, KNOWN, "Style-B") == more
    assert complete_last_word("", Known((), ("load",), ()), None) == ""
