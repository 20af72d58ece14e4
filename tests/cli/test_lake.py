"""`tracekit lake add`, and what asks a lake."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from support.choice import sweep_rest
from tracekit.cli.dispatch import main
from tracekit.errors import TracekitError
from tracekit.recording import open_recording
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.machines import IPHONE, NEW_IPHONE
from tracekit.testing.rows import LOAD_CACHED, LOAD_COLD

pytest.importorskip("duckdb")
parquet = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/lake.md").read_text("utf-8")
MS = 1_000_000
NUMBERS, BROKEN = range(5), 1


@pytest.fixture(scope="module")
def fleet() -> Iterator[ModuleType]:
    """Many recordings and what has to become of them, as a benchmark has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        fleet = importlib.import_module("fleet")
        # Whole blocks take most of the time to write and read.
        patch.setattr(fleet, "write_bundle", partial(write_bundle, rows_per_block=64))
        yield fleet


@pytest.fixture(scope="module")
def runs(fleet, tmp_path_factory) -> Path:
    """Four recordings, and one that is cut off."""
    folder = tmp_path_factory.mktemp("runs")
    for number in NUMBERS:
        fleet.write(number, folder=folder, broken=BROKEN)
    return folder


@pytest.fixture(scope="module")
def made(samples, tmp_path_factory) -> Path:
    lake = tmp_path_factory.mktemp("made") / "lake"
    paths = [str(samples / f"{name}.trace") for name in ("captions_concurrent", "sharpen_8bit", "sharpen_float16")]
    assert main(["lake", "add", str(lake), *paths, "--commit", "4f2a91c", "--no-config", "--jobs", "1"]) == 0
    return lake


@pytest.fixture
def lake(made, tmp_path) -> Path:
    return shutil.copytree(made, tmp_path / "lake")


def asked(tracekit, lake, query):
    """Rows of a query, which every view that it reads supports."""
    result = tracekit("sql", lake, query, "--json")
    assert result.status == 0, result.err
    return result.json["rows"]


def test_a_lake_answers_with_columns_of_the_run(tracekit, lake):
    count = "select target, commit, count(*) from predictions group by all order by all"
    # As the samples were made: 276 and twice 140 predictions.
    assert asked(tracekit, lake, count) == [["Captions", "4f2a91c", 276], ["Sharpen", "4f2a91c", 280]]
    assert asked(tracekit, lake, "select count(*), count(distinct run_id), bool_and(redacted) from runs") == [
        [3, 3, True]
    ]
    narrow = "select distinct os_version from gpu where device_model = 'iPhone Air'"
    assert asked(tracekit, lake, narrow) == [["27.2 (24B5089g)"]]

    rows = "select count(*), count(distinct run_id) from with_prediction('neural_engine') where run_id is not null"
    assert asked(tracekit, lake, rows) == asked(
        tracekit, lake, "select count(*), count(distinct run_id) from neural_engine"
    )

    result = tracekit("sql", lake, "from thermal")
    assert (result.status, result.out) == (3, "0 rows\n")
    assert "thermal: not recorded by 3 of 3 recordings" in result.err
    stored = asked(
        tracekit, lake, "select count(*), count(rows) from view_coverage where view = 'thermal' and not recorded"
    )
    assert stored == [[3, 0]]


@pytest.mark.parametrize("folder", sweep_rest("it's [1]", "a*b?", "x=1"))
def test_the_name_of_its_folder_is_no_pattern(tracekit, lake, folder):
    moved = lake.parent / folder / "lake"
    moved.parent.mkdir()
    lake.rename(moved)
    assert asked(tracekit, moved, "select count(*) from predictions") == [[556]]
    assert asked(tracekit, moved, "select count(*) from runs") == [[3]]
    compared = tracekit("compare", moved, "--before", "target = 'Sharpen'", "--after", "target = 'Sharpen'")
    assert compared.status == 0


def test_its_table_is_in_the_order_of_time_with_dates_and_says_what_a_pooled_p95_is(tracekit, lake):
    said = tracekit("compare", lake, "--json")
    columns = said.json["columns"]
    rows = asked(tracekit, lake, "select start_date[:10] from runs order by start_date::timestamptz")
    assert [[one["recorded"]] for one in columns] == rows
    assert "p95, median of recordings" not in tracekit("compare", lake).out
    assert "p95, median of recordings" in tracekit("compare", lake, "--label", "all").out

    rows = asked(tracekit, lake, of_page("Did a model lose a compute unit with a system?"))
    # As the sample was made: all on the Neural Engine, which of up to eight in flight it works for is often ambiguous.
    assert [row[4] for row in rows if row[0] == "CaptionEncoder"] == [1]


