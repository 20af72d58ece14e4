"""Weights of models that are built for them: number, type, compression and size, worked out by hand."""

import pytest

from support.models import CHANNELS, WEIGHTS
from support.models.older import FEATURES, GATES, SIDE, UNITS
from tracekit.model_files.facts import WeightState

SCALES = CHANNELS * 2
"""Bytes of a scale of Float16 for each channel."""


@pytest.mark.parametrize(
    ("name", "technique", "bits", "granularity", "size"),
    [
        # A palette of iOS 16 has 2, 16 or 64 entries of 16 bits; the one of two entries stands in the specification.
        ("palettized_1bit", ("palettized",), 1, "per tensor", WEIGHTS // 8),
        ("palettized_3bit", ("palettized",), 3, "per tensor", WEIGHTS * 3 // 8),
        ("palettized_4bit", ("palettized",), 4, "per tensor", WEIGHTS // 2 + 16 * 2),
        ("palettized_6bit", ("palettized",), 6, "per tensor", WEIGHTS * 6 // 8 + 64 * 2),
        # Four groups of eight channels, each with a palette of 16 entries of 16 bits.
        ("palettized_groups", ("palettized",), 4, "per group", WEIGHTS // 2 + 4 * 16 * 2),
        # An index for two weights, and a palette of 16 pairs.
        ("palettized_vectors", ("palettized",), 4, "per tensor", WEIGHTS // 2 // 2 + 16 * 2 * 2),
        # An index of two bits for four weights; for each half of the channels a palette of 4 vectors of 4.
        ("palettized_vector_groups", ("palettized",), 2, "per group", WEIGHTS // 4 // 4 + 2 * 4 * 4 * 2),
        # Four palettes of 16 entries of 8 bits.
        ("palettized_quantized", ("palettized", "quantized"), 4, "per group", WEIGHTS // 2 + 4 * 16),
        # iOS 16 stores a zero point for each channel beside its scale.
        ("quantized_8bit", ("quantized",), 8, "per channel", WEIGHTS + SCALES + CHANNELS),
        ("quantized_unsigned", ("quantized",), 8, "per channel", WEIGHTS + SCALES + CHANNELS),
        ("quantized_tensor", ("quantized",), 8, "per tensor", WEIGHTS),
        ("quantized_channels", ("quantized",), 4, "per channel", WEIGHTS // 2 + SCALES),
        # Two blocks of 16 along the input channels; a scale of 16 bits for each.
        ("quantized_blocks", ("quantized",), 4, "per block", WEIGHTS // 2 + 2 * SCALES),
        # Half of the values, and a mask with a bit for each.
        ("pruned", ("pruned",), 16, None, WEIGHTS // 2 * 2 + WEIGHTS // 8),
        ("pruned_quantized", ("pruned", "quantized"), 8, "per channel", WEIGHTS // 2 + WEIGHTS // 8 + SCALES),
        ("pruned_palettized", ("pruned", "palettized"), 4, "per tensor", WEIGHTS // 4 + WEIGHTS // 8 + 16 * 2),
        ("float16_interface", (), 16, None, 2 * WEIGHTS),
    ],
)
def test_weights_of_programs(inspected, name, technique, bits, granularity, size):
    weights = inspected(name).weights
    (weight,) = weights.tensors
    assert weights.state is WeightState.FILE
    assert (weight.count, weight.element) == (WEIGHTS, "Float16")
    assert (weight.technique, weight.bits, weight.granularity) == (technique, bits, granularity)
    assert weight.bytes == weights.bytes == size


def test_vectors_of_a_palette(inspected):
    vectors = {name: inspected(name).weights.tensors[0].vector for name in ("palettized_4bit", "palettized_groups")}
    assert set(vectors.values()) == {1}
    assert inspected("palettized_vectors").weights.tensors[0].vector == 2
    assert inspected("palettized_vector_groups").weights.tensors[0].vector == 4


def test_weights_stored_in_another_type_than_computed_with(inspected):
    model = inspected("cast_weights")
    (weight,) = model.weights.tensors
    assert (weight.stored, weight.element, weight.technique) == ("Float16", "Float32", ("cast",))
    assert (model.weights.bytes, model.main.precision) == (2 * WEIGHTS, ("Float32",))


@pytest.mark.parametrize(
    ("name", "technique", "bits", "granularities", "size"),
    [
        ("network_float16", (), 16, (None, None), 2 * (SIDE * SIDE + SIDE)),
        # A scale and a bias of 32 bits for each output, and for all biases together.
        ("network_quantized", ("quantized",), 8, ("per channel", "per tensor"), SIDE * SIDE + SIDE + 8 * (SIDE + 1)),
        # Two palettes of 16 entries of 32 bits.
        (
            "network_palettized",
            ("palettized",),
            4,
            ("per tensor", "per tensor"),
            (SIDE * SIDE + SIDE) // 2 + 2 * 16 * 4,
        ),
    ],
)
def test_weights_of_networks(inspected, name, technique, bits, granularities, size):
    weights = inspected(name).weights
    assert [weight.count for weight in weights.tensors] == [SIDE * SIDE, SIDE]
    assert {(weight.technique, weight.bits) for weight in weights.tensors} == {(technique, bits)}
    assert tuple(weight.granularity for weight in weights.tensors) == granularities
    assert (weights.state, weights.bytes) == (WeightState.INSIDE, size)


def test_weights_that_lie_deeper_in_a_layer(inspected):
    """Gates of recurrent layers and parameters of activations have messages of their own."""
    one_way = GATES * (UNITS * FEATURES + UNITS * UNITS + UNITS)
    assert inspected("lstm").weights.bytes == 4 * one_way
    assert inspected("lstm_both_ways").weights.bytes == 2 * 4 * one_way
    assert len(inspected("lstm_both_ways").weights.tensors) == 2 * GATES * 3
    assert inspected("activation").weights.bytes == 4 * 16
