from hypothesis import given, settings, strategies as st

from support.rows import records_of, values_of
from tracekit.trace.build import build_trace

SIGNPOST = "time thread process event-type identifier name subsystem category message"
INTERVAL = "start duration name category subsystem identifier process start-thread start-message end-message"
KEYS = ("start_ns", "duration_ns", "name")


def signposts(make, *rows):
    """Rows (time, event type, name), and optionally identifier, process, category."""
    full = []
    for time, kind, name, *rest in rows:
        identifier, process, category = (*rest, *(1, "app", "c")[len(rest) :])
        full.append((time, None, make.process(process, 42), kind, identifier, name, "s", category, f"at {time}"))
    return make.table("os-signpost", SIGNPOST, *full)


def intervals(trace):
    return list(zip(*(values_of(trace.context["signposts"], name) for name in KEYS), strict=True))


def test_a_beginning_and_its_end_are_one_interval(make):
    trace = build_trace(make.recording(signposts(make, (5, "Begin", "work"), (9, "End", "work"), (7, "Event", "tick"))))
    assert intervals(trace) == [(5, 4, "work")]
    (row,) = records_of(trace.context["signposts"])
    assert (row["process"], row["pid"], row["category"], row["subsystem"]) == ("app", 42, "c", "s")
    assert (row["start_message"], row["end_message"], row["row"]) == ("at 5", "at 9", 0)
    assert values_of(trace.context["signpost_events"], "name") == ["tick"]
    assert trace.notes == ()


def test_nested_intervals_of_one_kind_close_the_latest_first(make):
    rows = [(0, "Begin", "w"), (1, "Begin", "w"), (2, "End", "w"), (5, "End", "w"), (6, "Begin", "w"), (7, "End", "w")]
    assert intervals(build_trace(make.recording(signposts(make, *rows)))) == [(0, 5, "w"), (1, 1, "w"), (6, 1, "w")]


def test_identifier_process_name_and_log_tell_intervals_apart(make):
    rows = [(0, "Begin", "w", 1), (1, "Begin", "w", 2), (2, "Begin", "v", 1), (3, "Begin", "w", 1, "other")]
    rows += [(4, "Begin", "w", 1, "app", "d"), (10, "End", "w", 1), (20, "End", "w", 2), (30, "End", "v", 1)]
    rows += [(40, "End", "w", 1, "other"), (50, "End", "w", 1, "app", "d")]
    read_rows = intervals(build_trace(make.recording(signposts(make, *rows))))
    assert read_rows == [(0, 10, "w"), (1, 19, "w"), (2, 28, "v"), (3, 37, "w"), (4, 46, "w")]


def test_what_has_no_counterpart_is_left_out_and_counted(make):
    rows = [(0, "End", "w"), (1, "Begin", "w"), (2, "Begin", "w"), (3, "End", "w"), (4, "Begin", "v")]
    trace = build_trace(make.recording(signposts(make, *rows)))
    assert intervals(trace) == [(2, 1, "w")]
    assert trace.notes == ("Incomplete signpost intervals: 2 without an end, 1 without a begin.",)


EVENTS = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from(["Begin", "End"]), st.sampled_from("vw"), st.integers(1, 2)),
    max_size=14,
)


@given(EVENTS)
@settings(deadline=None)
def test_pairing_equals_a_stack_for_each_kind(make, rows):
    stacks, expected = {}, []
    for time, kind, name, identifier in sorted(rows, key=lambda row: row[0]):
        stack = stacks.setdefault((name, identifier), [])
        if kind == "Begin":
            stack.append(time)
        elif stack:
            start = stack.pop()
            expected.append((start, time - start, name))
    trace = build_trace(make.recording(signposts(make, *rows)))
    assert sorted(intervals(trace)) == sorted(expected)


def recorded(make, schema, *rows):
    """Rows (start, duration, name, identifier)."""
    full = [(a, b, name, "c", "s", number, make.process("app", 42), None, "from", "to") for a, b, name, number in rows]
    return make.table(schema, INTERVAL, *full)


def test_interval_tables_of_all_versions_are_read(make):
    for schema in ("os-signpost-interval", "OSSignpostIntervals"):
        trace = build_trace(make.recording(recorded(make, schema, (5, 4, "work", 1))))
        assert intervals(trace) == [(5, 4, "work")]
        assert values_of(trace.context["signposts"], "start_message") == ["from"]
        assert "signpost_events" not in trace.context


def test_an_interval_that_is_recorded_and_paired_counts_once(make):
    pairs = [(5, "Begin", "work"), (9, "End", "work"), (20, "Begin", "more"), (21, "End", "more")]
    trace = build_trace(
        make.recording(recorded(make, "OSSignpostIntervals", (5, 4, "work", 1)), signposts(make, *pairs))
    )
    assert intervals(trace) == [(5, 4, "work"), (20, 1, "more")]
    assert values_of(trace.context["signposts"], "table") == ["OSSignpostIntervals", "os-signpost"]


def test_points_of_interest_are_read(make):
    table = make.table(
        "PointsOfInterestEvents",
        "time process thread subsystem name message",
        (3, make.process("app", 42), make.thread("Main Thread", 7), "s", "tap", "m"),
    )
    (row,) = records_of(build_trace(make.recording(table)).context["points_of_interest"])
    assert (row["start_ns"], row["name"], row["process"], row["tid"]) == (3, "tap", "app", 7)
