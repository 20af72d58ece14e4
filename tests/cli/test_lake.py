"""`tracekit lake add`, and what asks a lake."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from tracekit.testing import Model, Process, Scenario, write_bundle

pytest.importorskip("duckdb")
parquet = pytest.importorskip("pyarrow.parquet")

MS = 1_000_000
PAGE = (Path(__file__).parents[2] / "docs/lake.md").read_text("utf-8")
PREDICTIONS = 5


def recording(number: int) -> Scenario:
    """The app with process id `number`: a load and five predictions of `number` ms."""
    made = Scenario(Process("App", number), duration_ns=2_000 * MS)
    made.load(Model("Net"), 0, 10 * MS)
    for place in range(PREDICTIONS):
        made.predict(Model("Net"), (20 + 100 * place) * MS, number * MS).neural_engine(MS, 2 * MS)
    return made


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Eight recordings, and two that are cut off."""
    folder = tmp_path_factory.mktemp("runs")
    for number in range(10, 20):
        path = write_bundle(recording(number), folder / f"{number}.trace")
        if number in (13, 17):
            tables = next(path.rglob("tables.plist"))
            tables.write_bytes(tables.read_bytes()[:50])
    return folder


@pytest.fixture
def lake(tracekit, samples, tmp_path) -> Path:
    paths = [samples / f"{name}.trace" for name in ("captions_concurrent", "sharpen_8bit", "sharpen_float16")]
    assert tracekit("lake", "add", tmp_path / "lake", *paths, "--commit", "4f2a91c", "--no-config").status == 0
    return tmp_path / "lake"


def asked(tracekit, lake, query):
    """Rows of a query, which every view that it reads supports."""
    result = tracekit("sql", lake, query, "--json")
    assert result.status == 0, result.err
    return json.loads(result.out)["rows"]


def test_a_lake_answers_with_columns_of_the_run(tracekit, lake):
    count = "select target, commit, count(*) from predictions group by all order by all"
    # As the samples were made: 276 and twice 140 predictions.
    assert asked(tracekit, lake, count) == [["Captions", "4f2a91c", 276], ["Sharpen", "4f2a91c", 280]]
    assert asked(tracekit, lake, "select count(*), count(distinct run_id), bool_and(redacted) from runs") == [
        [3, 3, True]
    ]
    narrow = "select distinct os_version from gpu where device_model = 'iPhone Air'"
    assert asked(tracekit, lake, narrow) == [["27.2 (24B5089g)"]]


def test_rows_are_joined_with_the_prediction_of_their_own_recording(tracekit, lake):
    rows = "select count(*), count(distinct run_id) from with_prediction('neural_engine') where run_id is not null"
    assert asked(tracekit, lake, rows) == asked(
        tracekit, lake, "select count(*), count(distinct run_id) from neural_engine"
    )


def test_what_no_recording_holds_is_said(tracekit, lake):
    result = tracekit("sql", lake, "from thermal")
    assert (result.status, result.out) == (3, "0 rows\n")
    assert "thermal: not recorded by 3 of 3 recordings" in result.err
    stored = asked(
        tracekit, lake, "select count(*), count(rows) from view_coverage where view = 'thermal' and not recorded"
    )
    assert stored == [[3, 0]]


@pytest.mark.parametrize("query", ["from read_text('{}')", "from read_csv('{}')", "from glob('{}')"])
def test_nothing_beside_the_lake_is_reached(tracekit, lake, query):
    secret = lake.parent / "secret.txt"
    secret.write_text("secret words")
    (lake / "link").symlink_to(lake.parent)
    for path in (secret, lake / ".." / "secret.txt", lake / "link" / "secret.txt"):
        result = tracekit("sql", lake, query.format(path))
        assert (result.status, "file system operations are disabled" in result.err) == (2, True)


