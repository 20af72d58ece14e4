"""Model files and performance reports find their model by name, and a doubt is told instead of hidden."""

from __future__ import annotations

import json
import shutil

import pytest

from support.handover import trace_of
from support.models import needs_coremltools
from support.performance_reports import coremltools_json, xcode_json
from tracekit.detectors.foreign import copy_of
from tracekit.errors import UsageError
from tracekit.model_files.untrusted import UnreadableModel
from tracekit.testing import Model, Process, Scenario
from tracekit.trace.build import open_trace
from tracekit.trace.file_matching import check_given, join_files
from tracekit.trace.trace import Match, Trace

ENCODER = "CaptionEncoder"


@pytest.fixture(scope="module")
def trace(samples):
    return open_trace(samples / "captions_concurrent.trace")


@pytest.fixture
def put(built_models, tmp_path):
    """Puts a small model under a name; gives its path."""

    def copy(name: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        source = built_models / ("network.mlmodel" if path.suffix == ".mlmodel" else "float16_interface.mlpackage")
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path)
        return str(path)

    return copy


def told(trace: Trace, line=(), settings=(), recording: str = "-"):
    return [
        (entry.source, entry.model, entry.match, entry.problem)
        for entry in join_files(trace, recording, (line, settings)).model_files
    ]


def test_without_files_the_trace_is_the_same(trace, tmp_path):
    assert join_files(trace, tmp_path / "run.trace") is trace


def test_the_same_name_is_enough(trace, put):
    path = put(f"{ENCODER}.mlpackage")
    assert told(trace, [path, path]) == [(f"{ENCODER}.mlpackage", ENCODER, Match.NAME, "")]
    assert join_files(trace, "-", ([path], ())).model_file(ENCODER).main.inputs[0].name == "x"
    assert join_files(trace, "-", ([path], ())).model_file("Other") is None


def test_a_similar_name_is_used_and_another_only_where_it_is_given_so(trace, put):
    ((_, *answer),) = told(trace, [put("caption_encoder.mlmodel")])
    problem = f"Used for {ENCODER}, whose name is only similar: check that it is this model."
    assert answer == [ENCODER, Match.SIMILAR, problem]
    path = put("Other.mlmodel")
    ((_, model, match, problem),) = told(trace, [path])
    assert (model, match) == (None, None)
    assert problem.startswith(f"Not used: no model has its name; the recording has {ENCODER}; ")
    assert f"give it as {ENCODER}=PATH." in problem
    assert told(trace, [f"{ENCODER}={path}"]) == [("Other.mlmodel", ENCODER, Match.GIVEN, "")]
    ((_, model, _, problem),) = told(trace, [f"Encoder={path}"])
    assert model is None
    assert problem.startswith("Not used: no model is called Encoder; ")


def test_several_files_for_one_model_are_not_chosen_from(trace, put):
    files = [put(f"a/{ENCODER}.mlmodel"), put(f"b/{ENCODER}.mlpackage")]
    answers = told(trace, files)
    assert [model for _, model, _, _ in answers] == [None, None]
    assert {problem for *_, problem in answers} == {
        f"Not used: 2 files could describe {ENCODER}; choose one as {ENCODER}=PATH."
    }
    # One that is named is no longer in doubt.
    named, other = told(trace, [f"{ENCODER}={files[0]}", files[1]])
    assert named[1:3] == (ENCODER, Match.GIVEN)
    assert other[3] == f"Not used: {ENCODER}.mlmodel describes {ENCODER} by a closer name."


def test_what_is_given_goes_before_settings_and_both_before_what_lies_beside(trace, put, tmp_path):
    put(f"{ENCODER}.mlmodel")
    put(f"{ENCODER}.mlpackage")
    recording = str(tmp_path / "run.trace")
    # A source before what is compiled or older.
    assert told(trace, recording=recording) == [(f"{ENCODER}.mlpackage", ENCODER, Match.NAME, "")]
    settings, line = [put(f"settings/{ENCODER}.mlmodel")], [f"{ENCODER}={put('Given.mlmodel')}"]
    assert [source for source, *_ in told(trace, line, settings, recording=recording)] == ["Given.mlmodel"]
    assert [source for source, *_ in told(trace, (), settings, recording=recording)] == [f"{ENCODER}.mlmodel"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        pytest.param(b"\xff" * 40, "'CaptionEncoder.mlmodel'", marks=needs_coremltools),
        (None, "no such file"),
    ],
    ids=["empty", "noise", "missing"],
)
def test_a_bad_file_of_the_settings_costs_a_sentence_and_one_that_is_given_is_an_error(trace, tmp_path, content, words):
    path = tmp_path / f"{ENCODER}.mlmodel"
    if content is not None:
        path.write_bytes(content)
    ((_, model, _, problem),) = told(trace, settings=[str(path)])
    assert model is None
    assert problem.startswith(f"Not used for {ENCODER}: ")
    assert words in problem
    assert str(tmp_path.parent) not in problem
    # A path that leads nowhere is told before.
    if content is not None:
        with pytest.raises(UnreadableModel, match=words):
            told(trace, [str(path)])


def test_a_path_that_leads_nowhere_is_told_at_once(tmp_path):
    (tmp_path / "a=b.mlmodel").touch()
    check_given([str(tmp_path / "a=b.mlmodel")])
    with pytest.raises(UsageError, match="--model-file A=missing: no such file or folder"):
        check_given(["A=missing"])
    with pytest.raises(UsageError, match="--perf-report A=missing: no such file or folder"):
        check_given([], ["A=missing"])


