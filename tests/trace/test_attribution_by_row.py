"""The rules of `tracekit.trace.attribution`, tried one row at a time."""

import pandas as pd
from hypothesis import given, settings, strategies as st

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

    def around(chosen):
        calls = activity[(activity["kind"] == "prediction") & chosen]
        return calls[(calls["start_ns"] <= start) & (calls["start_ns"] + calls["duration_ns"] >= end)]

    if isinstance(model, str):
        if model not in names:
            return None, model, "foreign"
        candidates = around(activity["model"] == model)
        if candidates.empty:
            pipelines = [pipe for stage, pipe in stages if stage == model != pipe]
            candidates = around(activity["model"].isin(pipelines))
        return (candidates.index[0] if len(candidates) == 1 else None), model, "label"
    candidates = around(activity["model"].notna())
    outermost = candidates[candidates["prediction"].isna()]
    if len(outermost) != 1:
        calls = activity[(activity["kind"] == "prediction") & activity["prediction"].isna()]
        begun = (calls["start_ns"] <= start) & (calls["start_ns"] + calls["duration_ns"] > start)
        return None, None, "ambiguous" if len(outermost) or begun.any() else "unattributed"
    (here,) = outermost.index
    if activity.loc[here, "model"] in by_label:
        return None, None, "ambiguous"
    # The tiers below it: go on while there is exactly one, and it lies in the one above.
    while True:
        tier = [index for index in candidates.index if depth(activity, index) == depth(activity, here) + 1]
        if len(tier) != 1 or activity.loc[tier[0], "prediction"] != here:
            return here, activity.loc[here, "model"], "contained"
        (here,) = tier


def top(activity, index):
    for _ in range(5):
        around = activity.loc[index, "prediction"]
        index = index if pd.isna(around) else around
    return index


def depth(activity, index):
    count = 0
    while pd.notna(activity.loc[index, "prediction"]) and count < 5:
        index, count = activity.loc[index, "prediction"], count + 1
    return count


@given(CORE_ML, ENGINE)
@settings(deadline=None, max_examples=50)
def test_any_rows_are_linked_as_the_rules_say_row_by_row(make, core_ml, engine):
    trace = build_trace(make.recording(make.coreml(*core_ml), make.engine(*engine)))
    every = pd.concat([trace.activity.frame(), trace.data.frame(), trace.compute.frame()])
    names = set(every["model"].dropna()) | set(every["parent_model"].dropna())
    stages = set(every[["model", "parent_model"]].dropna().itertuples(index=False, name=None))
    before = trace.hardware.frame().assign(model=trace.hardware.frame()["model"].astype(object))
    generic = before["label"].astype(object) == "Neural Engine Prediction"
    before.loc[generic.to_numpy(dtype=bool), "model"] = None
    linked = [
        top(trace.activity.frame(), index)
        for index in trace.hardware.frame()["prediction"][~generic.to_numpy(dtype=bool)].dropna()
    ]
    by_label = set(before["model"].dropna()) & names | set(trace.activity.frame()["model"][linked])
    for index, row in before.iterrows():
        linked_row = trace.hardware.frame().loc[index]
        prediction = None if pd.isna(linked_row["prediction"]) else linked_row["prediction"]
        model = linked_row["model"] if isinstance(linked_row["model"], str) else None
        assert (prediction, model, linked_row["attribution"]) == expected(
            trace.activity.frame(), names, stages, row, by_label
        )
