"""`tracekit stacks`: the call tree of a part of a recording."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tracekit.cli.dispatch import main
from tracekit.testing import Draws, Model, cpu, start_recording, write_bundle
from tracekit.testing.stacks import app_function

HEAD = """<?xml version="1.0"?><trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[4]'>
<schema name="time-profile"><col><mnemonic>time</mnemonic><name>t</name><engineering-type>sample-time</engineering-type>
</col><col><mnemonic>thread</mnemonic><name>t</name><engineering-type>thread</engineering-type></col><col><mnemonic>stack
</mnemonic><name>s</name><engineering-type>backtrace</engineering-type></col></schema>"""


def frame(identity: int, name: str, path: str) -> str:
    library = path.rpartition("/")[2]
    return (
        f'<frame id="{identity}" name="{name}" addr="0x11{identity}"><binary id="{identity + 100}" name="{library}" '
        f'load-addr="0x10" path="{path}"/></frame>'
    )


@pytest.fixture
def recording(tmp_path: Path) -> str:
    threads = ["Main Thread (0x9) (App, pid: 7)", "worker (0xa) (App, pid: 7)"]
    rows = ""
    for number, (thread, function) in enumerate([(0, "App.load()"), (0, "App.draw()"), (1, "App.work()")]):
        at = 1000 * (number + 1)
        stack = frame(at + 3, "read", "/usr/lib/libc.dylib") + frame(at + 4, function, "/Users/someone/App")
        rows += (
            f'<row><sample-time id="{at}" fmt="x">{number * 500_000_000}</sample-time><thread id="{at + 1}" '
            f'fmt="{threads[thread]}"><tid id="{at + 2}" fmt="x">{9 + thread}</tid></thread>'
            f'<backtrace id="{at + 5}">{stack}</backtrace></row>'
        )
    (tmp_path / "a.xml").write_text(f"{HEAD}{rows}</node></trace-query-result>")
    return str(tmp_path / "a.xml")


@pytest.fixture
def lines(recording: str, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    def run(*arguments: str) -> list[str]:
        assert main(["stacks", recording, "--quiet", "--format", "collapsed", *arguments]) == 0
        return sorted(capsys.readouterr().out.splitlines())

    return run


def test_a_page_holds_the_flame_graph_of_what_was_chosen_and_folds_as_the_text(recording: str, tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    assert main(["stacks", recording, "--thread", "worker", "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    assert all(part in text for part in ("1 samples of running threads.", 'id="flame"', 'id="flame-columns"'))
    (meta,) = re.findall(r'id="flame-meta">([^<]*)<', text)
    assert json.loads(meta)["flame"]["samples"] == 1
    names = [name for name, _, _ in json.loads(meta)["flame"]["functions"]]
    assert sorted(names) == ["App.work", "read"]

    def functions(*options: str) -> set[str]:
        page = tmp_path / "a.html"
        assert main(["stacks", recording, *options, "-o", str(page)]) == 0
        (meta,) = re.findall(r'id="flame-meta">([^<]*)<', page.read_text("utf-8"))
        return {name for name, _, _ in json.loads(meta)["flame"]["functions"]}

    assert functions() == functions("--functions", "folded")
    assert functions("--functions", "app") < functions() <= functions("--functions", "all")


def test_a_part_of_it(lines: Callable[..., list[str]], recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines() == ["App.draw;read 1", "App.load;read 1", "App.work;read 1"]

    assert lines("--from", "0.4", "--to", "0.9") == ["App.draw;read 1"]
    assert lines("--to", "0.5") == ["App.load;read 1"]
    assert lines("--thread", "main") == ["App.draw;read 1", "App.load;read 1"]
    assert lines("--thread", "WORKER") == ["App.work;read 1"]
    assert lines("--thread", "10", "--functions", "app") == ["App.work 1"]
    assert main(["stacks", recording, "--thread", "mian"]) == 2
    assert "unknown thread 'mian'; did you mean 'main'? (available: main, 9, 10)" in capsys.readouterr().err
    assert lines("--invert", "--from", "1") == ["read;App.work 1"]


def test_text_and_speedscope(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stacks", recording, "--quiet"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[:2] == ["3 samples of running threads", "      1  33%  App.load  [App]"]
    assert "someone" not in text
    assert main(["stacks", recording, "--quiet", "--format", "speedscope"]) == 0
    assert json.loads(capsys.readouterr().out)["profiles"][0]["weights"] == [1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--from", "x"], "expected a time such as 20ms, 3s or 00:02.896, found 'x'"),
        (["--from", "5", "--to", "4"], "--from must be before --to"),
        (["--model", "Nothing"], "unknown model 'Nothing'"),
    ],
)
def test_what_cannot_be_chosen_is_told(
    recording: str, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert main(["stacks", recording, *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_recording_without_samples_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    column = "<mnemonic>update-time</mnemonic><name>u</name><engineering-type>sample-time</engineering-type>"
    schema = f'<schema name="time-info"><col>{column}</col></schema>'
    node = f"<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{schema}</node>"
    (tmp_path / "b.xml").write_text(f'<?xml version="1.0"?><trace-query-result>{node}</trace-query-result>')
    assert main(["stacks", str(tmp_path / "b.xml")]) == 2
    assert "whether Call Stacks were recorded" in capsys.readouterr().err


def test_the_samples_behind_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    for _ in range(10):
        app.load(Model("Net"), 20_000_000)
        app.predict(Model("Net"), cpu(5_000_000), inputs=0)
    app.busy(9_000_000, app_function("idle", 3))
    path = str(write_bundle(app.finish(), tmp_path / "a.trace", rows_per_block=64))
    command = ["stacks", path, "--quiet", "--format", "collapsed", "--functions", "app", "--finding"]
    assert main([*command, "reload-before-predict"]) == 0
    # Nine of the ten loads are reloads.
    assert capsys.readouterr().out == "App.run;App.apply 180\n"
    assert main([*command, "cold-load"]) == 2
    assert "cold-load has no finding in this recording" in capsys.readouterr().err
    assert main([*command, "nothing"]) == 2
    assert "unknown check 'nothing'" in capsys.readouterr().err


@pytest.mark.sweep
@pytest.mark.corpus
def test_a_finding_of_a_public_recording(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus / "bundles/quick_probe.trace")
    assert main(["stacks", path, "--quiet", "--finding", "element-wise-access"]) == 0
    assert capsys.readouterr().out.startswith("97 samples of running threads\n")


CYCLES = HEAD.replace("time-profile", "cpu-profile").replace(
    "</schema>",
    "<col><mnemonic>weight</mnemonic><name>Cycles</name><engineering-type>cycle-weight</engineering-type></col></schema>",
)
EVENTS = CYCLES.replace("cpu-profile", "counters-profile").replace("cycle-weight", "any")
TOC = """<?xml version="1.0"?><trace-toc><run number="1"><info><target><process name="App" pid="7"/></target><summary>
<start-date>2023-08-27T19:45:02.632+02:00</start-date><end-date>2023-08-27T19:45:03.437+02:00</end-date><duration>0.8
</duration></summary></info><data>{tables}</data></run></trace-toc>"""


def counted(head: str, cell: str) -> str:
    """Two samples: 300 of what is counted in `load`, 100 in `draw`."""
    rows = ""
    for number, (function, weight) in enumerate([("App.load()", 300), ("App.draw()", 100)]):
        at = 1000 * (number + 1)
        rows += (
            f'<row><sample-time id="{at}" fmt="x">{number}</sample-time><thread id="{at + 1}" fmt="Main Thread (0x9) '
            f'(App, pid: 7)"><tid id="{at + 2}" fmt="x">9</tid></thread><backtrace id="{at + 5}">'
            f"{frame(at + 4, function, '/Users/someone/App')}</backtrace>"
            f'<{cell} id="{at + 9}" fmt="x">{weight}</{cell}></row>'
        )
    return f"{head}{rows}</node></trace-query-result>"


@pytest.mark.parametrize(
    ("head", "cell", "unit"), [(CYCLES, "cycle-weight", "CPU cycles"), (EVENTS, "pmc-event", "counter events")]
)
def test_samples_by_a_counter_are_weighted_by_what_it_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], head: str, cell: str, unit: str
) -> None:
    path = tmp_path / "a.xml"
    path.write_text(counted(head, cell))
    assert main(["stacks", str(path)]) == 0
    title, first, second = capsys.readouterr().out.splitlines()
    assert title.startswith(f"2 samples of running threads, 400 {unit}: numbers and shares are of these, not of time")
    assert [line.split() for line in (first, second)] == [
        ["300", "75%", "App.load", "[App]"],
        ["100", "25%", "App.draw", "[App]"],
    ]
    assert main(["stacks", str(path), "--format", "collapsed"]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["App.draw 100", "App.load 300"]
    assert main(["stacks", str(path), "--finding", "cold-load"]) == 2
    assert f"these were by {unit}" in capsys.readouterr().err


def test_the_report_says_what_samples_by_a_counter_stand_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.xml"
    path.write_text(counted(CYCLES, "cycle-weight"))
    main(["analyze", str(path), "--format", "json", "--quiet"])
    report = json.loads(capsys.readouterr().out)
    code = report["code"]
    assert [code[key] for key in ("samples", "unit", "weight", "call_sites")] == [2, "CPU cycles", 400, []]
    (check,) = [each for each in report["results"] if each["id"] == "element-wise-access"]
    assert check["outcome"] == "not_evaluated"
    assert "not by time" in json.dumps(check)
    assert check["record"] == "Record with --instrument 'Time Profiler'; `tracekit stacks` shows these."
    main(["analyze", str(path), "-v"])
    assert "sampled by CPU cycles (400 in all), not by time" in " ".join(capsys.readouterr().out.split())


def test_call_stacks_that_were_not_exported_are_to_be_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "toc.xml"
    for schema in ("time-profile", "cpu-profile", "counters-profile"):
        path.write_text(TOC.format(tables=f'<table schema="{schema}"/>'))
        assert main(["stacks", str(path)]) == 2
        error = capsys.readouterr().err
        assert "recorded but not exported; " in error
        assert "export them: `xcrun xctrace export --input" in error
        assert f'table[@schema="{schema}"]' in error
        # Checks read samples by time alone.
        by_time = (
            "record with --instrument 'Time Profiler', which checks need; to see these samples in `tracekit stacks`"
        )
        assert (by_time in error) is (schema != "time-profile")
    path.write_text(TOC.format(tables='<table schema="tick"/>'))
    assert main(["stacks", str(path)]) == 2
    assert "Call Stacks were not recorded; record with --instrument 'Time Profiler'" in capsys.readouterr().err


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize("table", ["cpu-profile", "counters-profile"])
def test_samples_by_a_counter_of_a_real_recording(corpus: Path, capsys: pytest.CaptureFixture[str], table: str) -> None:
    path = corpus / f"xml/xcode26.4.1-{table}.xml"
    rows = re.findall(r"<row>(.*?)</row>", path.read_text(encoding="utf-8"), re.DOTALL)
    cell = r'<(?:cycle-weight|pmc-event) (?:id="(\d+)" [^>]*>(\d+)<|ref="(\d+)"/>)'
    weights: dict[str, int] = {}
    total = 0
    for row in rows:
        identity, number, reference = re.search(cell, row).groups()  # type: ignore[union-attr]
        weights |= {identity: int(number)} if identity else {}
        total += weights[identity or reference] if "backtrace" in row else 0
    assert main(["stacks", str(path), "--quiet"]) == 0
    assert f" {total:,} " in capsys.readouterr().out.splitlines()[0]