def test_adding_again_changes_nothing_and_a_writer_that_died_leaves_nothing_that_counts(tracekit, lake, samples):
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in lake.rglob("*") if path.is_file()}
    again = shutil.copytree(samples / "sharpen_8bit.trace", lake.parent / "copy.trace")
    assert "added 0 recordings" in (result := tracekit("lake", "add", lake, again, "--no-redact")).err
    assert "1 in it already" in result.err
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in lake.rglob("*") if path.is_file()} == before
    # As one leaves it that is killed before the last file is in its place.
    [run_id] = asked(tracekit, lake, "select run_id from runs where source = 'sharpen_8bit.trace'")[0]
    (lake / "runs" / f"{run_id}.parquet").unlink()
    assert asked(tracekit, lake, "select count(*) from predictions") == [[276 + 140]]
    assert tracekit("history", lake, "--json").out.count('"recordings": 1') == 2
    assert tracekit("lake", "add", lake, again).status == 0
    assert asked(tracekit, lake, "select count(*) from predictions") == [[276 + 280]]


def test_broken_recordings_are_named_and_the_others_are_added(tracekit, runs, tmp_path):
    result = tracekit("lake", "add", tmp_path / "lake", runs, "--jobs", 2, "--no-config")
    assert (result.status, result.err.count("skipped: ")) == (2, 2)
    assert "13.trace" in result.err
    assert "added 8 recordings" in result.err
    assert_all_there(tracekit, tmp_path / "lake")
    for arguments, sentence in (
        (("add", runs, runs), "is a folder that is no lake"),
        (("drop", runs, runs), "unknown action 'drop' (available: add)"),
    ):
        result = tracekit("lake", *arguments)
        assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1)


def assert_all_there(tracekit, lake):
    numbers = [number for number in range(10, 20) if number not in (13, 17)]
    rows = asked(tracekit, lake, "select duration_ns, count(*) from predictions group by all order by all")
    assert rows == [[number * MS, PREDICTIONS] for number in numbers]
    assert asked(tracekit, lake, "select count(*), count(distinct run_id) from runs") == [[8, 8]]
    assert list((lake / ".adding").iterdir()) == []


def test_a_worker_of_a_cluster_that_is_killed_loses_nothing_and_doubles_nothing(tracekit, runs, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    lake = tmp_path / "lake"
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        killed = []

        def kill():
            while not any((lake / "runs").glob("*")):
                time.sleep(0.005)
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        result = tracekit("lake", "add", lake, runs, "--dask", cluster.scheduler_address, "--no-config")
        killer.join(10)
    assert len(killed) == 1
    assert (result.status, result.err.count("skipped: ")) == (2, 2)
    # What the killed one had in hand is left to be removed by a later writer.
    shutil.rmtree(lake / ".adding")
    (lake / ".adding").mkdir()
    assert_all_there(tracekit, lake)


@pytest.mark.parametrize("query", re.findall(r"```sql\n(.+?)```", PAGE, re.DOTALL))
def test_each_question_of_the_page_is_answered(tracekit, lake, query):
    assert asked(tracekit, lake, query)


def test_other_readers_read_the_same_folder(lake, monkeypatch):
    monkeypatch.chdir(lake.parent)
    expected = [("iPhone 14 Pro", 280), ("iPhone Air", 276)]
    of_duckdb, of_arrow = (code for code in re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)[:2])
    for code in (of_duckdb, of_arrow):
        *setup, last = ast.parse(code).body
        names: dict = {}
        exec(compile(ast.Module(setup, []), "page", "exec"), names)  # noqa: S102 - the page's own code
        rows = eval(ast.unparse(last), names)  # noqa: S307
        assert sorted(tuple(row.values()) if isinstance(row, dict) else row for row in rows) == expected


def test_a_lake_of_another_version_is_refused(tracekit, lake):
    (lake / "tracekit-lake.json").write_text('{"views_version": 99}')
    result = tracekit("sql", lake, "from runs")
    assert (result.status, result.err.count("\n"), "version 99" in result.err) == (2, 1, True)
