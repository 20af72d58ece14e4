import json

import pytest
from hypothesis import given, settings, strategies as st

from support.rows import records_of
from tracekit.trace.build import build_trace
from tracekit.trace.instruments.coreml import split_names


def links(trace):
    """(row of the prediction, attribution) of each row of the table."""
    row_of = {None: None} | dict(enumerate(trace.activity.row.tolist()))
    rows = [row for lane in (trace.activity, trace.data, trace.compute, trace.other) for row in records_of(lane)]
    rows.sort(key=lambda row: row["row"])
    return [(row_of[row["prediction"]], row["attribution"]) for row in rows]


LINKS = {
    "rows belong to the prediction that contains them": [
        ((0, 90, "Load", "net-1"), "exact"),
        ((100, 50, "Prediction", "net-1"), "exact"),
        ((100, 5, "Input Copy", "net-1"), 1),  # bounds count
        ((145, 5, "Output Transformation", "net-1"), 1),
        ((120, 10, "GPU Request", "net-1"), 1),
        ((200, 50, "Prediction", "net-1"), "exact"),
        ((240, 11, "CPU", "net-1"), "unattributed"),  # 1 ns beyond the end: not contained
    ],
    "a row in two predictions of one model is ambiguous": [
        ((0, 100, "Prediction", "net-1"), "exact"),
        ((50, 100, "Prediction", "net-1"), "exact"),
        ((10, 20, "CPU", "net-1"), 0),
        ((60, 20, "CPU", "net-1"), "ambiguous"),
        ((110, 20, "CPU", "net-1"), 1),
    ],
    "models and instances that overlap are told apart": [
        ((0, 100, "Prediction", "net-1"), "exact"),
        ((0, 100, "Prediction", "net-2"), "exact"),
        ((0, 100, "Prediction", "other-1"), "exact"),
        ((10, 20, "CPU", "net-2"), 1),
        ((10, 20, "CPU", "other-1"), 2),
        ((10, 20, "CPU", "other-7"), "unattributed"),
    ],
    "a row without instance number belongs to any instance of its base": [
        ((0, 100, "Prediction", "net-1"), "exact"),
        ((200, 100, "Prediction", "net-2"), "exact"),
        ((250, 100, "Prediction", "net-1"), "exact"),
        ((10, 20, "CPU", "net"), 0),
        ((260, 20, "CPU", "net"), "ambiguous"),
    ],
    "rows that name no model are linked among themselves": [
        ((0, 100, "Prediction", None), "unattributed"),
        ((10, 20, "CPU", None), 0),
        ((0, 100, "Prediction", "net"), "exact"),
        ((10, 20, "CPU", "net"), 2),
        ((200, 20, "CPU", None), "unattributed"),
    ],
    "stages of a pipeline are linked upwards step by step": [
        ((0, 1000, "Prediction", "pipe-1"), "exact"),
        ((100, 300, "Prediction", "first-1", "pipe-1", "sub"), 0),
        ((150, 10, "CPU", "first-1", "pipe-1", "sub"), 1),
        ((500, 300, "Prediction", "second-1", "pipe-1", "sub"), 0),
        ((550, 10, "CPU", "second-1", "pipe-1", "sub"), 3),
        ((850, 10, "CPU", "second-1", "pipe-1", "sub"), 0),  # after its stage, still inside the pipeline
        ((900, 10, "Output Transformation", "pipe-1"), 0),
        ((2000, 10, "Load", "first-1", "pipe-1", "sub"), "exact"),
        ((3000, 10, "Prediction", "first-1", "pipe-1", "sub"), "unattributed"),
    ],
    "a stage shared by two pipelines is linked by its parent": [
        ((0, 1000, "Prediction", "a"), "exact"),
        ((0, 1000, "Prediction", "b"), "exact"),
        ((100, 300, "Prediction", "stage", "a", "sub"), 0),
        ((100, 300, "Prediction", "stage", "b", "sub"), 1),
        ((150, 10, "CPU", "stage", "b", "sub"), 3),
        ((150, 10, "CPU", "stage", None, "sub"), "unattributed"),
    ],
    "a model that names itself as parent is not linked to itself": [
        ((0, 100, "Prediction", "net-1", "net-1", "sub"), "unattributed")
    ],
    "a prediction outside the activity lane contains nothing": [
        ((0, 100, "Prediction", "net", None, "top", "model-dispatch-event"), "unattributed"),
        ((10, 20, "CPU", "net", None, "top", None), "unattributed"),
    ],
}
"""Rows of the Core ML table, each with the row that contains it, or with its attribution where none does."""


