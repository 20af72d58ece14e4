"""The rules of `tracekit.trace.attribution`, tried one row at a time."""

from hypothesis import given, settings, strategies as st

from support.rows import records_of
from tracekit.trace.build import build_trace


def engine_label(model):
    return f"{model}_main__Op0_AneInference Prediction"


CORE_ML = st.lists(
    st.tuples(
        st.integers(0, 25),
        st.integers(0, 15),
        st.sampled_from(["Prediction", "Prediction", "Prediction", "Load", "CPU"]),
        st.sampled_from(["a-1", "a-2", "b-1", "p-1"]),
        st.sampled_from([None, None, "p-1"]),
    ).map(lambda row: (*row, "top" if row[4] is None else "sub", None)),
    min_size=1,
    max_size=10,
)
ENGINE = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(0, 12),
        st.sampled_from(
            [engine_label("a"), engine_label("b"), engine_label("p"), engine_label("x"), "Neural Engine Prediction"]
        ),
    ),
    max_size=10,
    unique=True,
)


def expected(activity, names, stages, row, by_label):
    """The table of `tracekit.trace.attribution` for one Neural Engine row: (prediction, model, attribution).

    `by_label` are the models of which a row is named, by label or as the call that such a row lies in.
    """
    start, end, model = row["start_ns"], row["start_ns"] + row["duration_ns"], row["model"]
    calls = [call for call in activity if call["kind"] == "prediction"]
    around = [call for call in calls if call["start_ns"] <= start and call["start_ns"] + call["duration_ns"] >= end]

    if model is not None:
        if model not in names:
            return None, model, "foreign"
        candidates = [call for call in around if call["model"] == model]
        if not candidates:
            pipelines = [pipe for stage, pipe in stages if stage == model != pipe]
            candidates = [call for call in around if call["model"] in pipelines]
        return (candidates[0]["id"] if len(candidates) == 1 else None), model, "label"
    candidates = [call for call in around if call["model"] is not None]
    outermost = [call for call in candidates if call["prediction"] is None]
    if len(outermost) != 1:
        begun = [call for call in calls if call["prediction"] is None and call["start_ns"] <= start]
        begun = [call for call in begun if call["start_ns"] + call["duration_ns"] > start]
        return None, None, "ambiguous" if outermost or begun else "unattributed"
    (here,) = outermost
    if here["model"] in by_label:
        return None, None, "ambiguous"
    # The tiers below it: go on while there is exactly one, and it lies in the one above.
    while True:
        tier = [call for call in candidates if depth(activity, call) == depth(activity, here) + 1]
        if len(tier) != 1 or tier[0]["prediction"] != here["id"]:
            return here["id"], here["model"], "contained"
        (here,) = tier


def top(activity, call):
    for _ in range(5):
        call = call if call["prediction"] is None else activity[call["prediction"]]
    return call


def depth(activity, call):
    count = 0
    while call["prediction"] is not None and count < 5:
        call, count = activity[call["prediction"]], count + 1
    return count


@given(CORE_ML, ENGINE)
@settings(deadline=None, max_examples=50)
def test_any_rows_are_linked_as_the_rules_say_row_by_row(make, core_ml, engine):
    trace = build_trace(make.recording(make.coreml(*core_ml), make.engine(*engine)))
    activity, hardware = records_of(trace.activity), records_of(trace.hardware)
    every = [*activity, *records_of(trace.data), *records_of(trace.compute)]
    stages = {(row["model"], row["parent_model"]) for row in every}
    names = {name for stage in stages for name in stage} - {None}
    stages = {stage for stage in stages if None not in stage}
    named = [row for row in hardware if row["label"] != "Neural Engine Prediction"]
    linked = [top(activity, activity[row["prediction"]]) for row in named if row["prediction"] is not None]
    by_label = {row["model"] for row in named} & names | {call["model"] for call in linked}
    for row in hardware:
        unlinked = row if row in named else row | {"model": None}
        answer = (row["prediction"], row["model"], row["attribution"])
        assert answer == expected(activity, names, stages, unlinked, by_label)
