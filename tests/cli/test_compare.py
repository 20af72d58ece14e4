"""`tracekit compare` on the command line."""

import json

import pytest

from tracekit.testing import Model, Process, Scenario, SignpostRow, write_export

MS = 1_000_000


def test_recordings_are_compared_and_a_regression_is_no_failure(tracekit, samples, tmp_path):
    before = [samples / f"{name}.trace" for name in ("sharpen_8bit", "style_transfer_reload")]
    after = [samples / f"{name}.trace" for name in ("sharpen_float16", "style_transfer_fixed")]
    comparison = tracekit("compare", "--before", *before, "--after", *after, "--json").json
    assert comparison["before"] == ["sharpen_8bit.trace", "style_transfer_reload.trace"]
    assert len(comparison["models"]) == 6

    result = tracekit("compare", samples / "sharpen_float16.trace", samples / "sharpen_8bit.trace")
    assert result.status == 0
    new, worse = result.out.splitlines()[:2]
    worst = "2 new findings (worst: high): excess-data-copies (SharpenFilter), est. savings 0.59 s"
    assert new.startswith(f"{worst} · regressed:")
    assert worse.startswith("  SharpenFilter +")

    files = [tmp_path / f"c.{ending}" for ending in ("html", "md", "json", "txt")]
    arguments = [argument for file in files for argument in ("-o", file)]
    pair = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    assert tracekit("compare", *pair, *arguments, "--no-config").status == 0
    page, markdown, plain, text = (file.read_text("utf-8") for file in files)
    assert 'id="lanes-after-meta"' in page
    assert markdown.startswith("**improved")
    assert json.loads(plain)["method"] == 3
    assert text.startswith("improved: SharpenFilter −30% · 2 findings fixed\n")


@pytest.mark.sweep
def test_the_page_of_several_recordings_draws_the_most_typical_of_each_side(tracekit, samples, reports, tmp_path):
    recording, other = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    (report,) = reports.glob("*sharpen_float16.json")
    page = tmp_path / "c.html"
    # A report has no lanes, so the recording beside it is drawn.
    result = tracekit("compare", "--before", recording, report, "--after", other, "-o", page, "--no-config")
    assert result.status == 0
    text = page.read_text("utf-8")
    assert "before: sharpen_8bit.trace, the most typical of 2 recordings" in text
    assert 'id="lanes-after-meta"' in text
    tracekit("compare", "--before", recording, "--after", report, "-o", page, "--no-config")
    assert 'id="lanes-meta"' not in page.read_text("utf-8")


@pytest.mark.sweep
def test_recordings_of_one_name_are_named_by_the_folders_that_differ(tracekit, samples, tmp_path, unchanged_folders):
    for folder, sample in (("before", "sharpen_8bit"), ("after", "sharpen_float16")):
        (tmp_path / folder / "out").mkdir(parents=True)
        (tmp_path / folder / "out/run.trace").symlink_to(samples / f"{sample}.trace")
        unchanged_folders.add(tmp_path / folder / "out")
    paths = [tmp_path / folder / "out/run.trace" for folder in ("before", "after")]
    names = ["before/out/run.trace", "after/out/run.trace"]
    comparison = tracekit("compare", *paths, "--json").json
    assert [comparison["before"], comparison["after"]] == [[names[0]], [names[1]]]
    columns = tracekit("compare", *paths, "--label", "{name}", "--json").json["columns"]
    assert [column["label"] for column in columns] == names


def test_a_recording_counts_once_by_another_name_too(tracekit, samples, tmp_path, unchanged_folders):
    one, other = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    result = tracekit("compare", "--before", one, one, "--after", other)
    assert result.status == 2
    assert "sharpen_8bit.trace is given twice" in result.err

    copy = tmp_path / "copy.trace"
    copy.symlink_to(one)
    unchanged_folders.add(tmp_path)
    compared = tracekit("compare", "--before", one, copy, "--after", other)
    saved = tracekit("check", one, copy, "--baseline", tmp_path / "baseline.json", "--save-baseline")
    for result in (compared, saved):
        assert result.status == 2
        assert "copy.trace is the same recording as sharpen_8bit.trace; a recording counts once" in result.err


