import pytest

from tracekit.trace.build import build_trace
from tracekit.trace.sharing import MAX_OUTSIDE_SHARE, PADDING_NS, SharingState

MS = 1_000_000
GENERIC = "Neural Engine Prediction"


def label(model, verb=" Prediction"):
    return f"{model}_main__Op0_AneInference{verb}"


def shared(make, *rows, coreml=((100 * MS, 100 * MS, "Prediction", "net-1"),)):
    return build_trace(make.recording(make.coreml(*coreml), make.engine(*rows))).sharing


@pytest.mark.parametrize(
    ("outside_ns", "state"), [(0, "own"), (4_000_000, "own"), (5_000_000, "own"), (5_000_100, "shared")]
)
def test_more_than_a_twentieth_outside_all_predictions_is_others_work(make, outside_ns, state):
    inside_ns = 95 * MS
    sharing = shared(make, (101 * MS, inside_ns, GENERIC), (500 * MS, outside_ns, GENERIC))
    assert MAX_OUTSIDE_SHARE == 0.05
    assert sharing.state == state
    assert sharing.is_shared is (state == "shared")
    assert sharing.outside_share == pytest.approx(outside_ns / (outside_ns + inside_ns))


def test_a_millisecond_around_a_prediction_is_inside(make):
    assert PADDING_NS == MS
    assert shared(make, (99 * MS, 102 * MS, GENERIC)).outside_share == 0
    assert shared(make, (99 * MS - 1, 102 * MS + 2, GENERIC)).outside_share == pytest.approx(2 / (102 * MS + 2))


def test_time_is_counted_once_however_many_rows_cover_it(make):
    sharing = shared(
        make,
        (100 * MS, 100 * MS, GENERIC),
        (100 * MS, 90 * MS, GENERIC),
        (500 * MS, 100 * MS, GENERIC),
        (550 * MS, 50 * MS, GENERIC),
        (520 * MS, 10 * MS, GENERIC),
    )
    assert sharing.outside_share == 0.5
    assert sharing.sentence == (
        "Other processes used the Neural Engine too: 50% of its execution time is outside the target's predictions."
    )


def test_a_label_of_a_model_that_the_target_never_loaded_is_enough(make):
    sharing = shared(make, (101 * MS, 90 * MS, GENERIC), (150 * MS, 1, label("rival")), (151 * MS, 1, label("rival")))
    assert (sharing.state, sharing.foreign_models) == (SharingState.SHARED, ("rival",))
    assert sharing.sentence == (
        "Other processes used the Neural Engine too: labels name a model that the target never loaded (rival)."
    )
    many = shared(make, *((110 * MS + k, 1, label(f"m{k}")) for k in range(5)), (500 * MS, 95, label("m9", " Compile")))
    assert many.foreign_models == ("m0", "m1", "m2", "m3", "m4", "m9")
    assert many.sentence.endswith("labels name models that the target never loaded (m0, m1, m2 and 3 more).")


def test_work_that_names_the_targets_model_is_its_own_at_any_time(make):
    # A prediction that the end of the recording cut off has no row, and its work on the engine has.
    sharing = shared(make, (101 * MS, 90 * MS, label("net")), (500 * MS, 90 * MS, label("net")))
    assert (sharing.state, sharing.outside_share) == (SharingState.OWN, 0)


def test_loads_and_compilations_are_no_execution(make):
    sharing = shared(
        make,
        (101 * MS, 90 * MS, GENERIC),
        (300 * MS, 900 * MS, "Neural Engine Load: prepare and cache"),
        (300 * MS, 800 * MS, label("net", " Compile")),
    )
    assert (sharing.state, sharing.outside_share) == (SharingState.OWN, 0)
    only = shared(make, (300 * MS, 900 * MS, "Neural Engine Load"))
    assert (only.state, only.outside_share) == (SharingState.OWN, None)
    assert only.sentence == "Nothing suggests that other processes used the Neural Engine."


def test_without_anything_to_compare_with_sharing_cannot_be_judged(make):
    rows = ((0, 5, GENERIC), (10, 5, label("net")))
    for coreml, why in (((), "no Core ML row"), (((0, 5, "Load", "net-1"),), "no prediction")):
        sharing = shared(make, *rows, coreml=coreml)
        assert (sharing.state, sharing.outside_share, sharing.foreign_models) == (SharingState.UNKNOWN, None, ())
        assert "unknown whether other processes" in sharing.sentence
        assert why in sharing.sentence
        assert not sharing.is_shared


def test_without_rows_of_the_engine_there_is_nothing_to_share(make):
    for tables in ([], [make.engine()], [make.unreadable("ane-hw-intervals", "damaged")]):
        trace = build_trace(make.recording(make.coreml((0, 5, "Prediction", "net-1")), *tables))
        assert (trace.sharing.state, trace.sharing.is_shared) == (SharingState.NONE, False)
        assert trace.sharing.sentence == "No Neural Engine activity was recorded."


def test_the_coverage_says_so_once_and_only_where_it_matters(make):
    def conclusion_and_notes(*rows, coreml):
        trace = build_trace(make.recording(make.coreml(*coreml), make.engine(*rows)))
        return trace.coverage_of("Neural Engine").conclusion, trace.notes

    start = "Neural Engine activity of the whole device, without process names"
    call = ((100 * MS, 100 * MS, "Prediction", "net-1"),)
    assert conclusion_and_notes((110 * MS, MS, GENERIC), coreml=call) == (f"{start}.", ())
    assert conclusion_and_notes((110 * MS, MS, label("rival")), coreml=call) == (
        f"{start}; other processes used the Neural Engine too: labels name a model that the target never loaded "
        "(rival).",
        (),
    )
    assert conclusion_and_notes((110 * MS, MS, GENERIC), coreml=()) == (
        f"{start}; it is unknown whether other processes used the Neural Engine: there are no Core ML rows to compare "
        "with.",
        (),
    )