@pytest.mark.parametrize("case", LINKS)
def test_rows_are_linked_to_the_prediction_that_contains_them(make, case):
    trace = build_trace(make.recording(make.coreml(*(row for row, _ in LINKS[case]))))
    expected = [(None, link) if isinstance(link, str) else (link, "contained") for _, link in LINKS[case]]
    assert links(trace) == expected


@pytest.mark.corpus
def test_real_neural_engine_rows_lie_in_real_predictions(make, corpus):
    pairs = json.loads((corpus / "derived" / "cosyvoice-ane-label-and-containment-sample.json").read_text())["rows"]
    name = pairs[0]["label"].split("_main__")[0] + "-1"
    # The hardware rows stand in for compute rows here, which iOS 27.2 does not write: same clock, same containment.
    rows = [(p["prediction"][0], p["prediction"][1] - p["prediction"][0], "Prediction", name) for p in pairs]
    rows += [(p["ane"][0], p["ane"][1] - p["ane"][0], "Neural Engine Request", name) for p in pairs]
    trace = build_trace(make.recording(make.coreml(*rows)))
    assert links(trace)[4:] == [(index, "contained") for index in range(4)]


@st.composite
def tables(draw):
    names = draw(st.sampled_from([["a-1", "a-2", "b-1"], ["a", "b", "p"], ["a-1", "a-2", "a"]]))
    parents = [*names, None]
    row = st.tuples(
        st.integers(0, 20),
        st.integers(0, 12),
        st.sampled_from(["Prediction", "Prediction", "CPU", "Input Copy", "Load", "Strange"]),
        st.sampled_from([*names, *names, None]),
        st.sampled_from(parents),
        st.sampled_from(["top", "top", "sub", None]),
    )
    return [(*each, None) for each in draw(st.lists(row, min_size=1, max_size=14))]


def expected_links(rows):
    """The table of `tracekit.trace.linking`, row against row."""
    split = split_names(name for row in rows for name in (row[3], row[4]) if name)

    def same(sought, offered):
        if sought is None or offered is None:
            return sought is offered
        want, have = split[sought], split[offered]
        return want.base == have.base if want.instance is None else want == have

    answer = []
    for start, length, event, model, parent, level, _ in rows:
        sub, is_prediction = level == "sub", event == "Prediction"

        def inside(is_candidate, start=start, length=length):
            return [
                index
                for index, row in enumerate(rows)
                if row[2] == "Prediction"
                and is_candidate(row)
                and row[0] <= start
                and row[0] + row[1] >= start + length
            ]

        candidates = []
        if not is_prediction and not sub:
            candidates = inside(lambda row, model=model: row[5] != "sub" and same(model, row[3]))
        elif sub:
            if not is_prediction:
                candidates = inside(
                    lambda row, model=model, parent=parent: row[5] == "sub" and row[4] == parent and same(model, row[3])
                )
            of_same_model = model is not None and parent is not None and split[model].base == split[parent].base
            if not candidates and parent is not None and not of_same_model:
                candidates = inside(lambda row, parent=parent: same(parent, row[3]))
        needs_none = model is not None and (event == "Load" or (is_prediction and not sub))
        word = {0: "exact" if needs_none else "unattributed", 1: "contained"}.get(len(candidates), "ambiguous")
        answer.append((candidates[0] if len(candidates) == 1 else None, word))
    return answer


@given(tables())
@settings(deadline=None, max_examples=100)
def test_links_equal_those_found_row_against_row(make, rows):
    trace = build_trace(make.recording(make.coreml(*rows)))
    assert links(trace) == expected_links(rows)
