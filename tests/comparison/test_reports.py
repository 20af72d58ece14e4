"""Measurements and baselines as files, and JSON reports in place of recordings."""

import json
import random
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from support.analyses import kept_analysis
from support.choice import sweep_rest
from tracekit.comparison.baseline import MAX_RECORDINGS, baseline_of, load_baseline, to_text
from tracekit.comparison.comparison import compare
from tracekit.comparison.matrix import matrix, sources_of
from tracekit.comparison.reports import MalformedError, from_plain, load_report, to_plain
from tracekit.comparison.settings import Floors
from tracekit.documents.gate import baseline_document
from tracekit.errors import TracekitError, UnreadableRecording, UsageError
from tracekit.render.forms import render
from tracekit.report.serialize import schema_text, to_json


def test_long_lists_are_deflated_and_come_back(measured):
    model = measured("sharpen_8bit").models[0]
    long = np.arange(5000, dtype=np.int64) * 100
    recording = replace(
        measured("sharpen_8bit"), models=(replace(model, latencies_ns=long, warm=np.ones(5000, dtype=bool)),)
    )
    plain = to_plain(recording)
    assert isinstance(plain["models"][0]["latencies"], str)
    assert (from_plain(plain).models[0].latencies_ns == long).all()


def test_a_damaged_document_is_refused_with_its_key(measured):
    text = json.dumps(to_plain(measured("sharpen_8bit")))
    generator = random.Random(0)  # noqa: S311 - seeded, so that a failure comes again
    refused = 0
    for _ in range(300):
        plain = json.loads(text)
        target = plain
        while True:
            key = generator.choice(list(target) if isinstance(target, dict) else range(len(target)))
            if isinstance(target[key], dict | list) and target[key] and generator.random() < 0.8:
                target = target[key]
            else:
                break
        target[key] = generator.choice([None, -1, 2**70, "x", [], {}, True, 1.5, "AAAA"])
        try:
            from_plain(plain)
        except MalformedError:
            refused += 1
    assert refused > 100


def numbers_in(node, path=()):
    """Paths of all numbers below a part of a document."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield (*path, key)
        yield from numbers_in(value, (*path, key))


@pytest.mark.parametrize("wrong", [-1, float("inf"), float("nan")])
def test_no_number_may_be_negative_or_without_end(measured, wrong):
    """Every duration, share and count of a recording, one after another."""
    text = json.dumps(to_plain(measured("sharpen_8bit")))
    paths = list(numbers_in(json.loads(text)))
    assert len(paths) > 20
    for path in paths:
        plain = json.loads(text)
        target = plain
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = wrong
        with pytest.raises(MalformedError):
            from_plain(plain)


def test_a_small_text_does_not_grow_without_bound(measured):
    import base64
    import zlib

    plain = to_plain(measured("sharpen_8bit"))
    plain["models"][0]["latencies"] = base64.b64encode(zlib.compress(bytes(1 << 24))).decode()
    with pytest.raises(MalformedError, match="latencies"):
        from_plain(plain)


def test_a_baseline_comes_back_from_its_file(measured, tmp_path):
    file = tmp_path / "baseline.json"
    text = to_text(baseline_of([measured("sharpen_8bit")]))
    file.write_text(text)
    assert to_text(load_baseline(file)) == text
    # Nothing of the recording's name or place.
    assert "sharpen_8bit" not in text


def test_a_baseline_holds_the_latest_ten(measured):
    recordings = [scaled(measured("sharpen_8bit"), 1 + step / 100) for step in range(12)]
    baseline = baseline_of(recordings)
    assert len(baseline.recordings) == MAX_RECORDINGS
    assert baseline.recordings[-1].models[0].latencies_ns[0] == recordings[-1].models[0].latencies_ns[0]


def scaled(recording, factor):
    model = recording.models[0]
    changed = replace(model, latencies_ns=(model.latencies_ns * factor).astype(np.int64))
    return replace(recording, models=(changed,), identity=f"{recording.identity} {factor}")


def test_a_baseline_holds_each_recording_once_of_one_kind_of_device_with_predictions(measured):
    one = measured("sharpen_8bit")
    other = scaled(replace(one, environment=replace(one.environment, device="iPhone 15")), 1.1)
    for recordings, earlier, words in (
        ([one], baseline_of([one]), "already"),
        ([one, other], None, "iPhone 15"),
        ([measured("not_instrumented")], None, "no prediction"),
    ):
        with pytest.raises(UsageError, match=words):
            baseline_of(recordings, earlier)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "not a baseline of this version"),
        (b'{"schema_version": 9}', "not a baseline of this version"),
        (b'{"schema_version": 1}', "not a baseline of this version of tracekit; delete it, then save it again"),
        (b'{"schema_version": 2, "method": NaN}', "baseline: it holds NaN, which is no number of JSON"),
        (b'{"schema_version": 2, "spread": {"Net": Infinity}}', "it holds Infinity"),
        (b'{"schema_version": 2, "spread": {"Net": -Infinity}}', "it holds -Infinity"),
        (b'{"schema_version": 2, "recordings": [], "checks": []}', "no recordings"),
        (b'{"schema_version": 2, "recordings": [{}], "checks": []}', "missing or wrong"),
    ],
)
def test_another_file_is_no_baseline(tmp_path, content, words):
    file = tmp_path / "baseline.json"
    file.write_bytes(content)
    with pytest.raises(TracekitError, match=words):
        load_baseline(file)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(TracekitError, match="no such file or directory; create it with"):
        load_baseline(tmp_path / "none.json")


def test_a_baseline_holds_how_far_its_recordings_differ(measured):
    one = measured("sharpen_8bit")
    baseline = baseline_of([scaled(one, factor) for factor in (0.98, 1.0, 1.02)])
    # Standard deviation of ln 0.98, 0 and ln 1.02.
    assert json.loads(to_text(baseline))["spread"] == {"SharpenFilter": pytest.approx(0.02, abs=1e-4)}
    assert json.loads(to_text(baseline_of([one])))["spread"] == {}


def test_a_name_is_one_line_of_what_a_baseline_holds(measured):
    one = measured("sharpen_8bit")
    hostile = replace(one, models=(replace(one.models[0], name="Net\nNone of 9 recordings would fail"),))
    lines = render(baseline_document(baseline_of([hostile]), Floors()), "text", width=100).splitlines()
    assert [line for line in lines if "would fail" in line] == [line for line in lines if "Net" in line]


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


@pytest.mark.parametrize(
    "name", sweep_rest("style_transfer_reload", "sharpen_8bit", "captions_concurrent", "not_instrumented")
)
def test_a_report_gives_the_digits_of_its_recording(measured, report, name):
    recording, stored = measured(name), load_report(report(name))
    other = measured("sharpen_float16")
    assert to_json(compare([stored], [other])) == to_json(compare([recording], [other]))
    assert to_json(matrix(sources_of([stored]), ["a"])) == to_json(matrix(sources_of([recording]), ["a"]))


@pytest.mark.sweep
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
        (lambda report: {"reports": [report]}, "several reports"),
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
