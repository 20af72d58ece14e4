"""Public recordings, rebuilt from their figures."""

from suite.frame import CLEAN, FINDING, NO_FINDING, Case
from support.reference_recordings import CONDITIONS, DECODE, HIFT, PARTITION_A, PARTITION_B, PREFILL, speech_app

EXPLAINED = (DECODE, PREFILL, PARTITION_A, PARTITION_B)

CASES = [
    Case(
        "unexplained-time",
        CLEAN,
        0,
        lambda _: speech_app(),
        expected={
            **dict.fromkeys((HIFT.base, CONDITIONS.base), FINDING),
            **dict.fromkeys((model.base for model in EXPLAINED), NO_FINDING),
        },
    )
]
