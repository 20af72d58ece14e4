import pytest
from hypothesis import given, settings, strategies as st

from tracekit.trace.events import Device, Kind, Lane
from tracekit.trace.instruments.coreml import event_meaning, fold

ACTIVITY, DATA, COMPUTE, UNKNOWN = Lane.ACTIVITY, Lane.DATA, Lane.COMPUTE, Lane.UNKNOWN

LITERAL = [
    ("Load", ACTIVITY, Kind.LOAD, None),
    ("Load (cached)", ACTIVITY, Kind.LOAD_CACHED, None),
    ("Load (prepare and cache)", ACTIVITY, Kind.LOAD_UNCACHED, None),
    ("Compile", ACTIVITY, Kind.COMPILE, None),
    ("Prediction", ACTIVITY, Kind.PREDICTION, None),
    ("Input Validation", DATA, Kind.INPUT_VALIDATION, None),
    ("Input Copy", DATA, Kind.INPUT_COPY, None),
    ("Data Cast", DATA, Kind.DATA_CAST, None),
    ("Output Transformation", DATA, Kind.OUTPUT_TRANSFORMATION, None),
    ("Neural Engine - Data Copy", DATA, Kind.ANE_DATA_COPY, Device.ANE),
    ("CPU", COMPUTE, Kind.CPU_COMPUTE, Device.CPU),
    ("Prepare GPU Request", COMPUTE, Kind.GPU_PREPARE, Device.GPU),
    ("GPU Request", COMPUTE, Kind.GPU_REQUEST, Device.GPU),
    ("Neural Engine Request", COMPUTE, Kind.ANE_REQUEST, Device.ANE),
]
"""The reference table of event strings, section 3.4."""


def meanings(table):
    """As in the table, and whether each is a guess."""
    found = [(label, event_meaning(label)) for label, *_ in table]
    return [(label, one.lane, one.kind, one.device, one.guessed) for label, one in found]


def test_each_string_of_the_reference_has_its_meaning():
    assert meanings(LITERAL) == [(*row, False) for row in LITERAL]


@pytest.mark.parametrize(
    "written",
    [
        lambda text: f"  {text}\t",
        lambda text: text.replace(" ", "   "),
        str.upper,
        str.lower,
        lambda text: f"{text} → StyleTransfer-1",
        lambda text: text.replace(" - ", "-"),
    ],
)
def test_spelling_that_folds_alike_means_the_same(written):
    for label, *_ in LITERAL:
        assert event_meaning(written(label)) == event_meaning(label), label


RULES = [
    ("Load (uncached)", ACTIVITY, Kind.LOAD_UNCACHED, None),
    ("Load: prepare", ACTIVITY, Kind.LOAD_UNCACHED, None),
    ("Load from cached file", ACTIVITY, Kind.LOAD_CACHED, None),
    ("Loading", ACTIVITY, Kind.LOAD, None),
    ("Compilation", ACTIVITY, Kind.COMPILE, None),
    ("Specialize", ACTIVITY, Kind.COMPILE, None),
    ("Neural Engine - Copy Out", DATA, Kind.ANE_DATA_COPY, Device.ANE),
    ("ANE copy", DATA, Kind.ANE_DATA_COPY, Device.ANE),
    ("ANE Request 2", COMPUTE, Kind.ANE_REQUEST, Device.ANE),
    ("Neural Engine Wait", COMPUTE, Kind.OTHER, Device.ANE),
    ("Prepare GPU", COMPUTE, Kind.GPU_PREPARE, Device.GPU),
    ("GPU Request (async)", COMPUTE, Kind.GPU_REQUEST, Device.GPU),
    ("GPU Wait", COMPUTE, Kind.OTHER, Device.GPU),
    ("CPU (BNNS)", COMPUTE, Kind.CPU_COMPUTE, Device.CPU),
    ("Prediction (state)", ACTIVITY, Kind.PREDICTION, None),
    ("Async Prediction", ACTIVITY, Kind.PREDICTION, None),
    ("Batch of predictions", ACTIVITY, Kind.PREDICTION, None),
    ("Input Validity", DATA, Kind.INPUT_VALIDATION, None),
    ("Input Copy (IOSurface)", DATA, Kind.INPUT_COPY, None),
    ("Data Casting", DATA, Kind.DATA_CAST, None),
    ("Output Transfer", DATA, Kind.OUTPUT_TRANSFORMATION, None),
]
"""One string or more for each rule 2 to 8 of section 3.5, invented to hit that rule."""


def test_an_unknown_string_is_judged_by_its_beginning_and_marked_as_guessed():
    assert meanings(RULES) == [(*row, True) for row in RULES]


@pytest.mark.parametrize(
    ("label", "lane"),
    [
        ("State copy", DATA),
        ("Buffer cast", DATA),
        ("Image transformation", DATA),
        ("Shape validation", DATA),
        ("Flush request", COMPUTE),
        ("Batch", UNKNOWN),
        ("Async work", UNKNOWN),
        ("Unload", UNKNOWN),
        ("anecdote", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_a_string_that_tells_no_kind_stays_other(label, lane):
    meaning = event_meaning(label)
    assert (meaning.kind, meaning.lane, meaning.guessed) == (Kind.OTHER, lane, False)


def test_uncached_is_not_taken_for_cached():
    assert event_meaning("Load, uncached").kind is Kind.LOAD_UNCACHED


@given(st.text(max_size=60), st.sampled_from([row[0] for row in LITERAL]))
@settings(deadline=None)
def test_every_string_has_a_meaning_and_a_model_behind_an_arrow_changes_none(text, label):
    assert event_meaning(text).kind in Kind
    assert event_meaning(f"{label} → {text}x") == event_meaning(label)


@given(st.text(alphabet=st.characters(exclude_characters="→"), max_size=60))
@settings(deadline=None)
def test_folding_twice_changes_nothing(label):
    assert fold(fold(label)) == fold(label)


def test_a_long_string_of_blanks_is_folded_at_once():
    # Quadratic time would take minutes here.
    assert fold(f"a{' ' * 1_000_000}b -{' ' * 1_000_000}c") == "a b - c"