@pytest.mark.parametrize("name", ["device_model=Mac", "MODEL=x"])
def test_a_folder_above_it_is_never_taken_for_a_column(tracekit, lake, samples, name):
    below = lake.parent / name
    below.mkdir()
    lake.rename(below / "lake")
    for words in (
        ("sql", below / "lake", "from loads"),
        ("lake", "add", below / "new", samples / "sharpen_8bit.trace"),
    ):
        result = tracekit(*words)
        assert (result.status, f"lies below '{name}'" in result.err) == (2, True)


@pytest.mark.parametrize(
    ("target", "kept"), sweep_rest(("模" * 100, "模" * 81 + "…"), ("模" * 28, "模" * 28), ("a/=%\u202e", "a/=%\u202e"))
)
def test_targets_have_names_of_every_script_and_length(tracekit, tmp_path, target, kept):
    scenario = Scenario(Process(target, 412), duration_ns=2_000 * MS)
    scenario.predict(Model("Encoder"), 50 * MS, 10 * MS)
    write_export(scenario, tmp_path / "export")
    added = tracekit("lake", "add", tmp_path / "lake", tmp_path / "export")
    assert added.status == 0, added.err
    for view in ("predictions", "runs"):
        assert asked(tracekit, tmp_path / "lake", f"from {view} select target, count(*) group by all") == [[kept, 1]]


@pytest.mark.sweep
def test_what_some_recordings_do_not_hold_is_said_in_every_form(tracekit, lake, samples, tmp_path):
    assert tracekit("lake", "add", lake, samples / "not_instrumented.trace").status == 0
    said = "activity: not recorded by 1 of 4 recordings (view_coverage names them), as: The Core ML instrument"
    files = {form: tmp_path / f"rows.{form}" for form in ("csv", "json", "md", "parquet")}
    result = tracekit("sql", lake, "from activity", *(word for path in files.values() for word in ("-o", path)))
    assert (result.status, said in result.err) == (0, True)
    rows = files["csv"].read_text().splitlines()
    assert (rows[0].startswith(f"# {said}"), rows[1].startswith("id,")) == (True, True)
    files["parquet"].write_bytes(parquet.read_schema(files["parquet"]).metadata[b"tracekit"])
    for form, path in files.items():
        assert said.partition(": ")[2] in path.read_text().replace("\\_", "_").replace("`", ""), form


@pytest.mark.parametrize("query", ["from read_text('{}')", "from read_parquet('{}')", "from glob('{}')"])
def test_nothing_beside_the_lake_is_reached(tracekit, lake, query):
    secret = lake.parent / "secret.txt"
    secret.write_text("secret words")
    (lake / "link").symlink_to(lake.parent)
    for path in (secret, lake / ".." / "secret.txt", lake / "link" / "secret.txt"):
        result = tracekit("sql", lake, query.format(path))
        assert (result.status, "only views are read" in result.err) == (2, True)


@pytest.mark.parametrize("way", ["link", "folder", "column", "zero byte"])
def test_a_lake_from_elsewhere_chooses_no_report_of_this_machine(tracekit, lake, way):
    [first, *_] = sorted((lake / "reports").iterdir())
    outside = shutil.copytree(lake / "reports", lake.parent / "reports") / first.name
    run = lake / "runs" / f"{first.stem}.parquet"
    if way == "link":
        first.unlink()
        first.symlink_to(outside)
    elif way == "folder":
        shutil.rmtree(lake / "reports")
        (lake / "reports").symlink_to(outside.parent)
    else:
        rows = parquet.read_table(run)
        run_id = f"../../reports/{first.stem}" if way == "column" else "a\0b"
        names = {"run_id": run_id, "report": str(outside)}
        for name, value in names.items():
            rows = rows.set_column(rows.schema.get_field_index(name), name, [[value]])
        parquet.write_table(rows, run)
    compared = tracekit("compare", lake, "--before", "true", "--after", "true")
    assert (compared.status, "leads out of the folder reports" in compared.err) == (2, True), compared.err
    if way in ("link", "folder"):
        assert "leads out of the folder reports" in tracekit("compare", lake).err


