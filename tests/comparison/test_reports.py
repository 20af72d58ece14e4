"""JSON reports in place of recordings."""

from __future__ import annotations

import json

import jsonschema
import pytest

from support.analyses import kept_analysis
from tracekit.comparison.comparison import compare
from tracekit.comparison.matrix import matrix, sources_of
from tracekit.comparison.reports import load_report
from tracekit.comparison.storage import to_plain
from tracekit.errors import UnreadableRecording
from tracekit.report.serialize import schema_text, to_json

NAMES = ["sharpen_8bit", "sharpen_float16", "style_transfer_reload", "captions_concurrent", "not_instrumented"]


@pytest.fixture(scope="module")
def report(samples, tmp_path_factory):
    """File with the JSON report on a sample, by its name."""
    folder = tmp_path_factory.mktemp("reports")

    def of(name):
        path = folder / f"{name}.json"
        if not path.exists():
            path.write_text(to_json(kept_analysis(samples / f"{name}.trace").measured_report()))
        return path

    return of


@pytest.mark.parametrize("name", NAMES)
def test_a_report_gives_the_digits_of_its_recording(measured, report, name):
    recording, stored = measured(name), load_report(report(name))
    other = measured("sharpen_float16")
    assert to_json(compare([stored], [other])) == to_json(compare([recording], [other]))
    assert to_json(matrix(sources_of([stored]), ["a"])) == to_json(matrix(sources_of([recording]), ["a"]))


def test_a_report_keeps_its_schema(report):
    schema = json.loads(schema_text())
    for name in ("captions_concurrent", "not_instrumented"):
        jsonschema.validate(json.loads(report(name).read_text()), schema)


def test_measurements_are_small(report):
    plain = json.loads(report("sharpen_8bit").read_text())
    # 139 latencies of 8 bytes each before they are deflated, and the parts of the breakdown.
    assert len(json.dumps(plain["measurements"])) < 4_000


def changed(report, **keys):
    """A report whose first result has other values."""
    first, *others = report["results"]
    return report | {"results": [first | keys, *others]}


def twice(report):
    """A report that holds each model twice."""
    measurements = report["measurements"]
    return report | {"measurements": measurements | {"models": measurements["models"] * 2}}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report | {"measurements": None}, "holds no measurements"),
        (
            lambda report: report | {"schema_version": 2},
            "another version of tracekit .schema 2, not 3.; write it again",
        ),
        (lambda report: [report], "several reports"),
        (lambda _: {"schema_version": 3}, "not a tracekit report"),
        (lambda report: report | {"measurements": {}}, "is missing or wrong"),
        (lambda report: report | {"recording": None}, "is damaged"),
        (lambda report: report | {"results": [None]}, "is damaged"),
        (lambda report: report | {"results": 5}, "is damaged"),
        (lambda report: changed(report, severity="worst"), "'severity' is missing or wrong"),
        (lambda report: changed(report, outcome="finding", severity=None), "'severity' is missing or wrong"),
        (lambda report: changed(report, outcome="maybe"), "'outcome' is missing or wrong"),
        (twice, "'models' is missing or wrong"),
    ],
)
def test_what_is_no_whole_report_is_refused_with_the_reason(report, tmp_path, change, words):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(change(json.loads(report("sharpen_8bit").read_text()))))
    with pytest.raises(UnreadableRecording, match=words) as caught:
        load_report(path)
    assert str(caught.value).startswith("r.json")


def test_a_report_with_infinity_is_refused(report, tmp_path):
    """Also where nothing of the part that holds it is read."""
    path = tmp_path / "r.json"
    plain = json.loads(report("sharpen_8bit").read_text())
    plain["recording"]["duration_ns"] = float("inf")
    path.write_text(json.dumps(plain))
    with pytest.raises(UnreadableRecording, match="is not a report: it holds Infinity, which is no number of JSON"):
        load_report(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le"])
def test_a_report_in_another_encoding_of_json_is_read(report, tmp_path, encoding):
    """PowerShell redirects in UTF-16."""
    path = tmp_path / "r.json"
    path.write_bytes(report("sharpen_8bit").read_text().encode(encoding))
    assert to_plain(load_report(path)) == to_plain(load_report(report("sharpen_8bit")))


def test_text_that_is_no_json_is_refused(tmp_path):
    path = tmp_path / "r.json"
    path.write_text("{")
    with pytest.raises(UnreadableRecording, match="not valid JSON"):
        load_report(path)
