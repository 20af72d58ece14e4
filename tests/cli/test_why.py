"""`tracekit why`."""

import re

import pytest

import tracekit as package
from tracekit.testing import Model, Process, Scenario, write_bundle

MS = 1_000_000


def test_the_slowest_of_a_sample_is_explained_on_one_screen_or_in_a_sentence(tracekit, samples):
    result = tracekit("why", samples / "captions_concurrent.trace")
    assert (result.status, result.err) == (0, "")
    text = " ".join(result.out.split())
    assert "97.5 ms instead of the usual 12.8 ms: 84.7 ms queued for the Neural Engine behind 7 earlier" in text
    assert "concurrent-predictions" in text
    assert len(result.out.splitlines()) <= 24

    result = tracekit("why", samples / "captions_concurrent.trace", "--slowest", "3", "-q")
    assert result.out.count("CaptionEncoder at ") == 3
    assert "usual:" not in result.out

    for quiet in ((), ("-q",)):
        result = tracekit("why", samples / "captions_concurrent.trace", "--over", "2s", *quiet)
        sentence = "no prediction takes longer than 2.00 s; the longest takes 97.5 ms."
        assert (result.status, result.out.strip()) == (3, f"Nothing to explain: {sentence}")


def test_a_page_draws_the_chain_of_what_a_prediction_waited_for(tracekit, samples, tmp_path):
    """Of the 8 in flight, each of 7 ran on the Neural Engine after the one called before it, and then the slow one."""
    page = tmp_path / "why.html"
    tracekit("why", samples / "captions_concurrent.trace", "-o", page)
    # Of a usual one, the Neural Engine works in its color, and the wait beyond that has that of queues.
    parts = page.read_text("utf-8").partition('class="why-pictures"')[2].partition("</figure>")[0]
    usual, own = (re.findall(r' class="(\w+)"><title>(\D+) ', bar) for bar in parts.split("<svg")[1:])
    assert usual == [("g0", "Neural Engine"), ("g3", "copies and conversions"), ("g8", "rest")]
    assert own[: len(usual) + 1] == [*usual, ("g4", "queued behind predictions of this model")]
    chain = page.read_text("utf-8").partition('class="pairs chain"')[2].partition("</figure>")[0]
    lines = [line.partition("</div>")[0] for line in chain.split('<div class="pair">')[1:]]
    names = [re.match(r"<span>(.*?)</span>", line)[1] for line in lines]
    called = [float(name.removeprefix("at ").removesuffix(" s")) for name in names[:-1]]
    assert (len(called), called, names[-1]) == (7, sorted(called), "this one")
    ran = [re.findall(r'<rect x="([\d.]+)" y="0" width="([\d.]+)" height="10" class="c-ane"/>', line) for line in lines]
    starts, ends = zip(*((float(at), float(at) + float(width)) for ((at, width),) in ran), strict=True)
    assert all(0 <= start - end < 0.5 for end, start in zip(ends, starts[1:], strict=False))
    assert ends[-1] <= 100

    tracekit("why", samples / "style_transfer_reload.trace", "-o", page)
    assert 'class="why-pictures"' in page.read_text("utf-8")
    assert 'class="pairs chain"' not in page.read_text("utf-8")


def test_parts_add_up_in_json_and_python(tracekit, samples):
    path = samples / "captions_concurrent.trace"
    document = tracekit("why", path, "--slowest", "3", "--json").json
    (model,) = document["models"]
    assert len(model["predictions"]) == 3
    for why in model["predictions"]:
        assert sum(part["ns"] for part in why["parts"]) == why["duration_ns"] - why["usual_ns"]
        assert sum(why["usual"].values()) == why["usual_ns"]
    frame = package.read(path).why(slowest=3).to_frame()
    grouped = frame.groupby("prediction")
    assert (grouped["ns"].sum() == grouped["duration_ns"].first() - grouped["usual_ns"].first()).all()
    assert frame["prediction"].drop_duplicates().tolist() == [why["prediction"] for why in model["predictions"]]


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        (("--at", "1.340"), 1),
        (("--at", "1.34", "--slowest", "3"), 3),
        (("--percentile", "50"), 1),
        (("--over", "96ms"), 4),
        (("--over", "96ms", "--slowest", "2"), 2),
        (("--model", "Caption*", "--slowest", "5"), 5),
    ],
)
def test_options_choose_predictions(tracekit, samples, arguments, count):
    result = tracekit("why", samples / "captions_concurrent.trace", *arguments, "--json")
    assert result.status == 0
    assert len(result.json["models"][0]["predictions"]) == count


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--model", "Nobody"), "unknown model 'Nobody' (available: CaptionEncoder)"),
        (("--at", "soon"), "argument --at: expected a time such as 20ms, 3s or 00:02.896, found 'soon'"),
        (("--percentile", "100"), "argument --percentile: expected a percentile above 0 and below 100, found '100'"),
        (("--slowest", "0"), "argument --slowest: expected a number from 1 to 1,000, found '0'"),
    ],
)
def test_bad_usage_is_a_sentence(tracekit, samples, arguments, sentence):
    result = tracekit("why", samples / "captions_concurrent.trace", *arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"tracekit: {sentence}")


