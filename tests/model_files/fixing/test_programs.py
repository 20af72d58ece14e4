"""What is called of coremltools that is not its public interface."""

import numpy as np
import pytest

from tracekit.model_files.fixing.programs import _palette


def test_a_palette_has_the_means_of_the_closest_weights():
    """Of few weights, for which the public functions of coremltools need scikit-learn."""
    pytest.importorskip("coremltools")
    weights = np.array([[-8, -7.5, 0.25], [0.75, 4, 16]], np.float32)
    table, indices = _palette(2)(weights)
    assert table.ravel()[indices].reshape(2, 3) == pytest.approx(np.array([[-7.75, -7.75, 0.5], [0.5, 4, 16]]))
    assert (table.dtype, indices.dtype) == (np.float32, np.uint8)
