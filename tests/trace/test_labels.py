import json

import pytest
from hypothesis import given, settings, strategies as st

from tracekit.trace.events import Kind
from tracekit.trace.labels import (
    HardwareLabel,
    KnownModels,
    gpu_label,
    gpu_labels,
    mps_command_buffers,
    neural_engine_label,
)

UUID = "0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9"


@pytest.mark.parametrize(
    ("label", "kind", "model", "operation"),
    [
        # Forms of section 4.2 of the reference.
        ("Neural Engine Prediction", Kind.ANE_EXEC, None, None),
        ("Neural Engine Load", Kind.ANE_LOAD, None, None),
        ("Neural Engine Load: prepare and cache", Kind.ANE_LOAD, None, None),
        ("encoder_main__Op0_AneInference", Kind.ANE_EXEC, "encoder", 0),
        ("encoder_main__Op1_AneInference  Prediction", Kind.ANE_EXEC, "encoder", 1),
        ("encoder_main__Op12_AneInference Compile", Kind.ANE_COMPILE, "encoder", 12),
        (f"Encoder_{UUID}_main__Op1_AneInference  Prediction", Kind.ANE_EXEC, "Encoder", 1),
        (f"Encoder_{UUID.replace('-', '_')}_main__Op1_AneInference Prediction", Kind.ANE_EXEC, "Encoder", 1),
        (f"{UUID}_main__Op0_AneInference", Kind.ANE_EXEC, UUID, 0),
        ("my_net_prefill__Op0_AneInference Prediction", Kind.ANE_EXEC, "my_net", 0),
        ("a__Op1_main__Op2_AneInference Prediction", Kind.ANE_EXEC, "a__Op1", 2),
        ("encoder_main__Op0_AneInference Teardown", Kind.OTHER, "encoder", 0),
        ("something else", Kind.OTHER, None, None),
        ("__Op0_AneInference", Kind.OTHER, None, None),
        ("", Kind.OTHER, None, None),
    ],
)
def test_a_neural_engine_label_is_read_by_its_grammar(label, kind, model, operation):
    assert neural_engine_label(label, KnownModels()) == HardwareLabel(kind, model, operation)


@pytest.mark.parametrize(
    ("known", "head", "model"),
    [
        # Labels may write an underscore for a hyphen, on either side.
        (["my-net"], "my_net_main", "my-net"),
        (["my_net"], "my-net_main", "my_net"),
        (["my-net", "my_net"], "my_net_main", "my_net"),
        (["my-net", "my_net"], "my-net_main", "my-net"),
        # The longest known name first.
        (["my", "my_net"], "my_net_prefill", "my_net"),
        # A known model does not claim the rows of a longer unknown one.
        (["Encoder"], "Encoder_v2_main", "Encoder_v2"),
        (["Encoder"], "Encoder_prefill", "Encoder"),
        (["Encoder"], f"Encoder_{UUID}_main", "Encoder"),
        (["Encoder"], "Encoderly_main", "Encoderly"),
        ([f"Encoder_{UUID}"], f"Encoder_{UUID}_main", f"Encoder_{UUID}"),
        ([""], "x_main", "x"),
        # Names may begin with blanks or hold several, and labels may write one or none.
        ([" my net"], " my net_main", " my net"),
        ([" my net"], "my net_main", " my net"),
        (["my  net"], "my  net_main", "my  net"),
        (["my  net"], "my net_main", "my  net"),
        (["my net "], "my net _main", "my net "),
        (["net", " net"], " net_main", " net"),
        (["net", " net"], "net_main", "net"),
    ],
)
def test_the_model_of_a_label_is_found_among_known_models(known, head, model):
    label = f"{head}__Op0_AneInference Prediction"
    assert neural_engine_label(label, KnownModels(known)).model == model
    assert gpu_label(f"{head}__Op0_MpsGraphInference", KnownModels(known)).model == model


@pytest.mark.corpus
def test_real_neural_engine_labels_name_their_model(corpus):
    rows = json.loads((corpus / "derived" / "cosyvoice-ane-label-and-containment-sample.json").read_text())["rows"]
    # Base name: the label itself without `_main__Op0_AneInference Prediction`, as section 3.8 describes it.
    for row in rows:
        expected = HardwareLabel(Kind.ANE_EXEC, row["label"].split("_main__")[0], 0)
        assert neural_engine_label(row["label"], KnownModels()) == expected


