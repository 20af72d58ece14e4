"""What written bundles say of their runs, judged by what holds of real ones."""

import plistlib
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing

import pytest

from tracekit.testing.bundle.facts import run_issues
from tracekit.testing.bundle.write import write_bundle

START = 1_748_938_500
"""2025-06-03T10:15:00+02:00 in seconds since 1970."""


def members(bundle):
    """Content of the file of each instrument for the first run."""
    for path in sorted(bundle.path.glob("instrument_data/*/run_data/1.run.zip")):
        with zipfile.ZipFile(path) as archive:
            (name,) = archive.namelist()
            assert name == "1.run"
            yield archive.read(name)


def test_each_instrument_tells_the_span_at_the_measured_place(bundle):
    spans = set()
    for member in members(bundle):
        assert member.startswith(b"\x04\x0bstreamtyped")
        assert member[76] == member[92] == 0x83
        spans.add(struct.unpack("<d", member[77:85]) + struct.unpack("<d", member[93:101]))
    ((start, end),) = spans
    assert 1_700_000_000 < start < end < 1_900_000_000


@pytest.mark.corpus
def test_the_archived_run_begins_like_real_ones(written, real):
    mine, theirs = next(members(written)), next(members(real))
    assert mine[:77] == theirs[:77]
    assert mine[85:93] == theirs[85:93]
    # From the number of the run to the length of the archive that follows.
    assert mine[101:220].split(b"\x01i\x81")[0] == theirs[101:220].split(b"\x01i\x81")[0]


def test_the_span_is_that_of_the_scenario(written):
    for member in members(written):
        assert struct.unpack("<d", member[77:85])[0] == START
        assert struct.unpack("<d", member[93:101])[0] == pytest.approx(START + 2, abs=1e-6)


@pytest.mark.corpus
def test_instruments_are_those_of_the_core_ml_template(written, real):
    names = (
        b"coreml-os-signpost",
        b"ane-hw-intervals-internal",
        b"metal-gpu-intervals",
        b"metal-application-",
        b"time-profile",
    )
    for bundle in (written, real):
        in_bundle = list(members(bundle))
        assert len(in_bundle) == 5
        for name in names:
            assert sum(name in member for member in in_bundle) == 1, name


@pytest.mark.corpus
def test_the_configuration_has_the_keys_of_real_ones(written, real, unarchived):
    mine, theirs = (configuration(bundle, unarchived) for bundle in (written, real))
    assert set(mine) == set(theirs)
    assert set(mine["modelingParameters"]) == set(theirs["modelingParameters"])
    version = {"ios-version", "osx-version"}
    assert set(mine["bindingParameters"]) - version <= set(theirs["bindingParameters"])
    assert mine["modelingParameters"]["target-pid"] == 412
    assert mine["bindingParameters"]["ios-version"] == 180_500


def configuration(bundle, unarchived):
    data = (bundle.core / "core-config/exposedTableInfo.plist").read_bytes()
    return unarchived(zlib.decompress(data))


def test_the_only_issue_is_the_one_that_every_run_has(bundle):
    path = bundle.path / "Trace1.run/RunIssues.storedata"
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        rows = database.execute("SELECT ZTYPE, ZMESSAGE FROM ZISSUE WHERE ZTYPE = 2").fetchall()
    assert rows == [(2, "Data stream: Time Mapping")]


def test_warnings_of_a_run_are_issues_beside_it():
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(run_issues(["Signposts were lost.", "The log archive is incomplete."]))
        rows = database.execute("SELECT Z_PK, ZTYPE, ZMESSAGE FROM ZISSUE WHERE ZTYPE = 1").fetchall()
    assert rows == [(2, 1, "Signposts were lost."), (3, 1, "The log archive is incomplete.")]


@pytest.mark.corpus
def test_the_database_of_issues_has_the_columns_of_real_ones(written, real):
    databases = []
    for bundle in (written, real):
        path = bundle.path / "Trace1.run/RunIssues.storedata"
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            databases.append([row[1:3] for row in database.execute("PRAGMA table_info(ZISSUE)")])
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert databases[0] == databases[1]


def test_run_information_names_device_target_and_template(written, unarchived):
    listed = unarchived((written.path / "form.template").read_bytes(), "com.apple.xray.run.data")
    assert listed["$class"] == "XRRunListData"
    assert listed["$0"] == [1]
    assert listed["$2"] == 2
    run = listed["$1"][1]
    info = run["runInfo"]
    assert (run["startTime"], run["runningTime"]) == (START * 10**9, 2 * 10**9)
    assert (info["_templateName"], info["_instrumentVersion"]) == ("Core ML", "16.0 (16F6)")
    assert (info["_targetProcessName"], info["_targetProcessPid"]) == ('Came<ra> & "Co"', "412")
    assert (info["_targetModel"], info["_targetOperatingSystem"]) == ("iPhone 14 Pro", "18.5 (22F76)")
    assert (info["_hostModel"], info["_timeLimit"]) == ("Mac Studio", "30 seconds")
    processes = {each["coreValueSignature"]: each["displayName"] for each in run["processDatas"]}
    arrays = written.arrays("arrayUniquer")
    assert {arrays[key][0]: name for key, name in processes.items() if key != 0xFFFFFFFF} == {
        412: 'Came<ra> & "Co"',
        502: "WindowServer",
    }
    for tid, thread in run["threadsByTID"].items():
        assert arrays[thread["coreValueSignature"]][0] == tid


@pytest.mark.corpus
def test_run_information_has_no_fields_that_real_ones_lack(written, corpus, unarchived):
    archive = plistlib.loads((corpus / "bundles/output.trace/form.template").read_bytes())
    objects = archive["$objects"]
    listed = objects[archive["$top"]["com.apple.xray.run.data"].data]
    runs = objects[listed["$1"].data]
    run = objects[runs["NS.objects"][0].data]
    theirs = {
        objects[key.data]: objects[value.data] for key, value in zip(run["NS.keys"], run["NS.objects"], strict=True)
    }
    mine = unarchived((written.path / "form.template").read_bytes(), "com.apple.xray.run.data")["$1"][1]
    assert set(mine) <= set(theirs)
    assert set(mine["runInfo"]) <= set(theirs["runInfo"])
    process = objects[theirs["processDatas"]["NS.objects"][0].data]
    assert set(mine["processDatas"][0]) <= {objects[key.data] for key in process["NS.keys"]}


def test_without_run_information_there_is_no_file_for_it(tmp_path, scenario):
    path = write_bundle(scenario, tmp_path / "X.trace", form_template=False, rows_per_block=64)
    assert not (path / "form.template").exists()
