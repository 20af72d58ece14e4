"""`tracekit fix` as users call it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tracekit.cli import fix as fix_command
from tracekit.cli.options import COMPRESSIONS
from tracekit.cli.process import raising_terminated
from tracekit.model_files.fixing import programs
from tracekit.model_files.fixing.programs import WAYS
from tracekit.model_files.read import read_model


@pytest.fixture
def folder(built_models, tmp_path, monkeypatch) -> Path:
    """The current folder, with a model of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copytree(built_models / "target_iOS16.mlpackage", tmp_path / "Model.mlpackage")
    return tmp_path


def state(folder: Path) -> dict[str, str]:
    """Digests of all files in a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_without_a_finding_it_lists_what_can_be_fixed_and_the_command_that_is_listed_runs(
    tracekit, folder: Path
) -> None:
    before = state(folder)
    result = tracekit("fix", "Model.mlpackage")
    lines = result.out.splitlines()
    assert (result.status, result.err) == (0, "")
    assert lines[0] == "1 finding, 1 fixable in the model file"
    assert "fix: tracekit fix Model.mlpackage interface-conversion -o Model-fixed.mlpackage" in " ".join(lines)
    assert state(folder) == before

    before = state(folder)
    (offer,) = tracekit("fix", "Model.mlpackage", "--json").json["offers"]
    # As inspect prints it.
    inspected = " ".join(tracekit("inspect", "Model.mlpackage").out.split())
    assert f"or run: {offer['command']}" in inspected
    result = tracekit(*offer["command"].split()[1:])
    assert result.status == 0
    assert result.err.splitlines()[-1] == "tracekit: wrote Model-fixed.mlpackage"
    assert result.out.splitlines()[0] == "Model-fixed.mlpackage: interface-conversion fixed"
    words = " ".join(result.out.split())
    assert "`x`: Float32 → Float16" in words
    assert "`cast` operations: 2 → 0" in words
    assert "MLMultiArray(shape:dataType: .float16)" in words
    assert "tracekit inspect Model-fixed.mlpackage" in words
    assert "outputs not compared: needs a Mac" in words
    assert {name: digest for name, digest in state(folder).items() if "fixed" not in name} == before
    assert sorted(path.name for path in folder.iterdir()) == ["Model-fixed.mlpackage", "Model.mlpackage"]
    assert tracekit("inspect", "Model-fixed.mlpackage", "-q").out.startswith("No findings")


def test_what_it_says_has_every_form(tracekit, folder: Path) -> None:
    outputs = [flag for name in ("new.mlpackage", "fix.json", "fix.md", "fix.html") for flag in ("-o", name)]
    # The check of recordings that such a model causes means the same.
    result = tracekit("fix", "Model.mlpackage", "float-conversion", *outputs, "-q")
    assert (result.out, result.err) == ("new.mlpackage: interface-conversion fixed\n", "")
    document = json.loads(Path("fix.json").read_text("utf-8"))
    (change,) = document["changes"]
    assert (change["finding"], change["left"], document["not_compared"]) == ("interface-conversion", "", "needs a Mac")
    assert "interface-conversion" in Path("fix.md").read_text("utf-8")
    assert "<html" in Path("fix.html").read_text("utf-8")


def test_steps_follow_in_their_order_whatever_is_typed(tracekit, folder: Path, built_models) -> None:
    path = built_models / "float32_compute.mlpackage"
    result = tracekit("fix", path, "interface-conversion", "float32-compute", "-o", "new.mlpackage")
    assert result.out.startswith("new.mlpackage: float32-compute and interface-conversion fixed\n")
    alone = tracekit("fix", path, "float32-compute", "-o", "alone.mlpackage", "-q")
    # What is new is not kept back, and how to fix it too is said.
    assert alone.out == "alone.mlpackage: float32-compute fixed · new finding: interface-conversion\n"
    shutil.copytree(path, folder / "Wide.mlpackage")
    said = tracekit("fix", "Wide.mlpackage", "float32-compute", "-o", "alone.mlpackage", "--force").out
    _, _, after = said.partition("NEXT\n")
    again = " ".join(after.split())
    assert again == "tracekit fix Wide.mlpackage float32-compute interface-conversion -o alone.mlpackage --force"
    assert tracekit(*again.split()[1:], "-q").out == "alone.mlpackage: float32-compute and interface-conversion fixed\n"


def test_models_are_put_together(tracekit, folder: Path, built_models) -> None:
    other = built_models / "target_iOS18.mlpackage"
    result = tracekit(
        "fix", "Model.mlpackage", "interface-conversion", "--function", f"decode={other}", "-o", "both.mlpackage"
    )
    assert result.status == 0
    model = read_model("both.mlpackage")
    assert [function.name for function in model.functions] == ["Model", "decode"]
    assert {feature.element for function in model.functions for feature in function.features} == {"Float16"}
    words = " ".join(result.out.split())
    assert words.startswith(
        "2 models combined into both.mlpackage as functions `Model` and `decode` · interface-conversion fixed "
        f"both.mlpackage, written from Model.mlpackage and {other} (unchanged) JOINED functions: "
    )
    assert f"tracekit inspect {other}" in words
    assert "`functionName` of `MLModelConfiguration`" in words
    assert "Deployment target: iOS 18, macOS 15 or later." in words


def test_an_existing_model_is_replaced_only_by_force_and_whole(tracekit, folder: Path, built_models) -> None:
    shutil.copytree(built_models / "ranged.mlpackage", folder / "new.mlpackage")
    run = ("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage")
    before = state(folder)
    refused = tracekit(*run)
    assert (refused.status, refused.err) == (
        2,
        "tracekit: folder new.mlpackage is not empty; choose a new one, or pass --force to overwrite existing files\n",
    )
    assert state(folder) == before
    failed = tracekit("fix", "Model.mlpackage", "float32-compute", "-o", "new.mlpackage", "--force")
    assert failed.status == 2
    assert state(folder) == before
    assert tracekit(*run, "--force").status == 0
    assert read_model("new.mlpackage").main.inputs[0].element == "Float16"
    assert sorted(path.name for path in folder.iterdir()) == ["Model.mlpackage", "new.mlpackage"]


def test_a_model_that_cannot_take_its_place_leaves_what_was_there(tracekit, folder: Path, monkeypatch) -> None:
    shutil.copytree("Model.mlpackage", "new.mlpackage")
    before = state(folder)
    rename = Path.rename

    def fail(path: Path, target: Path) -> Path:
        # Not what lies there already.
        if path.parent.name == "0":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    result = tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage", "--force")
    assert (result.status, result.err.splitlines()[-1]) == (
        2,
        "tracekit: cannot write new.mlpackage: No space left on device",
    )
    assert state(folder) == before


@pytest.mark.parametrize("moment", [0, 1])
@pytest.mark.parametrize("ending", [KeyboardInterrupt, MemoryError, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_at_any_moment_one_of_the_two_models_stands(tracekit, folder: Path, monkeypatch, ending, moment: int) -> None:
    """Exceptions and signals right before each of the renames."""
    shutil.copytree("Model.mlpackage", "new.mlpackage")
    before, rename, renamed = state(folder), Path.rename, []

    def end(path: Path, target: Path) -> Path:
        renamed.append(path)
        if len(renamed) == moment + 1 and isinstance(ending, signal.Signals):
            signal.raise_signal(ending)
        elif len(renamed) == moment + 1:
            raise ending
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", end)
    with raising_terminated():
        result = tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage", "--force")
    assert result.status == {MemoryError: 2, KeyboardInterrupt: 130}.get(ending) or 128 + ending
    if isinstance(ending, signal.Signals):
        assert read_model("new.mlpackage").main.inputs[0].element == "Float16"
        assert sorted(path.name for path in folder.iterdir()) == ["Model.mlpackage", "new.mlpackage"]
    else:
        assert state(folder) == before


def test_a_process_that_is_killed_between_the_renames_leaves_the_old_model(tracekit, folder: Path, monkeypatch) -> None:
    shutil.copytree("Model.mlpackage", "new.mlpackage")
    rename, stood = Path.rename, []

    def look(path: Path, target: Path) -> Path:
        if path.parent.name == "0":
            stood.extend(each for each in folder.glob("new-replaced-*/new.mlpackage") if read_model(each))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", look)
    assert tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage", "--force").status == 0
    assert len(stood) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["Model.mlpackage", "new.mlpackage"]


def test_what_killed_processes_left_a_day_ago_is_removed(tracekit, folder: Path) -> None:
    names = (".tracekit-abcd1234", ".tracekit-efgh5678", ".tracekit-of-mine")
    for name in names:
        shutil.copytree("Model.mlpackage", folder / name / "0" / "new.mlpackage")
    for name in names[1:]:
        os.utime(folder / name, times=(time.time() - 90_000,) * 2)
    assert tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage").status == 0
    assert sorted(path.name for path in folder.glob(".*")) == [names[0], names[2]]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("[MIL FileWriter]: Unknown error occurred while writing data to the file"),
        shutil.Error([("a", "b", "[Errno 28] No space left on device: 'a' -> 'b'")]),
    ],
)
def test_a_full_disk_is_nothing_that_coremltools_refuses(tracekit, folder: Path, monkeypatch, error) -> None:
    def write(*_) -> None:
        assert Path(tempfile.gettempdir()).parent == folder
        raise error

    monkeypatch.setattr(programs, "_edited_program", write)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    result = tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage")
    last = result.err.splitlines()[-1]
    assert (result.status, last) == (2, "tracekit: cannot write new.mlpackage: No space left on device")
    assert not list(folder.glob(".tracekit-*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("interface-conversion",), "give one model to write, as in: -o Fixed.mlpackage"),
        (("-o", "new.mlpackage"), "name what to fix; `tracekit fix Model.mlpackage` lists it"),
        (("interface-conversion", "-o", "new.mlmodel"), "an ML program must end in .mlpackage"),
        (("interface-conversion", "-o", "Model.mlpackage", "--force"), "Model.mlpackage stays as it is"),
        (("interface-conversion", "-o", "Model.mlpackage/new.mlpackage"), "Model.mlpackage stays as it is"),
        (
            ("-o", "Model.mlpackage/Manifest.json"),
            "Model.mlpackage/Manifest.json: it is inside a model; choose another",
        ),
        (
            ("interface-conversion", "-o", "new.mlpackage", "-o", "new.mlpackage/x.md"),
            "cannot write new.mlpackage/x.md: it is inside a model; choose another file",
        ),
        (("interface-conversions", "-o", "new.mlpackage"), "did you mean 'interface-conversion'?"),
        (("cold-load", "-o", "new.mlpackage"), "'cold-load' is a check of recordings"),
        (("float32-compute", "-o", "new.mlpackage"), "has no finding 'float32-compute'"),
        (("deployment-target", "-o", "new.mlpackage"), "has no finding 'deployment-target'"),
        (("interface-conversion", "-o", "/gone/new.mlpackage"), "no such folder: /gone"),
        (("interface-conversion", "--shape", "x=1x4", "-o", "n.mlpackage"), "--shape is for flexible-shapes; add that"),
        (("--weights", "8-bit"), "--weights is for uncompressed-weights; add that finding"),
        (("--function", "x=", "-o", "new.mlpackage"), "--function x=: expected [NAME=]FILE"),
        (
            ("--function", "1x=o.mlpackage", "-o", "new.mlpackage"),
            "--function 1x=o.mlpackage: '1x' is not a valid function name",
        ),
        (
            ("slow-load", "-o", "new.mlpackage"),
            "Model.mlpackage has no finding 'uncompressed-weights' (from 'slow-load'); `tracekit fix Model.mlpackage` "
            "lists its findings",
        ),
        (("flexible-shapes", "--shape", "x", "-o", "new.mlpackage"), "expected INPUT=SIZES, such as x=1x224"),
        (("interface-conversion", "--weights", "2-bit", "-o", "new.mlpackage"), "unknown way '2-bit'"),
        (("--function", "b=Other.mlpackage", "-o", "Other.mlpackage", "--force"), "Other.mlpackage stays as it is"),
        (("--function", "gone.mlpackage", "-o", "new.mlpackage"), "no such file or directory"),
        (
            ("--function", "Model.mlpackage", "-o", "new.mlpackage"),
            "needs a name of its own, as in: --function encode=Model.mlpackage",
        ),
    ],
)
def test_mistakes_are_one_sentence(tracekit, folder: Path, arguments: tuple[str, ...], words: str) -> None:
    before = state(folder)
    result = tracekit("fix", "Model.mlpackage", *arguments)
    assert (result.status, result.out) == (2, "")
    assert words in result.err.splitlines()[-1]
    assert "Traceback" not in result.err
    assert state(folder) == before


def test_what_cannot_be_fixed_is_refused_before_any_step(tracekit, folder: Path, built_models) -> None:
    for name, first, never in (
        ("loop", "interface-conversion", "sequential-operations"),
        ("passed_state", "interface-conversion", "state-in-interface"),
        ("image_range", "interface-conversion", "flexible-shapes"),
    ):
        before = state(folder)
        result = tracekit("fix", built_models / f"{name}.mlpackage", first, never, "-o", "new.mlpackage")
        assert (result.status, result.out) == (2, "")
        (line,) = result.err.splitlines()
        assert f"'{never}' cannot be fixed in {name}.mlpackage: " in line
        assert state(folder) == before

    (folder / "a.mlmodelc").mkdir()
    (folder / "a.mlmodelc" / "metadata.json").write_text('[{"specificationVersion": 7, "inputSchema": []}]', "utf-8")
    compiled = tracekit("fix", "a.mlmodelc", "interface-conversion", "-o", "new.mlpackage")
    assert (compiled.status, compiled.err) == (
        2,
        "tracekit: a.mlmodelc is a compiled model and cannot be fixed; "
        "give the .mlpackage or .mlmodel it was compiled from\n",
    )
    inner = "Model.mlpackage/Data/com.apple.CoreML/model.mlmodel"
    assert "give the .mlpackage" in tracekit("fix", inner).err
    (folder / "Model.mlpackage" / "Data" / "com.apple.CoreML" / "weights" / "weight.bin").unlink()
    assert "cannot be fixed: " in tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage").err


def test_no_report_is_written_into_a_model(tracekit, folder: Path) -> None:
    before = state(folder)
    (folder / "linked.mlpackage").symlink_to("Model.mlpackage")
    for path in ("Model.mlpackage/Manifest.json", "linked.mlpackage/Manifest.json", "Model.mlpackage/Data/x.md"):
        result = tracekit("inspect", "Model.mlpackage", "-o", path)
        words = f"tracekit: cannot write {path}: it is inside a model; choose another file\n"
        assert (result.status, result.err) == (2, words)
    assert state(folder / "Model.mlpackage") == {
        name.removeprefix("Model.mlpackage/"): digest for name, digest in before.items()
    }


def test_a_step_that_an_earlier_one_made_needless_is_said_to_be(tracekit, folder: Path, built_models) -> None:
    """9,216 weights have 36.9 KB in Float32, and 18.4 KB in Float16."""
    flags = ("--set", "uncompressed-weights.min_mb=0.03", "-o", "new.mlpackage")
    path = built_models / "float32_compute.mlpackage"
    result = tracekit("fix", path, "uncompressed-weights", "float32-compute", *flags)
    assert (result.status, result.err.count("working on")) == (0, 1)
    assert "FIXED     uncompressed-weights: fixed by `float32-compute`" in result.out
    assert "compressed weights are approximations" not in result.out
    assert result.out.startswith("new.mlpackage: float32-compute and uncompressed-weights fixed · new finding: ")
    # What no model has and no step brings ends it before any work.
    refused = tracekit("fix", path, "float32-compute", "per-block-weights", "-o", "other.mlpackage")
    assert refused.err.startswith("tracekit: float32_compute.mlpackage has no finding 'per-block-weights'; ")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unbounded.mlmodel", "only ML programs can become functions; unbounded.mlmodel is a neural network"),
        ("multifunction.mlpackage", "already has several functions; give the models it was made from"),
    ],
)
def test_what_cannot_become_a_function_ends_it_before_any_work(
    tracekit, folder: Path, built_models, name: str, words: str
) -> None:
    result = tracekit("fix", "Model.mlpackage", "--function", f"b={built_models / name}", "-o", "new.mlpackage")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert words in result.err


def test_only_models_are_replaced_and_by_force_alone(tracekit, folder: Path, built_models) -> None:
    (folder / "new.mlpackage").mkdir()
    (folder / "new.mlpackage" / "thesis.txt").write_text("long", "utf-8")
    before = state(folder)
    result = tracekit("fix", "Model.mlpackage", "interface-conversion", "-o", "new.mlpackage", "--force")
    assert (result.status, result.err) == (
        2,
        "tracekit: cannot write new.mlpackage: the folder there is no model; choose another name\n",
    )
    assert state(folder) == before

    inside = folder / "outer.mlpackage" / "model.mlmodel"
    inside.parent.mkdir()
    shutil.copy(built_models / "unbounded.mlmodel", inside)
    run = ("fix", inside, "flexible-shapes", "--shape", "x=1x3x8x8", "-o")
    refused = tracekit(*run, "outer.mlpackage", "--force")
    assert (refused.status, refused.err) == (
        2,
        "tracekit: cannot write outer.mlpackage: model.mlmodel stays as it is; choose another name\n",
    )
    assert tracekit(*run, "new.mlmodel").status == 0
    assert read_model("new.mlmodel").main.inputs[0].shape.dimensions == (1, 3, 8, 8)


def test_listed_findings_have_their_title_and_what_to_choose(tracekit, folder: Path, built_models) -> None:
    assert tracekit("fix", built_models / "float16_interface.mlpackage").out == "No findings\n"
    loop = " ".join(tracekit("fix", built_models / "recurrent.mlpackage").out.split())
    assert "NOT FIXABLE sequential-operations: " in loop
    assert "fix: in the source model: the operations belong" in loop
    shapes = " ".join(tracekit("fix", built_models / "ranged.mlpackage").out.split())
    assert "FIXABLE flexible-shapes: inputs take several shapes" in shapes
    advice = "Replace the sizes with those your app passes (default first); the fixed model accepts no others."
    assert advice in shapes
    for form in ("text", "md", "html"):
        inspected = " ".join(tracekit("inspect", built_models / "ranged.mlpackage", "--format", form).out.split())
        # On a page, the words of a command stay whole.
        inspected = re.sub("</?span[^>]*>", "", inspected)
        assert inspected.count(advice) == 1
        assert inspected.index("tracekit fix") < inspected.index(advice)


def test_the_ways_are_those_of_the_program() -> None:
    assert tuple(WAYS) == COMPRESSIONS
    assert fix_command.MODELS == (".mlpackage", ".mlmodel")


def test_a_report_on_a_recording_has_the_command_where_the_model_is_known(tracekit, folder: Path, samples) -> None:
    shutil.move("Model.mlpackage", "SharpenFilter.mlpackage")
    run = ("analyze", samples / "sharpen_8bit.trace", "--model-file", "SharpenFilter.mlpackage", "--no-config")
    command = "tracekit fix SharpenFilter.mlpackage interface-conversion -o SharpenFilter-fixed.mlpackage"
    assert f"To change the file: `{command}`." in " ".join(tracekit(*run).out.split())
    report = tracekit(*run, "--json").json
    assert report["model_files"][0]["commands"] == {"interface-conversion": command}
    fixes = [check["own_fix"] for check in report["results"] if check["id"] == "float-conversion"]
    assert all(command in fix for fix in fixes)
    assert fixes
