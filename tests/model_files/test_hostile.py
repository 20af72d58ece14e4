"""Broken, hostile and foreign files: one sentence each, soon and in little memory."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.fuzz_models import models_in, run
from support.models import needs_coremltools
from support.performance_reports import wwdc22
from tracekit.model_files import operations, read
from tracekit.model_files.facts import WeightState
from tracekit.model_files.performance.read import load_performance_report
from tracekit.model_files.read import message_types, read_model, read_subject
from tracekit.model_files.untrusted import UnreadableModel

pytestmark = needs_coremltools

MUTATIONS = 25


def refusal(path: Path) -> str:
    with pytest.raises(UnreadableModel) as caught:
        read_model(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf that holds bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


VERSION = b"\x08\x07"


def test_mutations_of_built_models(built_models):
    counts = run(models_in([built_models]), seed=20, first=0, runs=MUTATIONS)
    assert sum(counts.values()) == MUTATIONS
    assert min(counts["read"], counts["refused"]) > 0


@pytest.mark.sweep
@pytest.mark.corpus
def test_mutations_of_real_models(corpus):
    models = models_in([corpus / "models"])
    if not models:
        pytest.skip("the corpus has no models")
    counts = run(models, seed=21, first=0, runs=MUTATIONS)
    assert min(counts["read"], counts["refused"]) > 0


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.mlmodel", b"", "is empty"),
        ("Net.mlpackage.zip", b"PK\x03\x04" + bytes(99), "is a damaged or encrypted archive; unpack it"),
        ("Net.mlpackage.tar.gz", b"\x1f\x8b\x08" + bytes(99), "is an archive; unpack it"),
        ("text.mlmodel", b"not a model", "is truncated or damaged, or not a Core ML specification"),
        ("zeros.mlmodel", bytes(1_100_000), "is truncated or damaged"),
        ("bare.mlmodel", VERSION, "names no version or no kind of model"),
        ("lfs.mlmodel", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "run `git lfs pull`"),
        ("half.json", b'[{"specificationVersion": 7', "is not complete JSON"),
        ("deep.json", b"[" * 100_000, "is not complete JSON"),
        ("other.json", b'{"name": 1}', "nor a performance report (keys found: name)"),
        ("list.json", b"[]", "neither what `xcrun coremlcompiler metadata` prints nor a performance report"),
    ],
)
def test_files_that_are_no_model(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    assert words in refusal(path)


def test_a_truncated_specification(built_models, tmp_path):
    data = (built_models / "network.mlmodel").read_bytes()
    path = tmp_path / "network.mlmodel"
    path.write_bytes(data[:-5])
    assert "is truncated or damaged" in refusal(path)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "has no 'Manifest.json'"),
        ("{", "names no specification"),
        ([], "names no specification"),
        ({"rootModelIdentifier": "a", "itemInfoEntries": {}}, "names no specification"),
        ({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "../../secret"}}}, "leads out of the package"),
        ({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "/etc/passwd"}}}, "leads out of the package"),
        ({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "gone"}}}, "has no specification: 'gone'"),
    ],
)
def test_packages_whose_manifest_leads_nowhere(tmp_path, manifest, words):
    package = tmp_path / "own.mlpackage"
    package.mkdir()
    if manifest is not None:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (package / "Manifest.json").write_text(text, "utf-8")
    assert words in refusal(package)


LINKED = (
    "Manifest.json",
    "Data",
    "Data/com.apple.CoreML",
    "Data/com.apple.CoreML/model.mlmodel",
    "Data/com.apple.CoreML/weights",
    "Data/com.apple.CoreML/weights/weight.bin",
)


@pytest.mark.parametrize("part", LINKED)
def test_a_package_reads_only_inside_itself(built_models, tmp_path, part):
    package = tmp_path / "linked.mlpackage"
    shutil.copytree(built_models / "float16_interface.mlpackage", package)
    whole = read_model(package)
    (package / part).rename(tmp_path / "outside")
    (package / part).symlink_to(tmp_path / "outside")
    sentence = refusal(package)
    assert "is a link out of 'linked.mlpackage', which is not followed; copy the model with `cp -RL`" in sentence
    if part.endswith("weight.bin"):
        assert "is a link out of" in refusal(package / "Data/com.apple.CoreML/model.mlmodel")
    # What the sentence advises helps, and so does a link inside.
    copied = shutil.copytree(package, tmp_path / "copied.mlpackage")
    assert replace(read_model(copied), name="linked", source="linked.mlpackage") == whole
    (package / part).unlink()
    beside = (package / part).with_name("beside")
    (tmp_path / "outside").rename(beside)
    (package / part).symlink_to(beside)
    assert read_model(package).weights == whole.weights


def test_a_compiled_model_reads_only_inside_itself(tmp_path):
    (tmp_path / "secret.json").write_text('[{"specificationVersion": 7, "author": "secret"}]', "utf-8")
    compiled = tmp_path / "m.mlmodelc"
    compiled.mkdir()
    (compiled / "metadata.json").symlink_to(tmp_path / "secret.json")
    assert "'metadata.json' is a link out of 'm.mlmodelc'" in refusal(compiled)
    (compiled / "metadata.json").unlink()
    stages = {"specificationVersion": 7, "modelType": {"name": "MLModelType_pipeline"}}
    (compiled / "metadata.json").write_text(json.dumps([stages]), "utf-8")
    (tmp_path / "stage").mkdir()
    (tmp_path / "stage/metadata.json").write_text('[{"specificationVersion": 7}]', "utf-8")
    (compiled / "model0").symlink_to(tmp_path / "stage")
    assert "'model0' is a link out of 'm.mlmodelc'" in refusal(compiled)


def test_a_model_that_is_itself_a_link_is_read(built_models, tmp_path):
    (tmp_path / "named.mlpackage").symlink_to(built_models / "float16_interface.mlpackage")
    assert read_model(tmp_path / "named.mlpackage").weights.state is WeightState.FILE


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_json_in_every_encoding_is_read(tmp_path, encoding):
    """PowerShell redirects in UTF-16."""
    metadata = json.dumps(
        [{"specificationVersion": 7, "generatedClassName": "Net", "author": "Zoë"}], ensure_ascii=False
    )
    (tmp_path / "metadata.json").write_bytes(metadata.encode(encoding))
    model = read_model(tmp_path / "metadata.json")
    assert (model.name, model.metadata.author) == ("Net", "Zoë")
    (tmp_path / "report.json").write_bytes(json.dumps(wwdc22()).encode(encoding))
    assert read_subject(tmp_path / "report.json") == load_performance_report(tmp_path / "report.json")
    (tmp_path / "cut.json").write_bytes(metadata.encode(encoding)[:-12])
    assert "is not complete JSON" in refusal(tmp_path / "cut.json")


def test_other_things(tmp_path):
    assert "no such file or directory" in refusal(tmp_path / "gone.mlmodel")
    assert "is not a Core ML model" in refusal(tmp_path)
    assert "'a?b': no such file or directory" in refusal(Path("a\0b"))


def test_without_coremltools_the_way_out_is_named(built_models, monkeypatch):
    read.message_types.cache_clear()
    monkeypatch.setattr(read.importlib.util, "find_spec", lambda _name: None)
    monkeypatch.delitem(sys.modules, "coremltools.proto", raising=False)
    try:
        sentence = refusal(built_models / "network.mlmodel")
    finally:
        read.message_types.cache_clear()
    assert "needs coremltools" in sentence
    assert "xcrun coremlcompiler metadata" in sentence


def nested(depth: int) -> bytes:
    model = VERSION + field(500, b"")
    for _ in range(depth):
        model = VERSION + field(202, field(1, model))
    return model


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (VERSION + field(500, b"\x0a\x00" * 3_500), "describes more than a model can hold"),
        (VERSION + field(500, b"\x0a\x00" * 1_001), "more than 1,000 layers"),
        (nested(200), "is truncated or damaged"),
    ],
    ids=["tiny messages", "layers", "pipelines in pipelines"],
)
def test_what_would_take_memory_without_end_is_refused(tmp_path, monkeypatch, content, words):
    monkeypatch.setattr(read, "SMALL_BYTES", 5_000)
    monkeypatch.setattr(read, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(operations, "MAX_OPERATIONS", 1_000)
    path = tmp_path / "layers.mlmodel"
    path.write_bytes(content)
    assert words in refusal(path)


def test_names_cannot_end_the_code_they_stand_in():
    from tracekit.detectors.model_rules.shared import code, literal

    hostile = 'x"; ```\n# `'
    assert "`" not in literal(hostile)
    assert "\n" not in literal(hostile)
    assert code(hostile).count("`") == 2


def test_a_version_of_another_age_is_read(tmp_path):
    model = message_types().Model(specificationVersion=99)
    model.neuralNetwork.SetInParent()
    path = tmp_path / "new.mlmodel"
    path.write_bytes(model.SerializeToString())
    assert read_model(path).specification_version == 99
