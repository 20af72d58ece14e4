"""What was meant: the path beside a wrong one, the command that takes a file, the folder that can be made."""

from __future__ import annotations

import json
import shutil
import webbrowser
from functools import partial
from pathlib import Path

import pytest

import tracekit as package
from support.choice import sweep_rest
from support.performance_reports import wwdc22


@pytest.fixture
def folder(
    tmp_path: Path, samples: Path, reports: Path, built_models: Path, unchanged_folders: set[Path], monkeypatch
) -> Path:
    """The current folder, with a file of each kind."""
    monkeypatch.chdir(tmp_path)
    unchanged_folders.add(tmp_path)
    Path("run.trace").symlink_to(samples / "sharpen_8bit.trace")
    Path("Model.mlpackage").symlink_to(built_models / "multifunction.mlpackage")
    shutil.copy(sorted(reports.iterdir())[0], "report.json")
    Path("timed.json").write_text(json.dumps(wwdc22()))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        ("analyze Model.mlpackage", "Model.mlpackage is a model file; use `tracekit inspect Model.mlpackage`"),
        ("stacks Model.mlpackage", "use `tracekit inspect Model.mlpackage`"),
        ("compare Model.mlpackage run.trace", "use `tracekit inspect Model.mlpackage`"),
        ("check Model.mlpackage --no-config", "use `tracekit inspect Model.mlpackage`"),
        ("export Model.mlpackage", "use `tracekit inspect Model.mlpackage`"),
        ("explain timed.json", "timed.json is a performance report; use `tracekit inspect timed.json`"),
        ("analyze report.json", "a JSON report, which `tracekit compare`, `check` and `history` take"),
        ("inspect run.trace", "run.trace is a recording; use `tracekit analyze run.trace`"),
        ("inspect report.json", "a JSON report, which `tracekit compare`, `check` and `history` take"),
        ("analyze rum.trace", "rum.trace: no such file or directory; did you mean 'run.trace'?"),
        ("inspect Modell.mlpackage", "did you mean 'Model.mlpackage'?"),
    ],
)
def test_a_file_of_another_command_and_a_typo_are_told(tracekit, folder: Path, command: str, advice: str) -> None:
    result = tracekit(*command.split())
    assert result.status == 2
    assert advice in " ".join(f"{result.out} {result.err}".split())


def test_python_keywords_are_suggested_too(tmp_path: Path) -> None:
    for call, meant in (
        (partial(package.analyze, tmp_path, buget=3), "budget"),
        (partial(package.read, tmp_path, reder="native"), "reader"),
        (partial(package.open_recording, tmp_path, scheams=()), "schemas"),
        (partial(package.compare, tmp_path, tmp_path, modls="x"), "models"),
    ):
        with pytest.raises(TypeError, match=f"unexpected keyword argument .*; did you mean '{meant}'"):
            call()


@pytest.mark.parametrize(("name", "meant"), [("excess-data-copy", "excess-data-copies"), ("load-churns", "load-churn")])
def test_checks_are_suggested_by_every_command(tracekit, samples: Path, name: str, meant: str) -> None:
    path = samples / "sharpen_8bit.trace"
    for words in (["analyze", path, "--only", name], ["explain", name], ["why", path, "--without", name]):
        assert f"did you mean '{meant}'?" in tracekit(*words).err


def test_a_name_that_is_far_from_all_others_gets_no_suggestion_and_a_folder_gets_its_own(
    tracekit, folder: Path
) -> None:
    assert tracekit("analyze", "gone.trace").err == "tracekit: gone.trace: no such file or directory\n"

    (folder / "recordings").mkdir()
    result = tracekit("analyze", folder / "recordigns" / "a.trace")
    assert result.status == 2
    assert "; did you mean 'recordings'?" in result.err


def test_a_baseline_is_said_to_be_one(tracekit, folder: Path) -> None:
    saved = tracekit("check", "run.trace", "--baseline", "perf/phone/base.json", "--save-baseline", "--no-config")
    assert saved.status == 0, "folders inside the current one are made"
    for command in (["analyze"], ["compare", "run.trace"], ["inspect"]):
        result = tracekit(*command, "perf/phone/base.json")
        assert result.status == 2
        assert "base.json is a baseline; use `tracekit check RECORDING --baseline perf/phone/base.json`" in result.err


def test_folders_are_made_inside_the_current_one_alone(tracekit, folder: Path, tmp_path_factory) -> None:
    assert tracekit("analyze", "run.trace", "-q", "-o", "new/folder/report.md").status == 0
    assert (folder / "new" / "folder" / "report.md").exists()
    outside = tmp_path_factory.mktemp("outside") / "new"
    for option, path in (("-o", outside / "report.md"), ("--folder", outside / "new")):
        refused = tracekit("analyze", "run.trace", option, path)
        assert refused.status == 2
        assert "no such folder" in refused.err
    assert not outside.exists()


@pytest.mark.parametrize("command", sweep_rest("analyze", "compare report.json"))
def test_the_page_is_opened(tracekit, folder: Path, monkeypatch, command: str) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    tracekit(*command.split(), "run.trace", "--open")
    tracekit(*command.split(), "run.trace", "--open", "-o", "page.html")
    first, second = (Path(address.removeprefix("file://")) for address in opened)
    assert first.read_bytes() == second.read_bytes() != b""
    assert second == folder / "page.html"


def test_without_a_browser_the_path_is_told(tracekit, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    result = tracekit("analyze", "run.trace", "--open", "-o", "page.html")
    assert result.status == 0
    assert "no browser could be started; open page.html yourself" in result.err
