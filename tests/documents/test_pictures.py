"""Charts of latencies."""

import numpy as np
import pytest

from tracekit.documents.pictures import Scale

MS = 1_000_000


@pytest.mark.parametrize(
    "durations", [[5 * MS], [5 * MS] * 3, [0, 0], [5 * MS, 6 * MS], [1 * MS, 90 * MS], [1, 10**12], [0, 10**12]]
)
def test_every_latency_has_its_place_in_the_picture(durations):
    scale = Scale.of(np.array(durations, np.int64))
    places = scale(np.array(durations, np.int64))
    assert ((places >= 0) & (places <= 1)).all()
    for duration, place in zip(durations, places.tolist(), strict=True):
        assert scale.value(place) == pytest.approx(duration)