def test_only_one_of_its_version_is_read_and_its_links_are(tracekit, lake):
    [first, *_] = sorted((lake / "reports").iterdir())
    first.unlink()
    first.symlink_to(first.name)
    said = tracekit("compare", lake)
    assert (said.status, "Too many levels of symbolic links" in said.err) == (2, True), said.err

    (lake / "tracekit-lake.json").write_text('{"views_version": 99}')
    result = tracekit("sql", lake, "from runs")
    assert (result.status, result.err.count("\n"), "version 99" in result.err) == (2, 1, True)


def test_adding_again_changes_nothing_and_a_writer_that_died_leaves_nothing_that_counts(tracekit, lake, samples):
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in lake.rglob("*") if path.is_file()}
    again = shutil.copytree(samples / "sharpen_8bit.trace", lake.parent / "copy.trace")
    (lake / ".adding").rmdir()
    assert "added 0 recordings" in (result := tracekit("lake", "add", lake, again, "--no-redact")).err
    assert "1 in it already" in result.err
    assert "keeps its commit" not in result.err
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in lake.rglob("*") if path.is_file()} == before
    # As one leaves it that is killed before the last file is in its place.
    [run_id] = asked(tracekit, lake, "select run_id from runs where source = 'sharpen_8bit.trace'")[0]
    (lake / "runs" / f"{run_id}.parquet").unlink()
    assert asked(tracekit, lake, "select count(*) from predictions") == [[276 + 140]]
    assert tracekit("history", lake, "--json").out.count('"recordings": 1') == 2
    assert tracekit("lake", "add", lake, again).status == 0
    assert asked(tracekit, lake, "select count(*) from predictions") == [[276 + 280]]


@pytest.mark.sweep
def test_forgotten_labels_are_given_as_the_message_says(tracekit, lake, samples):
    path = samples / "sharpen_8bit.trace"
    result = tracekit("lake", "add", lake, path, "--app-version", "1.2")
    query = "select run_id, commit, app_version from runs where source = 'sharpen_8bit.trace'"
    [(run_id, *labels)] = asked(tracekit, lake, query)
    assert labels == ["4f2a91c", None]
    [command] = re.findall("to change them, run `tracekit (lake remove .+)`, and", result.err)
    assert tracekit(*command.split()).err == f"tracekit: removed 1 recording from {lake}\n"
    assert not list(lake.glob(f"**/{run_id}.*"))
    assert "added 1 recording" in tracekit("lake", "add", lake, path, "--app-version", "1.2").err
    assert asked(tracekit, lake, query) == [[run_id, None, "1.2"]]
    assert asked(tracekit, lake, "select count(*) from predictions") == [[276 + 280]]


def test_its_recordings_are_listed_and_only_one_that_is_meant_is_removed(tracekit, lake):
    listed = tracekit("lake", "list", lake).out
    assert re.findall(r"\S+\.trace", listed) == [
        name for [name] in asked(tracekit, lake, "select source from runs order by start_date, run_id")
    ]
    runs = sorted(path.stem for path in (lake / "runs").iterdir())
    for words, sentence in (
        (("remove", lake), "missing RUN_ID"),
        (("remove", lake, ""), "unknown recording of the lake ''"),
        (("remove", lake, "../x"), "unknown recording of the lake '../x'"),
        (("list", lake.parent), "is not a lake"),
        (("add", lake), "missing PATH"),
    ):
        result = tracekit("lake", *words)
        assert (result.status, result.out) == (2, "")
        assert sentence in result.err
    assert tracekit("lake", "remove", lake, *runs[:2]).status == 0
    assert sorted(path.stem for path in (lake / "runs").iterdir()) == runs[2:]
    assert asked(tracekit, lake, "select count(distinct run_id) from predictions") == [[1]]


