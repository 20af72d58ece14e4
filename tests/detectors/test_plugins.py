"""Detectors of other packages are found, run and reported; a broken package does not end the analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracekit
from tracekit.cli.main import main
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.registry import DETECTORS
from tracekit.testing import write_export
from tracekit.testing.rows import Model

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "plugin-example"
MS = 1_000_000
CHANGED = """
from dataclasses import make_dataclass, replace
from tracekit.detectors.cold_load import DETECTOR
DETECTOR = replace(DETECTOR, {})
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package look installed: its code on the path, and metadata with an entry point."""

    def installed(package, name, value, code=None):
        folder = tmp_path / "site"
        info = folder / f"{package.replace('-', '_')}-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(f"[tracekit.detectors]\n{name} = {value}\n")
        for file, text in (code or {}).items():
            (folder / file).write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.syspath_prepend(str(EXAMPLE))
        all_detectors.cache_clear()

    yield installed
    monkeypatch.undo()
    all_detectors.cache_clear()


@pytest.fixture
def recording(scenario, tmp_path):
    scenario.load(Model("Late"), 0, 20 * MS)
    scenario.load(Model("Soon"), 0, 20 * MS)
    for k in range(5):
        scenario.predict(Model("Late"), (1_520 + 20 * k) * MS, 5 * MS)
        scenario.predict(Model("Soon"), (30 + 20 * k) * MS, 5 * MS)
    write_export(scenario, tmp_path / "recording")
    return tmp_path / "recording"


def test_without_packages_there_are_only_our_own(monkeypatch):
    all_detectors.cache_clear()
    assert all_detectors() == DETECTORS


def test_the_example_package_judges_a_recording(install, recording):
    install("tracekit-first-call", "first-call", "tracekit_first_call:DETECTOR")
    checks = {check.model: check for check in tracekit.analyze(recording, only=["first-call"]).checks}
    assert (checks["Late"].outcome, checks["Soon"].outcome) == ("finding", "passed")
    assert checks["Late"].cost.ns == 1_500 * MS
    assert checks["Late"].summary == "Loaded, and first used 1.50 s later."


def test_the_example_leaves_out_predictions_before_the_load(install, scenario, tmp_path):
    install("tracekit-first-call", "first-call", "tracekit_first_call:DETECTOR")
    scenario.predict(Model("Again"), 0, 5 * MS)
    scenario.load(Model("Again"), 10 * MS, 20 * MS)
    scenario.predict(Model("Again"), 30 * MS, 5 * MS)
    scenario.predict(Model("Before"), 0, 5 * MS)
    scenario.load(Model("Before"), 10 * MS, 20 * MS)
    write_export(scenario, tmp_path / "again")
    report = tracekit.analyze(tmp_path / "again", only=["first-call"], settings={"first-call.wait_s": 0})
    assert {check.model: check.outcome for check in report.checks} == {"Again": "passed", "Before": "not_applicable"}


def test_the_example_is_configured_listed_and_explained_like_our_own(install, recording, capsys):
    install("tracekit-first-call", "first-call", "tracekit_first_call:DETECTOR")
    settings = {"first-call.wait_s": 2}
    assert tracekit.analyze(recording, only=["first-call"], settings=settings).summary.findings == 0
    assert main(["detectors"]) == 0
    assert "first-call (from tracekit-first-call)" in capsys.readouterr().out
    assert main(["explain", "first-call"]) == 0
    assert "The first prediction comes long after the load" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "code", "reason"),
    [
        ("unimportable:DETECTOR", {"unimportable.py": "import not_there_at_all\n"}, "ModuleNotFoundError"),
        ("number:DETECTOR", {"number.py": "DETECTOR = 7\n"}, "holds an object of type int"),
        (
            "double:DETECTOR",
            {"double.py": "from tracekit.detectors.cold_load import DETECTOR\n"},
            "there is a detector 'cold-load' already",
        ),
        *(
            (f"{name}:DETECTOR", {f"{name}.py": CHANGED.format(change)}, reason)
            for name, change, reason in (
                ("dotted", "id='my.detector'", "the id 'my.detector' is not in kebab case"),
                ("needy", "id='mine', needs=('Neural Engines',)", "looks at 'Neural Engines', which is none of"),
                ("optionless", "id='mine', options=int", "TypeError"),
                ("plain", "id='mine', options=make_dataclass('O', [('x', int, 3)])", "KeyError: 'unit'"),
                ("silent", "id='mine', detect=None", "'mine' has nothing to call"),
                ("patternless", "id='mine', pattern='slow'", "the pattern of 'mine' is no Pattern"),
            )
        ),
    ],
    ids=["import", "type", "id", "dotted", "needs", "options", "plain options", "detect", "pattern"],
)
def test_a_package_that_cannot_be_loaded_fails_alone_and_is_told(install, recording, capsys, value, code, reason):
    install("broken-package", "mine", value, code)
    report = tracekit.analyze(recording)
    failed = [check for check in report.checks if check.outcome == "error"]
    assert [check.id for check in failed] == ["broken-package:mine"]
    assert reason in failed[0].summary
    assert "uninstall the package 'broken-package'" in failed[0].summary
    assert report.summary.judged
    assert main(["analyze", str(recording)]) == 2
    assert "broken-package:mine" in capsys.readouterr().out


EXITING = """
import sys
from dataclasses import replace
from tracekit.detectors.cold_load import DETECTOR
DETECTOR = replace(DETECTOR, id="exiting", detect=lambda view, options: sys.exit("enough"))
"""


@pytest.mark.parametrize(
    ("code", "id_", "count"),
    [("raise SystemExit('enough')\n", "exiting-package:mine", 1), (EXITING, "exiting", 2)],
    ids=["loading", "judging"],
)
def test_a_package_that_exits_does_not_end_the_analysis(install, recording, code, id_, count):
    install("exiting-package", "mine", "exiting_one:DETECTOR", {"exiting_one.py": code})
    report = tracekit.analyze(recording)
    failed = [check for check in report.checks if check.outcome == "error"]
    assert [check.id for check in failed] == [id_] * count
    assert all("SystemExit: enough" in check.summary for check in failed)
    assert report.summary.judged
