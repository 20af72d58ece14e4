"""Whole bundles: layout, compression, several runs, same bytes."""

import plistlib
import re
import time

import pytest

from tracekit.testing.bundle.write import bundle_files, write_bundle

ZLIB = {b"\x78\x01", b"\x78\x9c", b"\x78\xda"}


def contents(path):
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_files_lie_where_real_bundles_have_them(bundle):
    for name in (
        "open.creq",
        "corespace/MANIFEST.plist",
        "corespace/run1/core/core-config/exposedTableInfo.plist",
        "corespace/run1/core/table-manager/tables.plist",
        "corespace/run1/core/uniquing/TOC",
        "corespace/run1/core/uniquing/strings",
        "corespace/run1/core/uniquing/EngineeringTypes.etypes",
        "corespace/run1/core/uniquing/arrayUniquer/integeruniquer.index",
        "corespace/run1/core/uniquing/typedArrayUniquer/integeruniquer.data",
        "Trace1.run/RunIssues.storedata",
    ):
        assert (bundle.path / name).is_file(), name


def test_all_files_of_the_core_are_compressed_and_no_others(bundle):
    checked = 0
    for path in bundle.path.rglob("*"):
        name = path.relative_to(bundle.path).as_posix()
        if not path.is_file() or not path.stat().st_size or "symbols/" in name:
            continue
        with path.open("rb") as stream:
            packed = stream.read(2) in ZLIB
        inside = name.startswith("corespace/") and not name.endswith("MANIFEST.plist")
        if "currentRun" not in name:
            assert packed == inside, name
            checked += 1
    assert checked > 40


def test_requirements_name_every_type_of_a_column(bundle):
    requirements = plistlib.loads((bundle.path / "open.creq").read_bytes(), fmt=plistlib.FMT_XML)
    assert requirements["com.apple.dt.trace"][0] == 5
    assert re.search(r"'[a-z0-9-]+'\.$", requirements["com.apple.dt.etype.XRStartTimeTypeID"][1])
    used = {column[2] for store in bundle.stores for column in store.columns}
    listed = {key.removeprefix("com.apple.dt.etype.") for key in requirements if ".etype." in key}
    assert used <= listed
    topologies = {key.rpartition(".")[2] for key in requirements if ".topology." in key}
    assert topologies == {"XRT64_CC32_R_TypeID", "XRTD64_CC32_R_TypeID"}


@pytest.mark.corpus
def test_types_have_the_mnemonics_of_real_ones(written, real):
    mine, theirs = (
        {
            key: value[1].split("'")[-2]
            for key, value in plistlib.loads((b.path / "open.creq").read_bytes()).items()
            if ".etype." in key
        }
        for b in (written, real)
    )
    assert len(set(mine) & set(theirs)) > 30
    assert {key: mine[key] for key in mine if key in theirs} == {key: theirs[key] for key in mine if key in theirs}


def test_the_same_scenario_gives_the_same_bytes_at_any_time(tmp_path, make_scenario, monkeypatch):
    first = write_bundle(make_scenario(), tmp_path / "a.trace", rows_per_block=64)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400 * 400)
    second = write_bundle(make_scenario(), tmp_path / "b.trace", rows_per_block=64)
    assert contents(first) == contents(second)


@pytest.mark.sweep
def test_a_raw_bundle_holds_what_a_compressed_one_holds(tmp_path, scenario, written, open_bundle):
    raw = open_bundle(write_bundle(scenario, tmp_path / "X.trace", compressed=False))
    assert not any(data[:2] in ZLIB for data in contents(raw.path).values())
    assert [store.content for store in raw.stores] == [store.content for store in written.stores]
    assert raw.strings == written.strings
    assert contents(raw.path) == bundle_files([scenario])


@pytest.mark.parametrize("version", ["16.4", "26.3", "27.2"])
def test_every_version_can_be_written(make_scenario, version):
    files = bundle_files([make_scenario(xcode_version=version)])
    assert sum(name.endswith("/bulkstore") for name in files) >= 14


def test_nothing_is_written_over(tmp_path, scenario):
    (tmp_path / "X.trace").mkdir()
    with pytest.raises(FileExistsError):
        write_bundle(scenario, tmp_path / "X.trace")