def test_tables_that_cannot_be_read_are_named_and_kept_with_the_recording(tracekit, lake, samples):
    """Of 140 predictions that the hardware still shows."""
    path = shutil.copytree(samples / "sharpen_8bit.trace", lake.parent / "damaged.trace")
    tables = {entry.source for entry in open_recording(path, schemas=()).run.tables if entry.schema.startswith("ane-")}
    for rows in path.glob("corespace/run1/core/stores/*/bulkstore"):
        if rows.parent.name not in tables:
            rows.write_bytes(rows.read_bytes()[:3_000])
    for _ in range(2):
        result = tracekit("lake", "add", lake, path)
        assert result.status == 2
        assert "damaged.trace: table coreml-os-signpost cannot be read: " in result.err
        assert "1 with tables that cannot be read" in result.err
    for command in ("history", "compare"):
        assert "json: damaged.trace: table coreml-os-signpost cannot be read" in " ".join(
            tracekit(command, lake).out.split()
        )
    unreadable = "select source, unreadable from runs where unreadable is not null"
    [(source, names)] = asked(tracekit, lake, unreadable)
    assert source == "damaged.trace"
    assert "coreml-os-signpost cannot be read: " in names
    result = tracekit("sql", lake, "select origin, count(*) from predictions group by all order by all", "--json")
    said = result.json
    assert said["rows"] == [["core-ml", 276 + 280], ["hardware", 140]]
    assert "of 1 of 4 recordings" in said["coverage"][0]["note"]
    assert "these calls are inferred, see the column origin" in said["coverage"][0]["note"]
    whole = re.findall("`(from predictions semi join .+?)`", PAGE)[0]
    assert asked(tracekit, lake, f"with whole as ({whole}) from whole select count(*)") == [[276 + 280]]


@pytest.mark.sweep
def test_the_reason_for_missing_rows_is_that_of_recordings_without_them(tracekit, samples, tmp_path):
    """Two recordings with inferred calls have the commonest note, and their rows are there."""
    paths = [samples / "not_instrumented.trace"]
    for name in ("sharpen_8bit", "sharpen_float16"):
        paths.append(shutil.copytree(samples / f"{name}.trace", tmp_path / f"{name}.trace"))
        tables = open_recording(paths[-1], schemas=()).run.tables
        sources = [entry.source for entry in tables if entry.schema == "coreml-os-signpost" and entry.rows]
        (paths[-1] / f"corespace/run1/core/stores/{sources[0]}/bulkstore").write_bytes(b"damage")
    assert tracekit("lake", "add", tmp_path / "lake", *paths, "--no-config").status == 2
    result = tracekit("sql", tmp_path / "lake", "select count(*) from predictions", "--json")
    (coverage,) = result.json["coverage"]
    lost, inferred = coverage["note"].split(" Of 2 of 3 recordings (view_coverage names them), as: ")
    where = "not recorded by 1 of 3 recordings (view_coverage names them), as: "
    assert lost.startswith(f"{where}The Core ML instrument recorded no events, although the Neural Engine was active")
    assert inferred.startswith("Core ML's own rows are missing; these calls are inferred, see the column origin.")
    assert (result.status, coverage["recorded"]) == (0, True)


@pytest.mark.sweep
def test_what_is_no_lake_or_holds_nothing_is_one_sentence(tracekit, runs, tmp_path):
    assert tracekit("lake", "add", tmp_path / "empty", runs / "0.trace").status == 2
    for arguments, sentence in (
        (("lake", "add", runs, runs), "is a folder that is no lake"),
        (("lake", "drop", runs, runs), "unknown action 'drop' (available: add, list, remove)"),
        (("history", tmp_path / "empty"), "holds no recording"),
        (("compare", tmp_path / "empty", "--before", "true", "--after", "true"), "no recording of"),
    ):
        result = tracekit(*arguments)
        assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1)


def test_what_was_skipped_can_be_read_until_it_is_added(tracekit, fleet, tmp_path):
    lake, folder = tmp_path / "lake", tmp_path / "project"
    folder.mkdir()
    for number in (0, 1, 2):
        fleet.write(number, folder=folder, broken=2)
    skipped = "select source, reason from skipped order by all"
    for _ in range(2):
        assert tracekit("lake", "add", lake, folder, "--jobs", 1).status == 2
        (first, reason), (second, _) = asked(tracekit, lake, skipped)
        assert (first, second) == ("0.trace", "1.trace")
        assert "is cut off" in reason
        assert "project" not in reason
    shutil.rmtree(folder / "0.trace")
    fleet.write(0, folder=folder, broken=0)
    assert tracekit("lake", "add", lake, folder / "0.trace").status == 0
    assert [name for name, _ in asked(tracekit, lake, skipped)] == ["1.trace"]
    assert re.search("^skipped +1 ", tracekit("sql", lake, "--list").out, re.MULTILINE)
    assert asked(tracekit, lake, "select count(*) from runs") == [[2]]