def test_the_name_of_a_model_cannot_lead_out_of_the_folder(put, tmp_path):
    scenario = Scenario(Process("App", 7), duration_ns=1_000_000_000)
    for name in ("../Evil", "..", "x" * 300):
        scenario.predict(Model(name), 1_000_000, 1_000_000)
    trace = trace_of(scenario)
    assert "../Evil" in set(trace.models.name)
    put("Evil.mlmodel")
    assert join_files(trace, tmp_path / "folder" / "run.trace") is trace


@pytest.fixture
def report(tmp_path):
    """Writes a performance report of a model into a file; gives its path."""

    def write(name: str, file: str, content: bytes | None = None) -> str:
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        document = xcode_json(name, None, predict=[9, 0.01, 0.01]) if name else coremltools_json()
        path.write_bytes(json.dumps(document).encode() if content is None else content)
        return str(path)

    return write


def reported(trace: Trace, line=(), settings=(), recording: str = "-"):
    return [
        (entry.source, entry.model, entry.match, entry.problem)
        for entry in join_files(trace, recording, reports=(line, settings)).performance_reports
    ]


def test_a_report_belongs_to_the_model_that_it_names_and_not_to_that_of_its_file(trace, report):
    path = report(ENCODER, "Other.json")
    assert reported(trace, [path]) == [("Other.json", ENCODER, Match.NAME, "")]
    assert join_files(trace, "-", reports=([path], ())).performance_report(ENCODER).prediction.median_ns == 10_000_000
    ((_, model, _, problem),) = reported(trace, [report("Other", f"{ENCODER}.json")])
    assert (model, problem[:36]) == (None, "Not used: no model has its name; the")


def test_a_plan_that_names_no_model_goes_by_its_file_or_by_what_is_given(trace, report):
    assert reported(trace, [report("", f"{ENCODER}.json")]) == [(f"{ENCODER}.json", ENCODER, Match.NAME, "")]
    plan = report("", "compute_plan.json")
    assert reported(trace, [plan])[0][1] is None
    assert reported(trace, [f"{ENCODER}={plan}"]) == [("compute_plan.json", ENCODER, Match.GIVEN, "")]


def test_a_report_of_another_name_is_used_where_it_is_given_so_and_doubted(trace, report):
    assert reported(trace, [f"{ENCODER}={report('Decoder', 'a.json')}"]) == [
        ("a.json", ENCODER, Match.GIVEN, f"Used for {ENCODER}, although it names Decoder: check that it is this model.")
    ]
    ((_, model, match, problem),) = reported(trace, [report("caption_encoder", "b.json")])
    assert (model, match) == (ENCODER, Match.SIMILAR)
    assert "only similar" in problem


def test_several_reports_of_one_model_are_not_chosen_from(trace, report):
    answers = reported(trace, [report(ENCODER, "all.json"), report(ENCODER, "cpu.json")])
    assert [answer[1:] for answer in answers] == [
        (None, None, f"Not used: 2 files could describe {ENCODER}; choose one as {ENCODER}=PATH.")
    ] * 2


def test_given_reports_go_before_settings_and_both_before_those_beside_the_recording(trace, report, tmp_path):
    recording = str(tmp_path / "run.trace")
    report(ENCODER, f"{ENCODER}-all.json")
    assert reported(trace, recording=recording) == [(f"{ENCODER}-all.json", ENCODER, Match.NAME, "")]
    report(ENCODER, f"{ENCODER}.json")
    assert [source for source, *_ in reported(trace, recording=recording)] == [f"{ENCODER}.json"]
    settings, line = [report(ENCODER, "settings/x.json")], [report(ENCODER, "y.json")]
    assert [source for source, *_ in reported(trace, line, settings, recording=recording)] == ["y.json"]
    assert [source for source, *_ in reported(trace, (), settings, recording=recording)] == ["x.json"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is empty"), (b'{"deviceResults": {', "is not complete JSON"), (b'{"a": 1}', "is no performance report")],
    ids=["empty", "truncated", "foreign"],
)
def test_a_bad_report_is_an_error_where_it_is_given_and_else_a_sentence(trace, report, tmp_path, content, words):
    path = report(ENCODER, "bad.json", content)
    with pytest.raises(UnreadableModel, match=words):
        check_given([], [path])
    ((_, model, _, problem),) = reported(trace, settings=[path])
    assert model is None
    assert words in problem
    assert str(tmp_path.parent) not in problem


def test_json_beside_the_recording_that_is_no_report_is_nobodys(trace, report, tmp_path):
    report(ENCODER, f"{ENCODER}.json", b'{"a": 1}')
    assert join_files(trace, str(tmp_path / "run.trace")) is trace
    report(ENCODER, f"{ENCODER}.json", b'{"deviceResults": {}}')
    ((_, model, _, problem),) = reported(trace, recording=str(tmp_path / "run.trace"))
    assert model is None
    assert problem.startswith(f"Not used for {ENCODER}: '{ENCODER}.json': the report holds no results")


def test_what_checks_of_others_see_has_the_same_facts(trace, put, report):
    joined = join_files(trace, "-", ([put(f"{ENCODER}.mlpackage")], ()), ([report(ENCODER, "a.json")], ()))
    assert copy_of(joined).model_file(ENCODER) is joined.model_file(ENCODER) is not None
    assert copy_of(joined).performance_report(ENCODER) is joined.performance_report(ENCODER) is not None
