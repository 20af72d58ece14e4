"""Where a model ran has the same answer in JSON, SQL and Python, and `check --unit` takes it."""

from __future__ import annotations

import hashlib
import shutil

import pytest

from tracekit import read
from tracekit.testing import Model, Process, Scenario
from tracekit.testing.bundle.write import write_bundle

MS, COUNT, SHORT = 1_000_000, 20, 5
UNITS = ("neural-engine", "gpu", "cpu")
LABEL = "_main__Op0_AneInference Prediction"


def app(table="whole", name="Net", model="Net"):
    """A model whose predictions have 8 ms on the Neural Engine; 5 of them 4 ms on the GPU besides."""
    scenario = Scenario(Process("Camera", 412), duration_ns=1_000 * MS)
    for number in range(COUNT):
        work_ns = 8 * MS + (number < SHORT) * 4 * MS
        prediction = scenario.predict(Model(model), (100 + number * 30) * MS, work_ns + MS // 10)
        prediction.neural_engine(MS // 20, 8 * MS, f"{name}{LABEL}")
        if number < SHORT:
            prediction.gpu(MS // 20 + 8 * MS, 4 * MS)
    scenario.other_neural_engine(60 * MS, MS, f"Assistant{LABEL}")
    scenario.gpu_work(20 * MS, MS, Process("backboardd", 66))
    if table != "whole":
        scenario.missing.add("ane-hw-intervals-internal")
    return scenario


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    path = tmp_path_factory.mktemp("where") / "run.trace"
    write_bundle(app(), path)
    return path


def test_json_sql_and_python_say_the_same(tracekit, bundle):
    keys = "unit answer predictions rows other_rows evidence"
    expected = [
        ["neural-engine", "proven", COUNT, COUNT, 1, "rows that name the model"],
        ["gpu", "proven", SHORT, SHORT, 1, "rows that name the model"],
        ["cpu", "refuted", 0, 0, 0, ""],
    ]
    (model,) = tracekit("analyze", bundle, "--json").json["models"]
    assert model["where"]["predictions"] == COUNT
    found = [[unit[key] for key in keys.split()] for unit in model["where"]["units"]]
    assert [[*row[:-1], "; ".join(row[-1])] for row in found] == expected
    (shares,) = {(unit["least_share"], unit["most_share"]) for unit in model["where"]["units"] if unit["unit"] == "gpu"}
    truth = SHORT * 4 / (SHORT * 4 + COUNT * 8)
    assert shares == pytest.approx((truth, truth), abs=0.01)

    query = "SELECT unit, answer, predictions, rows, other_rows, evidence, of_predictions, model, level, time_ns"
    rows = tracekit("sql", bundle, f"{query} FROM compute_units", "--json").json["rows"]
    assert [[*row[:5], row[5] or ""] for row in rows] == expected
    assert [row[6:] for row in rows] == [[COUNT, "Net", "top", ns] for ns in (COUNT * 8 * MS, SHORT * 4 * MS, 0)]

    frame = read(bundle).compute_units
    assert [*frame.unit] == [*UNITS]
    assert [[*row[:-1], "; ".join(row[-1])] for row in frame[keys.split()].values.tolist()] == expected
    assert set(frame.of_predictions) == {COUNT}


@pytest.mark.parametrize(("table", "limit", "status", "words"), [
    ("whole", "neural-engine", 0, "in 20 of 20 predictions"),
    ("whole", "Net=neural-engine:88%", 0, "88% to 89% of compute, in 20 of 20 predictions, allowed: at least 88%"),
    ("whole", "neural-engine:95%", 1, "88% to 89% of compute, in 20 of 20 predictions, allowed: at least 95%"),
    ("whole", "cpu", 1, "none of 20 predictions ran there (no CPU row, and no time for work without one)"),
    ("missing", "neural-engine", 3, "unknown, at most 89% of compute (not recorded)"),
])  # fmt: skip
def test_a_unit_passes_if_proven_fails_if_refuted_and_is_else_inconclusive(
    tracekit, tmp_path, project, table, limit, status, words
):
    project("")
    write_bundle(app(table), tmp_path / "run.trace")
    checked = tracekit("check", tmp_path / "run.trace", "--unit", limit, "--json")
    assert (checked.status, [words in item["text"] for item in checked.json["items"]]) == (status, [True])


def test_the_verdict_can_be_attached_to_a_release(tracekit, tmp_path, project, built_models):
    project("")
    run, file = tmp_path / "run.trace", tmp_path / "weights.mlmodel"
    write_bundle(app(name="weights"), run)
    shutil.copy(min(built_models.glob("*.mlmodel")), file)
    without = tracekit("check", run, "--unit", "Net=neural-engine:85%", "--json")
    assert without.status != 0, "rows of another name are not the model's"
    gate = tracekit("check", run, "--unit", "Net=neural-engine:85%", "--model-file", f"Net={file}", "--json")
    assert gate.status == 0
    assert gate.json["model_files"] == {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}
    (ran,) = gate.json["ran_on"]
    lines = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.stat().st_size}  {path.relative_to(run).as_posix()}\n"
        for path in sorted(path for path in run.rglob("*") if path.is_file())
    )
    assert ran["sha256"] == hashlib.sha256(lines.encode()).hexdigest()
    assert (ran["model"], ran["recording"], ran["environment"]["device"]) == ("Net", run.name, "iPhone 14 Pro")
    answers = {
        unit["unit"]: (unit["answer"], unit["predictions"], unit["other_rows"]) for unit in ran["where"]["units"]
    }
    assert answers == {"neural-engine": ("proven", COUNT, 1), "gpu": ("proven", SHORT, 1), "cpu": ("refuted", 0, 0)}
    assert gate.json["tracekit"]