def test_a_range_limits_what_is_compared_and_one_without_an_event_is_inconclusive(tracekit, samples):
    pair = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    full, part = (tracekit("compare", *pair, *more, "--json").json for more in ((), ("--to", "2")))
    counts = [comparison["models"][0]["predictions"]["before"] for comparison in (full, part)]
    assert 0 < counts[1] < counts[0]
    assert part["notes"][0] == "Only predictions starting before 2 s are compared."

    result = tracekit("compare", *pair, "--from", "900")
    assert result.status == 2
    assert "the range from 900 s lies outside the recording, which is 5.2 s long" in result.err
    empty = tracekit("compare", *pair, "--to", "0.000001")
    assert empty.status == 3
    # The first load, and the end of the last prediction.
    assert (
        "no load or prediction starts before 1e-06 s: the first starts at 0.403 s, the last ends at 4.861 s"
        in empty.err
    )

    result = tracekit("compare", samples / "sharpen_8bit.trace", samples / "style_transfer_fixed.trace")
    assert (result.status, "no model in common" in result.out) == (3, True)


def test_a_signpost_limits_what_is_compared(tracekit, tmp_path, unchanged_folders):
    paths = []
    for side, slow_ns in (("before", 12 * MS), ("after", 30 * MS)):
        scenario = Scenario(Process("App", 412), duration_ns=2_000 * MS)
        scenario.load(Model("Net"), 0, 20 * MS)
        for index in range(40):
            scenario.predict(Model("Net"), (50 + 40 * index) * MS, slow_ns if 10 <= index < 30 else 10 * MS)
        scenario.signposts.append(SignpostRow(440 * MS, 800 * MS, "Scroll", "app", "ui"))
        paths.append(tmp_path / side)
        write_export(scenario, paths[-1])
    unchanged_folders.add(tmp_path)
    whole, part = (tracekit("compare", *paths, "--json", *more).json for more in ((), ("--signpost", "Scroll")))
    # Of 40 predictions those 20 that start in the interval; the other half is as fast as before.
    models = {model["name"]: model for model in part["models"]}
    net = models["Net"]
    assert net["predictions"] == {"before": 20, "after": 20}
    assert (net["latency"]["before_ns"], net["latency"]["after_ns"]) == (12 * MS, 30 * MS)
    assert net["latency"]["answer"] == "regressed"
    # The interval itself is there too, once.
    assert models["Scroll"]["predictions"] == {"before": 1, "after": 1}
    assert whole["models"][0]["predictions"] == {"before": 40, "after": 40}
    unknown = tracekit("compare", *paths, "--signpost", "Scrol")
    assert unknown.status == 2
    assert "unknown signpost 'Scrol'; did you mean 'Scroll'? (available: Scroll)" in unknown.err


def test_a_folder_is_a_side_and_one_bad_recording_does_not_stop_the_rest(tracekit, samples, tmp_path):
    before, after = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    result = tracekit("compare", "--before", before, tmp_path / "gone.trace", "--after", after)
    assert result.status == 2
    assert "skipped" in result.err
    assert "skipped" in result.out
    assert result.out.splitlines()[0] == "improved: SharpenFilter −30% · 2 findings fixed"

    for side, name in (("before", "sharpen_8bit"), ("after", "sharpen_float16")):
        (tmp_path / side).mkdir()
        (tmp_path / side / f"{name}.trace").symlink_to(samples / f"{name}.trace")
    result = tracekit("compare", tmp_path / "before", tmp_path / "after")
    assert "before:    sharpen_8bit.trace" in result.out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "missing recordings"),
        (("a.trace",), "missing the recording after the change, as in: tracekit compare a.trace B.trace"),
        (("a.trace", "--before", "b.trace"), "either paths"),
        (("--before", "b.trace"), "missing --after"),
        (("a.trace", "b.trace", "--rename", "x"), "OLD=NEW"),
        (("a.trace", "b.trace"), "a.trace"),
        (("a.trace", "b.trace", "-o", "c.pdf"), "unknown extension"),
        (("a.trace", "b.trace", "--from", "2", "--to", "2"), "--from must be before --to"),
    ],
)
def test_wrong_usage_is_one_sentence(tracekit, arguments, words):
    result = tracekit("compare", *arguments)
    assert result.status == 2
    assert words in result.err
    assert result.err.count("\n") == 1
