import pandas as pd

from tracekit.notebook.recordings import LoadedTrace
from tracekit.trace.build import build_trace
from tracekit.trace.models import COUNTED_KINDS

MODEL_DTYPES = {
    "name": "object",
    "level": "object",
    "parents": "object",
    "instances": "Int64",
    "first_ns": "int64",
    "last_ns": "int64",
    "rows": "int64",
    "inferred": "bool",
    "loads": "Int64",
    "median_ns": "float64",
    "p95_ns": "float64",
    **{str(kind): "int64" for kind in COUNTED_KINDS},
}


def models_of(make, *rows):
    return LoadedTrace(build_trace(make.recording(make.coreml(*rows)))).models


def test_each_base_name_is_one_row_with_counts_by_kind(make):
    models = models_of(
        make,
        (500, 10, "Prediction", "late-1"),
        (0, 90, "Load (cached)", "net-1"),
        (100, 50, "Prediction", "net-1"),
        (110, 5, "Input Copy", "net-1"),
        (115, 5, "Input Copy", "net-1"),
        (300, 70, "Prediction", "net-4"),
        (320, 5, "Never Seen", "net-4"),
    )
    assert list(models["name"]) == ["net", "late"]
    net = models.iloc[0]
    assert (net["level"], net["parents"], net["instances"], net["first_ns"], net["last_ns"]) == ("top", (), 2, 0, 370)
    counted = {
        name: net[name] for name in list(MODEL_DTYPES)[6:] if name not in ("loads", "median_ns", "p95_ns") and net[name]
    }
    assert counted == {"rows": 6, "load_cached": 1, "prediction": 2, "input_copy": 2, "other": 1}


def test_stages_know_their_pipelines(make):
    models = models_of(
        make,
        (0, 100, "Prediction", "pipe"),
        (10, 10, "Prediction", "stage", "pipe", "sub"),
        (200, 100, "Prediction", "another"),
        (210, 10, "Prediction", "stage", "another", "sub"),
    ).set_index("name")
    assert models.loc["stage", "level"] == "sub"
    assert models.loc["stage", "parents"] == ("another", "pipe")
    assert models.loc["pipe", "level"] == "top"


def test_columns_have_the_documented_types_with_and_without_models(make):
    models = models_of(make, (0, 1, "Prediction", "net"), (0, 1, "Load", "resnet-50"))
    assert dict(models.dtypes.astype(str)) == MODEL_DTYPES
    assert models.index.equals(pd.RangeIndex(2))
    # Names without a number tell no instances.
    assert models["instances"].isna().all()
    unnamed = models_of(make, (0, 1, "Prediction", None))
    assert unnamed.empty
    assert dict(unnamed.dtypes.astype(str)) == MODEL_DTYPES
