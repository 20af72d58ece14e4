"""`tracekit inspect` as users call it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from support.choice import sweep_rest
from support.forms import too_long


def test_the_result_comes_first_and_the_target_is_answered(tracekit, built_models) -> None:
    result = tracekit("inspect", built_models / "ranged.mlpackage")
    lines = result.out.splitlines()
    assert (result.status, result.err) == (0, "")
    # It has no weights, and no target was named.
    assert lines[0] == "Will it run on the Neural Engine: likely, all of it, at the default shape alone"
    assert lines[1] == "2 findings · 9 checks passed, 1 not evaluated, 4 not applicable"
    assert lines[2].startswith("ranged.mlpackage · ML program · ")
    assert lines[2].endswith("specification 7 (iOS 16, macOS 13 or later)")
    assert lines[4] == "NEURAL ENGINE"
    assert lines[8].startswith("SPEED     interface-conversion: ")
    rows = [line.split(maxsplit=3) for line in lines]
    assert ["input", "x", "Float32", "3 × 4, range: 1...16 × 4"] in rows
    # No shape in the file is no scalar.
    assert ["output", "y", "Float32", "no shape given"] in rows
    assert not too_long(result.out, 100)
    assert len(lines) <= 45

    model = built_models / "stateful.mlpackage"
    refused = tracekit("inspect", model, "--system", "iOS17", "-q")
    assert refused.out == "2 findings · does not load on iOS 17 · 10 checks passed, 4 not applicable\n"
    taken = tracekit("inspect", model, "--system", "iOS18", "-q")
    assert taken.out.startswith("1 finding · loads on iOS 18 · ")


def test_files_get_the_format_of_their_ending(tracekit, built_models, tmp_path) -> None:
    outputs = [tmp_path / name for name in ("report.md", "report.json", "report.txt")]
    flags = [flag for path in outputs for flag in ("-o", path)]
    result = tracekit("inspect", built_models / "float32_compute.mlpackage", *flags)
    assert result.out == "1 finding · 11 checks passed, 1 not evaluated, 3 not applicable\n"
    markdown, document, text = (path.read_text("utf-8") for path in outputs)
    assert markdown.startswith("**Will it run on the Neural Engine: no: it computes in Float32**")
    assert "| input | `x` | Float32 | 1 × 32 × 8 × 8 |" in markdown
    assert json.loads(document)["summary"]["findings"] == 1
    assert "METADATA" in text
    assert tracekit("inspect", built_models / "network.mlmodel", "-o", tmp_path / "a.csv").status == 2


def test_checks_can_be_chosen_and_set_by_a_project_too(tracekit, built_models, tmp_path, monkeypatch) -> None:
    model = built_models / "float16_interface.mlpackage"
    option = "uncompressed-weights.min_mb=0.01"
    result = tracekit("inspect", model, "--only", "uncompressed-weights", "--set", option, "-q")
    assert result.out == "1 finding · 0 checks passed\n"
    other = tracekit("inspect", model, "--only", "cold-load")
    assert (other.status, other.err) == (
        2,
        "tracekit: 'cold-load' is a check of recordings; `tracekit analyze` runs it\n",
    )

    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracekit.toml").write_text(
        'skip = ["cold-load", "flexible-shapes"]\n[models."float*".checks.uncompressed-weights]\nmin_mb = 0.01\n',
        "utf-8",
    )

    def ids(*arguments: object) -> dict[str, str]:
        checks = tracekit("inspect", *arguments, "--json").json["results"]
        return {check["id"]: check["outcome"] for check in checks}

    ranged, weights = built_models / "ranged.mlpackage", built_models / "float16_interface.mlpackage"
    assert "flexible-shapes" not in ids(ranged)
    assert ids(ranged, "--no-config")["flexible-shapes"] == "finding"
    assert ids(ranged, "--only", "flexible-shapes") == {"flexible-shapes": "finding"}
    assert ids(weights)["uncompressed-weights"] == "finding"
    assert ids(weights, "--set", "uncompressed-weights.min_mb=10")["uncompressed-weights"] == "passed"
    (tmp_path / "tracekit.toml").write_text('skip = ["flexible-shape"]', "utf-8")
    refused = tracekit("inspect", ranged)
    assert (refused.status, refused.out) == (2, "")
    assert "did you mean 'flexible-shapes'?" in refused.err


def test_private_values_of_metadata_are_taken_out(tracekit, tmp_path) -> None:
    from tracekit.model_files.read import message_types

    model = message_types().Model(specificationVersion=1)
    model.description.metadata.author = "jane@example.com"
    model.description.metadata.userDefined["source"] = "/Users/jane/model.pt"
    stage = model.pipeline.models.add(specificationVersion=1)
    stage.neuralNetwork.SetInParent()
    stage.description.metadata.userDefined["user-name"] = "opensesame"
    path = tmp_path / "own.mlmodel"
    path.write_bytes(model.SerializeToString())
    assert "user-name" in tracekit("inspect", path, "--json").out
    for flags, kept in (((), False), (("--no-redact",), True)):
        shown = tracekit("inspect", path, "--json", *flags).out
        assert ("jane" in shown, "opensesame" in shown) == (kept, kept)


def test_json_from_elsewhere_is_read(tracekit, monkeypatch, tmp_path) -> None:
    piped = io.BytesIO(b'[{"specificationVersion": 8, "inputSchema": []}]')
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=piped))
    result = tracekit("inspect", "-", "--system", "iOS16")
    assert result.out.splitlines()[2].startswith("standard input · ")
    assert "does not load on iOS 16" in result.out
    # What the JSON lacks is reported once, for all checks that need it.
    assert result.out.count("inspect the model itself (.mlpackage") == 1

    path = tmp_path / "chat.json"
    function = {"name": "main", "inputs": [], "states": [{"name": "cache", "type": "NDArray (Float16, 8 × ? × 128)"}]}
    path.write_text(json.dumps({"summary": {"functions": [function]}}), "utf-8")
    result = tracekit("inspect", path)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines()[2] == "chat.json · Core AI model · read by a form that is a guess"
    assert "state  cache  Float16  8 × ? × 128" in result.out
    assert "\nNo findings · 0 checks passed, 16 not applicable\n" in result.out


SCRIPT = """
import json, sys
from tracekit.cli.dispatch import main
main(["inspect", sys.argv[1], "-q"])
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("name", sweep_rest("compiled.mlmodelc", "float16_interface.mlpackage"))
def test_neither_form_needs_the_converter(built_models, tmp_path, name: str) -> None:
    """The import of coremltools takes a second, that of pandas a third of one."""
    path = built_models / name
    if name == "compiled.mlmodelc":
        path = tmp_path / name
        path.mkdir()
        (path / "metadata.json").write_text('[{"specificationVersion": 7, "inputSchema": []}]', "utf-8")
        (path / "model.mil").write_text(
            "program(1.0)\n{\n    func main<ios16>(tensor<fp16, [1]> x) {\n"
            '            tensor<fp16, [1]> y = sqrt(x = x)[name = string("y")];\n        } -> (y);\n}\n',
            "utf-8",
        )
    result = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=True)
    modules = set(json.loads(result.stdout.splitlines()[-1]))
    assert "tracekit.model_files.read" in modules
    assert not {"coremltools", "pandas"} & modules
