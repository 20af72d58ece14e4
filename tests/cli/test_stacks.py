"""`tracekit stacks`: the call tree of a part of a recording."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tracekit.cli.dispatch import dispatch
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
        assert dispatch(["stacks", recording, "--quiet", "--format", "collapsed", *arguments]) == 0
        return sorted(capsys.readouterr().out.splitlines())

    return run


def test_the_whole_recording(lines: Callable[..., list[str]]) -> None:
    assert lines() == ["App.draw;read 1", "App.load;read 1", "App.work;read 1"]


def test_a_part_of_it(lines: Callable[..., list[str]]) -> None:
    assert lines("--range", "0.4..0.9") == ["App.draw;read 1"]
    assert lines("--range", "..0.5") == ["App.load;read 1"]
    assert lines("--thread", "main") == ["App.draw;read 1", "App.load;read 1"]
    assert lines("--thread", "WORKER") == ["App.work;read 1"]
    assert lines("--thread", "10", "--app-only") == ["App.work 1"]
    assert lines("--invert", "--range", "1..") == ["read;App.work 1"]


def test_text_and_speedscope(recording: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["stacks", recording, "--quiet"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[:2] == ["3 samples of running threads", "      1  33%  App.load  [App]"]
    assert "someone" not in text
    assert dispatch(["stacks", recording, "--quiet", "--format", "speedscope"]) == 0
    assert json.loads(capsys.readouterr().out)["profiles"][0]["weights"] == [1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--range", "3"], "invalid range value"),
        (["--range", "5..4"], "invalid range value"),
        (["--model", "Nothing"], "unknown model 'Nothing'"),
    ],
)
def test_what_cannot_be_chosen_is_told(
    recording: str, capsys: pytest.CaptureFixture[str], arguments: list[str], why: str
) -> None:
    assert dispatch(["stacks", recording, *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_recording_without_samples_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    column = "<mnemonic>update-time</mnemonic><name>u</name><engineering-type>sample-time</engineering-type>"
    schema = f'<schema name="time-info"><col>{column}</col></schema>'
    node = f"<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{schema}</node>"
    (tmp_path / "b.xml").write_text(f'<?xml version="1.0"?><trace-query-result>{node}</trace-query-result>')
    assert dispatch(["stacks", str(tmp_path / "b.xml")]) == 2
    assert "contains no call stacks" in capsys.readouterr().err


def test_the_samples_behind_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    for _ in range(10):
        app.load(Model("Net"), 20_000_000)
        app.predict(Model("Net"), cpu(5_000_000), inputs=0)
    app.busy(9_000_000, app_function("idle", 3))
    path = str(write_bundle(app.finish(), tmp_path / "a.trace", rows_per_block=64))
    command = ["stacks", path, "--quiet", "--format", "collapsed", "--app-only", "--finding"]
    assert dispatch([*command, "reload-before-predict"]) == 0
    # Nine of the ten loads are reloads.
    assert capsys.readouterr().out == "App.run;App.apply 180\n"
    assert dispatch([*command, "cold-load"]) == 2
    assert "cold-load has no finding in this recording" in capsys.readouterr().err
    assert dispatch([*command, "nothing"]) == 2
    assert "unknown check 'nothing'" in capsys.readouterr().err


@pytest.mark.corpus
def test_a_finding_of_a_public_recording(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus / "bundles/quick_probe.trace")
    assert dispatch(["stacks", path, "--quiet", "--finding", "element-wise-access"]) == 0
    assert capsys.readouterr().out.startswith("97 samples of running threads\n")


@pytest.mark.corpus
def test_a_public_recording(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus / "bundles/fp16_w8_60s_all.trace")
    assert dispatch(["stacks", path, "--quiet", "--app-only", "--model", "MambaASR_fp16_w8"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "    340 100%  MambaASRRunner_main  [MambaASRRunner]",
        "    340 100%    MambaASRRunner.runStreaming  [MambaASRRunner]",
    ]