@pytest.fixture(scope="module")
def cluster():
    """Two workers. One that is killed starts again."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def wait_for_workers(cluster) -> None:
    while len(cluster.scheduler.workers) < 2:
        time.sleep(0.01)


@pytest.mark.sweep
def test_a_worker_of_a_cluster_that_is_killed_loses_nothing_and_doubles_nothing(
    tracekit, fleet, runs, cluster, tmp_path
):
    wait_for_workers(cluster)
    filled = fleet.add(tmp_path / "lake", runs, cluster, after=1)
    assert len(filled.killed) == 1
    fleet.check(filled.status, filled.said, NUMBERS, BROKEN, partial(asked, tracekit, tmp_path / "lake"))


@pytest.mark.sweep
def test_workers_of_a_cluster_answer_as_this_machine_does(tracekit, lake, cluster, tmp_path):
    wait_for_workers(cluster)
    there = ("--dask", cluster.scheduler_address)
    for more in (
        ("from thermal", "--json"),
        ("--list",),
        ("select count(*) from range(100000000) a, range(100000000) b where a < -b", "--query-timeout", 0.2),
    ):
        here = tracekit("sql", lake, *more)
        assert tracekit("sql", lake, *more, *there) == here
        # What is no answer, and does not run at all, is the same as well.
        assert (here.out != "") == (here.status != 2)
    assert tracekit("sql", lake, "from loads", "-o", tmp_path / "out.parquet", *there).status == 0
    [[loads]] = asked(tracekit, lake, "select count(*) from loads")
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == loads
    # A worker that dies with a question: another one answers it.
    command = [sys.executable, "-m", "tracekit", "sql", str(lake), "--json", *there]
    command += ["select count(*) from predictions p, range(300000) r where r.range <> p.duration_ns"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while not (busy := [worker.name for worker in cluster.scheduler.workers.values() if worker.processing]):
            assert process.poll() is None
            time.sleep(0.01)
        # Nobody asks the one that would take its place.
        cluster.workers[busy[0]].auto_restart = False
        os.kill(cluster.workers[busy[0]].pid, signal.SIGKILL)
        assert process.poll() is None
        answer, _ = process.communicate()
    assert json.loads(answer)["rows"] == [[(276 + 280) * 300_000]]


def test_a_cluster_is_asked_about_lakes_that_it_sees(tracekit, lake, samples, tmp_path):
    from tracekit.cli.sql import _ask_lake

    with pytest.raises(TracekitError, match="a Dask worker finds no lake at"):
        _ask_lake(None, folder=str(tmp_path), seconds=1)
    refused = tracekit("sql", samples / "sharpen_8bit.trace", "from loads", "--dask", "tcp://127.0.0.1:1")
    assert (refused.status, refused.err) == (2, "tracekit: --dask is for a lake, not for a recording\n")
    nobody = tracekit("sql", lake, "from loads", "--dask", "nonsense://")
    assert (nobody.status, nobody.err.count("\n")) == (2, 1)


@pytest.mark.sweep
def test_two_writers_at_once_add_each_recording_once(tracekit, runs, tmp_path):
    command = [sys.executable, "-m", "tracekit", "lake", "add", str(tmp_path), str(runs), "--jobs", "1", "--no-config"]
    writers = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [2, 2]
    assert asked(tracekit, tmp_path, "select count(*), count(distinct run_id) from predictions") == [[20, 4]]


OLD, NEW = IPHONE, replace(IPHONE, os_version="18.6 (22G86)")


@pytest.fixture(scope="module")
def releases(tmp_path_factory) -> Path:
    """Two recordings of each of two systems, and one of another phone. `Net` is compiled at every launch, and since the
    update takes 12 ms in place of 8 and runs on the GPU; `Still` is compiled once and never changes."""
    folder = tmp_path_factory.mktemp("releases")
    for number, device in enumerate((OLD, OLD, NEW, NEW, NEW_IPHONE)):
        made = Scenario(Process("App", number), duration_ns=3_000 * MS, device=device)
        made.load(Model("Net"), 0, 200 * MS, LOAD_COLD)
        made.load(Model("Still"), 300 * MS, 20 * MS, LOAD_CACHED if number else LOAD_COLD)
        for place in range(20):
            updated = device is NEW
            call = made.predict(Model("Net"), (400 + 100 * place) * MS, (12 if updated else 8) * MS)
            (call.gpu if updated else call.neural_engine)(MS, 6 * MS)
            made.predict(Model("Still"), (450 + 100 * place) * MS, 5 * MS).neural_engine(MS, 2 * MS)
        write_bundle(made, folder / f"{number}.trace", rows_per_block=64)
    lake = folder / "lake"
    for names, version in (("01", "1.0"), ("234", "1.1")):
        paths = [str(folder / f"{name}.trace") for name in names]
        flags = ["--app-version", version, "--no-config", "-q", "--jobs", "1"]
        assert main(["lake", "add", str(lake), *paths, *flags]) == 0
    return lake


def of_page(question: str) -> str:
    """The query below a question of the page."""
    return re.findall(rf"\*\*{re.escape(question)}\*\*.*?```sql\n(.+?)```", PAGE, re.DOTALL)[0]


@pytest.mark.sweep
def test_what_only_many_recordings_show_is_found(tracekit, releases):
    compiled = asked(tracekit, releases, of_page("Is a model compiled again at every launch?"))
    assert compiled == [["Net", "iPhone 14 Pro", 4, 4, 4], ["Still", "iPhone 14 Pro", 4, 1, 1]]
    changed = asked(tracekit, releases, of_page("Did latency change with a system?"))
    assert [[*row[:5]] for row in changed] == [
        ["Net", "iPhone 14 Pro", "18.5 (22F76)", 2, 8.0],
        ["Net", "iPhone 14 Pro", "18.6 (22G86)", 2, 12.0],
        ["Net", "iPhone Air", NEW_IPHONE.os_version, 1, 8.0],
        ["Still", "iPhone 14 Pro", "18.5 (22F76)", 2, 5.0],
        ["Still", "iPhone 14 Pro", "18.6 (22G86)", 2, 5.0],
        ["Still", "iPhone Air", NEW_IPHONE.os_version, 1, 5.0],
    ]
    lost = asked(tracekit, releases, of_page("Did a model lose a compute unit with a system?"))
    # No row of these recordings shows work on the GPU or the CPU: others may have computed in the rest of the time.
    assert [[row[0], *row[2:]] for row in lost if row[1] == "iPhone 14 Pro"] == [
        ["Net", "18.5 (22F76)", 2, None, 6 / 8],
        ["Net", "18.6 (22G86)", 2, None, 0],
        ["Still", "18.5 (22F76)", 2, None, 2 / 5],
        ["Still", "18.6 (22G86)", 2, None, 2 / 5],
    ]
    devices = asked(tracekit, releases, of_page("How fast is each model on each device?"))
    assert devices == [
        ["Net", "iPhone 14 Pro", 4, 10.0],
        ["Net", "iPhone Air", 1, 8.0],
        ["Still", "iPhone 14 Pro", 4, 5.0],
        ["Still", "iPhone Air", 1, 5.0],
    ]
    matrix = tracekit("compare", releases, "--label", "{device}", "--format", "csv")
    assert "iPhone Air" in matrix.out


def test_conditions_choose_what_a_lake_compares(tracekit, lake):
    sides = (
        "--before",
        "source like '%8bit%'",
        "--after",
        "source not like '%8bit%'",
        "device_model = 'iPhone 14 Pro'",
    )
    said = tracekit("compare", lake, *sides, "--format", "brief").json
    assert [said[side] for side in ("before", "after")] == [["sharpen_8bit.trace"], ["sharpen_float16.trace"]]
    assert [(each["name"], each["latency"]["answer"]) for each in said["models"]] == [("SharpenFilter", "improved")]
    for wrong, sentence in (
        (("--before", "true"), "missing --after"),
        (("--before", "app_version = '3'", "--after", "true"), "no recording of"),
        (("--before", "nosuch = 1", "--after", "true"), "nosuch"),
        (("--before", "true; drop table runs", "--after", "true"), "syntax error"),
    ):
        result = tracekit("compare", lake, *wrong)
        assert (result.status, sentence in result.err, result.err.count("\n")) == (2, True, 1)


@pytest.mark.parametrize("query", re.findall(r"```sql\n(.+?)```", PAGE, re.DOTALL))
def test_each_question_of_the_page_is_answered(tracekit, lake, query):
    assert asked(tracekit, lake, query)


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask, to pandas
@pytest.mark.parametrize("code", re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL), ids=lambda code: code.split()[1])
def test_other_readers_read_the_same_folder(lake, monkeypatch, code):
    pytest.importorskip(code.split()[1])
    monkeypatch.chdir(lake.parent)
    *setup, last = ast.parse(code).body
    names: dict = {}
    exec(compile(ast.Module(setup, []), "page", "exec"), names)  # noqa: S102 - the page's own code
    rows = eval(ast.unparse(last), names)  # noqa: S307
    found = sorted(tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in rows)
    assert found == [("iPhone 14 Pro", 280), ("iPhone Air", 276)]
