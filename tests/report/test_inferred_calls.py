"""What is said of calls that Core ML did not record."""

from __future__ import annotations

import pandas as pd

from tracekit.report.inferred_calls import inferred_facts
from tracekit.trace.events import CALL_DTYPES

MS = 1_000_000


def test_a_call_says_what_shows_it_and_between_which_times_it_began_and_ended() -> None:
    rows = [
        ("core-ml", 0, 5 * MS, 5 * MS, 9 * MS, 9 * MS, True),
        ("call-stacks", MS, 704_614_250, 707_614_250, 3_931_614_000, 3_932_615_083, True),
        ("call-stacks", 5 * MS, 0, 5 * MS, 5 * MS, 80 * MS, False),
        ("signposts", 0, 5 * MS, 5 * MS, 9 * MS, 9 * MS, True),
        ("hardware", 0, 0, 20 * MS, 30 * MS, 900 * MS, True),
    ]
    recorded, sampled, several, logged, hardware = map(dict, inferred_facts(pd.DataFrame(rows, columns=[*CALL_DTYPES])))
    assert recorded == {}
    assert sampled == {
        "inferred from": "call stacks",
        "resolution": "±1 ms",
        "started": "00:00.704 614 to 00:00.707 614",
        "ended": "00:03.931 614 to 00:03.932 615",
    }
    assert several["calls"] == "one or more"
    # That is exact, too.
    assert logged == {"recorded as": "Core ML's signpost"}
    # Nothing bounds a call that only its work shows: when the recording began and ended says nothing of it.
    assert hardware == {
        "inferred from": "hardware rows",
        "started": "at 00:00.020 000 or before",
        "ended": "at 00:00.030 000 or later",
    }
