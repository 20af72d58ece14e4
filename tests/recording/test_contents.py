"""What the facts of a recording say."""

import pytest

from tracekit.recording.contents import is_simulator


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("iOS Simulator", True),
        ("visionOS Simulator 26.3 (23D127)", True),
        ("iOS 18.5 (22F76)", False),
        ("macOS", False),
        (None, False),
    ],
)
def test_a_simulator_is_told_by_its_platform(system, expected):
    assert is_simulator(system) is expected
