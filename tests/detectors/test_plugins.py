"""Detectors of other packages are found, run and reported; a broken package does not end the analysis."""

import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import SimpleNamespace

import pytest

import tracekit
from support.choice import sweep_rest
from tracekit.api import judge
from tracekit.cli.dispatch import main
from tracekit.detectors import plugins
from tracekit.detectors.plugins import all_detectors
from tracekit.detectors.registry import DETECTORS
from tracekit.request import Request
from tracekit.testing import Process, Scenario, write_export
from tracekit.testing.rows import Model

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "plugin-example"
MS = 1_000_000
PATTERNLESS = "id='mine', page=replace(DETECTOR.page, pattern='slow')"
CHANGED = """
from dataclasses import make_dataclass, replace
from functools import partial
from tracekit.detectors.pages import BESIDE
from tracekit.detectors.rules.cold_load import DETECTOR
DETECTOR = replace(DETECTOR, {})
"""


OURS = tuple(
    each for each in DETECTORS if each.id in ("cold-load", "reload-before-predict", "excess-data-copies", "run-issues")
)
"""Enough of our own checks to see that a package leaves them alone."""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package look installed: its code on the path, and metadata with an entry point."""
    monkeypatch.setattr(plugins, "DETECTORS", OURS)

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


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    scenario = Scenario(Process("App", 700), duration_ns=10_000 * MS)
    scenario.load(Model("Late"), 0, 20 * MS)
    scenario.load(Model("Soon"), 0, 20 * MS)
    for k in range(5):
        scenario.predict(Model("Late"), (1_520 + 20 * k) * MS, 5 * MS)
        scenario.predict(Model("Soon"), (30 + 20 * k) * MS, 5 * MS)
    folder = tmp_path_factory.mktemp("plug-ins") / "recording"
    write_export(scenario, folder)
    return folder


@cache
def opened(recording):
    return tracekit.open_trace(recording)


def test_where_no_package_names_the_group_the_metadata_of_none_is_read(monkeypatch):
    all_detectors.cache_clear()
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: pytest.fail("read"))
    # Some libraries bring a finder of their own.
    usual = [finder for finder in sys.meta_path if finder is PathFinder or not hasattr(finder, "find_distributions")]
    monkeypatch.setattr(sys, "meta_path", usual)
    assert all_detectors() == DETECTORS


@pytest.mark.parametrize("kind", ["archive", "egg-info", "egg", "finder"])
def test_packages_are_found_wherever_python_finds_them(kind, tmp_path, monkeypatch):
    declared = "[tracekit.detectors]\nfirst-call = tracekit_first_call:DETECTOR\n"
    metadata = "Metadata-Version: 2.1\nName: tracekit-first-call\nVersion: 0.1.0\n"
    monkeypatch.syspath_prepend(str(EXAMPLE))
    if kind == "archive":
        with zipfile.ZipFile(tmp_path / "packages.zip", "w") as archive:
            archive.writestr("tracekit_first_call-0.1.0.dist-info/METADATA", metadata)
            archive.writestr("tracekit_first_call-0.1.0.dist-info/entry_points.txt", declared)
        monkeypatch.syspath_prepend(str(tmp_path / "packages.zip"))
    else:
        info = {"egg": "tracekit_first_call-0.1.0.egg/EGG-INFO"}.get(kind, "tracekit_first_call.egg-info")
        folder = tmp_path / info
        folder.mkdir(parents=True)
        (folder / "PKG-INFO").write_text(metadata)
        (folder / "entry_points.txt").write_text(declared)
        if kind == "finder":
            found = [importlib.metadata.PathDistribution(folder)]
            finder = SimpleNamespace(find_spec=lambda *_: None, find_distributions=lambda *_: found)
            monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
        else:
            monkeypatch.syspath_prepend(str(folder.parent))
    all_detectors.cache_clear()
    try:
        assert [each.id for each in all_detectors()[len(DETECTORS) :]] == ["first-call"]
    finally:
        all_detectors.cache_clear()


def test_the_example_package_judges_a_recording(install, recording):
    install("tracekit-first-call", "first-call", "tracekit_first_call:DETECTOR")
    checks = {check.model: check for check in tracekit.analyze(recording, only=["first-call"]).results}
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
    assert {check.model: check.outcome for check in report.results} == {"Again": "passed", "Before": "not_applicable"}


def test_the_example_is_configured_listed_and_explained_like_our_own(install, recording, capsys):
    install("tracekit-first-call", "first-call", "tracekit_first_call:DETECTOR")
    settings = {"first-call.wait_s": 2}
    assert tracekit.analyze(recording, only=["first-call"], settings=settings).summary.findings == 0
    assert main(["explain"]) == 0
    assert "first-call (from tracekit-first-call)" in capsys.readouterr().out
    assert main(["explain", "first-call"]) == 0
    assert "The first prediction comes long after the load" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "code", "reason"),
    [
        ("unimportable:DETECTOR", {"unimportable.py": "import not_there_at_all\n"}, "ModuleNotFoundError"),
        ("number:DETECTOR", {"number.py": "DETECTOR = 7\n"}, "contains an object of type int"),
        (
            "double:DETECTOR",
            {"double.py": "from tracekit.detectors.rules.cold_load import DETECTOR\n"},
            "a check 'cold-load' already exists",
        ),
        *(
            (f"{name}:DETECTOR", {f"{name}.py": CHANGED.format(change)}, reason)
            for name, change, reason in (
                ("dotted", "id='my.detector'", "the id 'my.detector' is not in kebab case"),
                ("needy", "id='mine', needs=('Neural Engines',)", "looks at 'Neural Engines', which is none of"),
                ("optionless", "id='mine', options=int", "TypeError"),
                ("plain", "id='mine', options=make_dataclass('O', [('x', int, 3)])", "KeyError: 'unit'"),
                ("silent", "id='mine', detect=None", "'mine' has no function to call"),
                (
                    "pageless",
                    "id='mine', page=BESIDE, detect=partial(DETECTOR.detect)",
                    "no page of that name lies beside the rule; pass page=",
                ),
                (
                    "patternless",
                    "id='mine', page=replace(DETECTOR.page, pattern='slow')",
                    "the pattern of 'mine' is not a Pattern",
                ),
            )
        ),
    ],
    ids=["import", "type", "id", "dotted", "needs", "options", "plain options", "detect", "page", "pattern"],
)
def test_a_package_that_cannot_be_loaded_fails_alone_and_is_told(install, recording, value, code, reason):
    install("broken-package", "mine", value, code)
    report = judge(opened(recording))
    (failed,) = (check for check in report.results if check.outcome == "error")
    assert failed.id == "broken-package:mine"
    assert reason in failed.summary
    assert "uninstall the package 'broken-package'" in failed.summary
    assert report.summary.evaluated


HEAD = """
import os, sys
from dataclasses import field, make_dataclass, replace
from tracekit.detectors import Passed, Reference
from tracekit.detectors.rules.reload_before_predict import DETECTOR as MODEL
from tracekit.detectors.rules.run_issues import DETECTOR as WHOLE
"""
CHANGES = {
    "array": "rows.duration_ns.flags.writeable = True; rows.duration_ns[:] = 1",
    "codes": "rows.model.codes.flags.writeable = True; rows.model.codes[:] = -1",
    "texts": "object.__setattr__(rows.model, 'values', ('Other',) * len(rows.model.values))",
    "column": "object.__setattr__(rows, 'start_ns', rows.start_ns[::-1])",
    "frame": "rows.frame().loc[:, 'duration_ns'] = 1",
    "frame's array": "values = rows.frame()['start_ns'].array.to_numpy(copy=False).base; values.flags.writeable = True; values[:] = 1",  # noqa: E501
    "field": "object.__setattr__(trace, 'activity', trace.activity.none())",
    "context": "trace.context.clear()",
    "run": "object.__setattr__(trace.run, 'duration_ns', 1)",
}


def judged(trace):
    """The report but for the checks of the plug-in."""
    report = judge(trace, Request(redact=False))
    return report.models, report.aggregation, [check for check in report.results if check.id not in ("mine", "whole")]


@cache
def judged_without_packages(recording):
    all_detectors.cache_clear()
    return judged(tracekit.open_trace(recording))


@pytest.mark.turns(2)
@pytest.mark.parametrize("change", sweep_rest(*CHANGES))
def test_what_a_plug_in_does_to_the_trace_changes_no_number(install, recording, change):
    before = judged_without_packages(recording)
    code = (
        HEAD
        + "def change(trace):\n"
        + "    for rows in (trace.activity, trace.data, trace.compute, trace.hardware):\n"
        + "        try:\n"
        + f"            {CHANGES[change]}\n"
        + "        except (AttributeError, TypeError, ValueError):\n"
        + "            pass\n"
        + "def detect(view, _):\n"
        + "    for trace in (view.trace,):\n"
        + "        change(trace)\n"
        + "    for rows in (view.predictions, view.loads):\n"
        + "        try:\n"
        + f"            {CHANGES[change]}\n"
        + "        except Exception:\n"
        + "            pass\n"
        + "    return Passed(view.name, 'fine')\n"
        + "def whole(view, _):\n"
        + "    change(view.trace)\n"
        + "    return view.passed('fine')\n"
        + "DETECTORS = [replace(WHOLE, id='whole', needs=(), detect=whole), replace(MODEL, id='mine', detect=detect)]\n"
    )
    install("changing", "mine", "changing:DETECTORS", {"changing.py": code})
    trace = tracekit.open_trace(recording)
    assert judged(trace) == before
    assert judged(trace) == before


RAISES = {
    "exit": "sys.exit(0)",
    "interrupt": "raise KeyboardInterrupt('mine')",
    "base": "raise type('Odd', (BaseException,), {})('mine')",
    "generator": "raise GeneratorExit",
    "textless": "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})",
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("where", ["import", "detect", "options"])
@pytest.mark.parametrize("way", sweep_rest(*RAISES))
def test_whatever_a_plug_in_raises_is_its_own_failure_and_status_2(install, recording, capsys, way, where):
    bodies = {
        "import": f"{RAISES[way]}\n",
        "detect": (f"def detect(view, _):\n    {RAISES[way]}\nDETECTOR = replace(MODEL, id='mine', detect=detect)\n"),
        "options": (
            "from tracekit.detectors.options import option\nfrom dataclasses import dataclass\n"
            "@dataclass(frozen=True)\nclass Options:\n    share: float = option(0.5, 'share', 'Basis.')\n"
            f"    def __post_init__(self):\n        {RAISES[way]}\n"
            "DETECTOR = replace(MODEL, id='mine', options=Options)\n"
        ),
    }
    install("raising", "mine", "raising:DETECTOR", {"raising.py": HEAD + bodies[where]})
    assert main(["analyze", str(recording), "--format", "json"]) == 2
    captured = capsys.readouterr()
    checks = json.loads(captured.out)["results"]
    assert {check["id"] for check in checks if check["outcome"] == "error"} <= {"mine", "raising:mine"}
    assert sum(check["outcome"] == "error" for check in checks) >= 1
    assert sum(check["outcome"] != "error" for check in checks) > len(OURS)
    assert "internal error" not in captured.err


OPTION = (
    "O = make_dataclass('O', [('a', {}, field(default={}, metadata={{'unit': {}, 'basis': 'b', 'minimum': 0, "
    "'maximum': 2}}))], frozen=True)\nDETECTOR = replace(MODEL, id='mine', options=O)"
)
PAGE = "DETECTOR = replace(MODEL, id='mine', page=replace(MODEL.page, {}))"
TEXTS = {
    "title": PAGE.format("title=None"),
    "why": PAGE.format("why=['a']"),
    "references": PAGE.format("references=('a',)"),
    "url": PAGE.format("references=(Reference('a', None),)"),
    "unit": OPTION.format("int", "1", "None"),
    "nan": OPTION.format("float", "float('nan')", "'s'"),
    "summary": "DETECTOR = replace(MODEL, id='mine', detect=lambda view, _: Passed(view.name, None))",
}
"""`test_runner.py` has what else is wrong with answers."""


@pytest.mark.parametrize("what", sweep_rest(*TEXTS))
def test_a_plug_in_whose_texts_are_no_texts_fails_alone(install, recording, tmp_path, capsys, what):
    install("textless", "mine", "textless:DETECTOR", {"textless.py": f"{HEAD}{TEXTS[what]}\n"})
    reports = [word for name in ("a.md", "a.txt", "a.json") for word in ("-o", str(tmp_path / name))]
    assert main(["analyze", str(recording), *reports]) == 2
    captured = capsys.readouterr()
    assert "internal error" not in captured.err
    assert "a check ended with an error" in captured.err
    assert main(["explain", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.sweep
def test_whatever_a_plug_in_writes_goes_to_standard_error(install, recording, tmp_path):
    code = (
        f"{HEAD}print('at import')\nos.write(1, b'raw at import\\n')\n"
        "def detect(view, _):\n    print('while it runs')\n    os.write(1, b'raw while it runs\\n')\n"
        "    os.system('echo from a shell')\n    return Passed(view.name, 'fine')\n"
        "DETECTOR = replace(MODEL, id='mine', detect=detect)\n"
    )
    install("printing", "mine", "printing:DETECTOR", {"printing.py": code})
    command = [sys.executable, "-m", "tracekit", "analyze", str(recording), "--format", "json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *sys.path])}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0
    assert {check["id"] for check in json.loads(result.stdout)["results"]} >= {"mine"}
    written = {"at import", "while it runs", "raw at import", "raw while it runs", "from a shell"}
    assert written <= set(result.stderr.splitlines())


def test_ctrl_c_ends_the_command_while_a_plug_in_runs(install, recording, capsys):
    code = (
        f"{HEAD}import signal\ndef detect(view, _):\n    try:\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "        import time; time.sleep(5)\n    except BaseException:\n        pass\n"
        "    return Passed(view.name, 'fine')\nDETECTOR = replace(MODEL, id='mine', detect=detect)\n"
    )
    install("waiting", "mine", "waiting:DETECTOR", {"waiting.py": code})
    assert main(["analyze", str(recording)]) == 130
    assert capsys.readouterr().out == ""