@pytest.mark.parametrize(
    ("label", "model", "buffer"),
    [
        # Real labels of Xcode 16.4.
        (
            "MambaASR_fp16_w8_main__Op0_MpsGraphInference:Compute Command 0   (runner (42)) 0x1188bcc0",
            "MambaASR_fp16_w8",
            0,
        ),
        ("MambaASR_fp16_w8_main__Op0_MpsGraphInference+:Compute Command 0   (runner (42)) 0x1", "MambaASR_fp16_w8", 1),
        (f"net_main__Op0_MpsGraphInference{'+' * 33}:Compute Command 0", "net", 33),
        ("net_main__Op0_MpsGraphInference", "net", 0),
        # Reported by others: two blanks between name and rest.
        ("net_main__Op0_MpsGraphInference  (runner (42)) 0x1", "net", 0),
    ],
)
def test_a_gpu_label_of_core_ml_work_names_model_and_command_buffer(label, model, buffer):
    assert gpu_label(label, KnownModels()) == HardwareLabel(Kind.GPU_EXEC, model, 0, buffer)


@pytest.mark.parametrize(
    "label",
    [
        "Command Buffer 0:Render Command 0   (WindowServer (502)) 0x10882060",
        "   (WindowServer (502)) 0xb54ebb8d",
        "_MpsGraphInference",
        "x__Op0_MpsGraphInferences",
        "x__Opq_MpsGraphInference",
        "",
    ],
)
def test_other_gpu_labels_name_no_model(label):
    assert gpu_label(label, KnownModels(["x"])) == HardwareLabel(Kind.GPU_EXEC)


def test_an_mps_label_gives_its_command_buffer():
    # Real row of Xcode 16.4; the same id stands in the Metal tables.
    labels = ["MPSGraph:0x13af0a280 (CommandBuffer: 0x11088b8af)", "MPSGraph:0x13af0a280", ""]
    assert mps_command_buffers(labels) == [4572362927, None, None]


MODELS = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,12}[A-Za-z0-9]", fullmatch=True)


@given(MODELS, st.integers(0, 999), st.sampled_from(["", " Prediction", "  Prediction", " Compile"]), st.booleans())
@settings(deadline=None)
def test_a_label_built_from_a_known_model_names_that_model(model, operation, verb, folded):
    shown = model.replace("-", "_") if folded else model
    label = f"{shown}_main__Op{operation}_AneInference{verb}"
    read = neural_engine_label(label, KnownModels([model, "another"]))
    assert (read.model, read.operation) == (model, operation)
    assert read.kind is (Kind.ANE_COMPILE if "Compile" in verb else Kind.ANE_EXEC)


@given(st.text(alphabet="ab_-+:O p0MsGraphInferce(x)1", max_size=80), st.lists(MODELS, max_size=3))
@settings(deadline=None)
def test_no_label_is_refused(label, known):
    models = KnownModels(known)
    assert neural_engine_label(label, models).kind in Kind
    assert gpu_label(label, models).kind is Kind.GPU_EXEC
    mps_command_buffers([label])


PIECES = st.sampled_from(
    ["Model_main", "x", "__Op0", "__Op12", "_MpsGraphInference", "+", "++", ":Compute Command 0", " ", "  ",
     "(App (9))", "0x1a5d43", "0x1a6046", "\n", "_", "9"]
)  # fmt: skip


def test_gpu_labels_that_differ_in_what_means_nothing_are_worked_out_once():
    work = [f"Model_main__Op3_MpsGraphInference+:Compute Command 0   (App (9)) 0x{address:x}" for address in range(9)]
    other = [f"Command Buffer 0:Compute Command 0   (App (9)) 0x{address:x}" for address in range(9)]
    _, meanings = gpu_labels([*work, *other], KnownModels(["Model"]))
    assert len(meanings) == 2


@given(st.lists(st.lists(PIECES, max_size=10).map("".join), max_size=20))
def test_many_gpu_labels_mean_what_each_means_alone(labels):
    known = KnownModels(["Model", "x"])
    positions, meanings = gpu_labels(labels, known)
    assert [meanings[position] for position in positions] == [gpu_label(label, known) for label in labels]
