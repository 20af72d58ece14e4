"""`tracekit analyze -o findings.zip --rows`: rows of Core ML for an issue, without a name, that become a test again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from support.choice import sweep_rest
from tracekit.testing import Model, Process, Scenario, read_rows, write_bundle, write_export
from tracekit.testing.rows import CoreMLRow
from tracekit.testing.schemas import Column, TableContent
from tracekit.testing.tables import tables_of

MS = 1_000_000
APP = Process("HushApp", 412)
STRANGE = (
    "Neural Engine Warmup → HushModel",
    "Load HushModel_hush for kim.hush@example.com",
    "Prediction /Users/hush/秘密 20251124",
    "Segment 12 of hush",
)
"""Event strings that are not known, with names in them."""


def scenario(*more: TableContent) -> Scenario:
    """An app that reloads a stage of a pipeline for each prediction."""
    made = Scenario(APP, duration_ns=4_000 * MS, other_tables=list(more))
    model = Model("HushModel")
    for number in range(20):
        end = made.load(model, (100 + 150 * number) * MS, 60 * MS)
        prediction = made.predict(model, end + MS, 20 * MS)
        prediction.event("Input Copy", MS, 8 * MS)
        prediction.neural_engine(10 * MS, 8 * MS)
    return made


def rows_in(archive: Path) -> str:
    with zipfile.ZipFile(archive) as packed:
        return packed.read("core-ml-rows.json").decode()


@pytest.mark.parametrize(("write", "flags"), sweep_rest((write_export, ("--no-redact",)), (write_bundle, ())))
def test_no_name_survives_in_the_rows_and_unknown_strings_are_listed(tracekit, tmp_path: Path, write, flags) -> None:
    made = scenario()
    made.coreml += [
        CoreMLRow(3_500 * MS + number, MS, text, Model("HushModel"), "model-data-event")
        for number, text in enumerate(STRANGE)
    ]
    path = tmp_path / ("hush.trace" if write is write_bundle else "hush")
    write(made, path)
    tracekit("analyze", path, "-o", tmp_path / "a.zip", "--rows", "--no-config", *flags)
    text = rows_in(tmp_path / "a.zip")
    assert "hush" not in text.casefold()
    assert "秘" not in text
    document = json.loads(text)
    (table,) = document["tables"]
    assert len(table["rows"]) == len(made.coreml)
    listed = document["unknown_events"]
    assert [each.split()[0] for each in listed] == ["Load", "Neural", "Prediction", "Segment"]
    assert any(each.startswith("Neural Engine Warmup → Name") for each in listed)


def test_a_column_that_nobody_knows_is_named_and_tells_nothing(tracekit, tmp_path: Path) -> None:
    (known,) = [table for _, table in tables_of(scenario()) if table.schema == "coreml-os-signpost"]
    columns = (*known.columns, Column("app-note", "App note", "string"))
    rows = tuple((*row, "load hush") for row in known.rows)
    write_export(scenario(TableContent(known.schema, (), columns, rows)), tmp_path / "run")
    tracekit("analyze", tmp_path / "run", "-o", tmp_path / "a.zip", "--rows", "--no-config")
    document = json.loads(rows_in(tmp_path / "a.zip"))
    assert document["unknown_columns"] == ["app-note"]
    assert {row[-1] for row in document["tables"][0]["rows"]} == {"NameB NameC"}


@pytest.mark.sweep
def test_the_rows_of_a_stranger_are_a_test(tracekit, reload: Path, tmp_path: Path) -> None:
    tracekit("analyze", reload, "-o", tmp_path / "findings.zip", "--rows", "--no-config")
    given = Scenario(Process("App", 1), duration_ns=60_000 * MS, other_tables=read_rows(tmp_path / "findings.zip"))
    write_export(given, tmp_path / "again")
    before, after = (tracekit("analyze", path, "--json", "--no-config").json for path in (reload, tmp_path / "again"))
    for report in (before, after):
        outcomes = [check["outcome"] for check in report["results"] if check["id"] == "reload-before-predict"]
        assert outcomes == ["finding"] * 5
    loads, again = (sorted((each["loads"], each["predictions"]) for each in part["models"]) for part in (before, after))
    assert loads == again


def test_rows_are_for_an_archive_that_says_how_to_write_them(tracekit, reload: Path, tmp_path: Path) -> None:
    tracekit("analyze", reload, "-o", tmp_path / "findings.zip", "--no-config")
    with pytest.raises(ValueError, match=r"has no rows; write it with: tracekit analyze run.trace -o .*zip --rows"):
        read_rows(tmp_path / "findings.zip")

    result = tracekit("analyze", reload, "--rows")
    assert (result.status, result.out) == (2, "")
    assert result.err == "tracekit: --rows is for an archive; add -o findings.zip\n"