def test_a_slower_prediction_of_another_model_is_named(tracekit, samples):
    path, said = (
        samples / "style_transfer_reload.trace",
        "slower in another model: Watercolor, 8.50 ms (--model Watercolor)",
    )
    assert said in tracekit("why", path).out.splitlines()
    assert tracekit("why", path, "--json").json["slower"]["model"] == "Watercolor"
    # Not of the slowest itself, nor of one that another question is about.
    for choice in (("--model", "Pointillism"), ("--model", "Watercolor"), ("--percentile", "50")):
        assert "slower in another" not in tracekit("why", path, *choice).out


def test_what_is_piped_names_no_folder_and_what_is_typed_stays(tracekit, samples, monkeypatch):
    monkeypatch.chdir(samples)
    for typed, shown in ((samples / "sharpen_8bit.trace", "sharpen_8bit.trace"), ("./sharpen_8bit.trace",) * 2):
        assert f"savings: tracekit why {shown} --without" in tracekit("why", typed).out


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (0, "the recording shows no predictions; `tracekit analyze` says what it shows"),
        (1, "Net has 1 prediction; 3 are needed"),
        (4, "no prediction is in flight at or after 0.900 s; the recording is 1.00 s long"),
    ],
)
def test_where_nothing_is_explained_it_says_why(tracekit, tmp_path, count, sentence):
    scenario = Scenario(Process("App", 412), duration_ns=1_000 * MS)
    scenario.load(Model("Net"), 1 * MS, 20 * MS)
    for number in range(count):
        scenario.predict(Model("Net"), (100 + 100 * number) * MS, 10 * MS)
    result = tracekit(
        "why", write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64), "--no-config", "--at", "0.9"
    )
    assert (result.status, result.out.strip()) == (3, f"Nothing to explain: {sentence}.")


def test_checks_and_functions_go_on_request(tracekit, samples, tmp_path):
    config = tmp_path / "tracekit.toml"
    config.write_text('skip = ["concurrent-predictions"]\n[checks.gpu-contention]\nwait_share = 0.3\n')
    result = tracekit("why", samples / "captions_concurrent.trace", "--config", config)
    assert result.status == 0
    assert "queued for the Neural Engine" in " ".join(result.out.split())
    assert "concurrent-predictions" not in result.out

    for flags, shown in (((), True), (("--no-functions",), False)):
        result = tracekit("why", samples / "sharpen_8bit.trace", *flags)
        assert ("PhotoFilter.sharpen" in result.out) is shown


def test_names_of_other_processes_go_unless_they_are_wanted(tracekit, tmp_path):
    scenario = Scenario(Process("App", 412), duration_ns=4_000 * MS)
    net, other = Model("Net"), Process("Secretive", 77)
    scenario.processes.append(other)
    for number in range(20):
        start = (100 + 100 * number) * MS
        if number == 10:
            scenario.gpu_work(start - MS, 21 * MS, other)
        wait = 19 * MS if number == 10 else 0
        scenario.predict(net, start, 10 * MS + wait).gpu(1 * MS + wait, 8 * MS)
    path = write_bundle(scenario, tmp_path / "run.trace", rows_per_block=64)
    for flags, shown in (((), False), (("--no-redact",), True)):
        for form in (("--json",), ()):
            result = tracekit("why", path, "--no-config", *flags, *form)
            assert ("Secretive" in result.out) is shown
            assert ("process A" in result.out) is not shown
