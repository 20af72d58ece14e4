from dataclasses import replace

import pytest

from tracekit.recording.contents import Run
from tracekit.trace.build import build_trace

MS, SECOND = 1_000_000, 1_000_000_000


def notes(recording):
    return build_trace(recording).notes


def of_length(recording, duration_ns):
    """The recording, with a run of this length."""
    return replace(recording, run=Run(number=1, duration_ns=duration_ns))


def test_an_ordinary_recording_leaves_no_doubt(make):
    coreml = make.coreml((0, 5, "Load", "a-1"), (10, 5, "Prediction", "a-1"), (11, 0, "Input Copy", "a-1"))
    engine = make.engine((11, 3, "a_main__Op0_AneInference Prediction"), (20, 3, "Neural Engine Prediction"))
    assert notes(of_length(make.recording(coreml, engine), 25)) == ()
    assert notes(make.recording(coreml, engine, toc=False)) == ()


def test_core_ml_rows_of_two_files_may_be_of_two_recordings(make):
    one = replace(make.coreml((0, 5, "Prediction", "a-1")), source="a.xml")
    other = replace(make.coreml((0, 5, "Prediction", "b-1")), source="b.xml")
    assert notes(make.recording(one, other)) == ()
    (note,) = notes(make.recording(one, other, toc=False))
    assert note.startswith("Core ML rows come from 2 files")
    assert notes(make.recording(one, replace(other, source="a.xml"), toc=False)) == ()


def test_loads_and_predictions_without_a_duration_are_told(make):
    rows = [(0, None, "Load", "a-1"), (10, 5, "Prediction", "a-1"), (20, 0, "Prediction", "a-1")]
    assert notes(make.recording(make.coreml(*rows))) == (
        "2 of 3 loads and predictions have no duration and count as 0 ns.",
    )


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 2_600 * MS, "Net_main__Op0_AneInference Compile")], ": 1 compilation of Net (2.60 s)."),
        (
            [
                *((0, 900 * MS, "Net_main__Op0_AneInference Compile"), (800 * MS, 200 * MS, "B_main__Op0_X Compile")),
                *((2_000 * MS, 50 * MS, "Neural Engine Load"), (3_000 * MS, 10 * MS, "Neural Engine Load")),
            ],
            ": 1 compilation of B (200 ms), 1 compilation of Net (900 ms), 2 loads (60.0 ms).",
        ),
        ([(0, 5 * MS, "Neural Engine Prediction")], None),
    ],
)
def test_compilations_and_loads_of_the_engine_alone_are_told(make, rows, said):
    expected = () if said is None else (f"Inferred from Neural Engine rows, which name no process{said}",)
    assert notes(make.recording(make.engine(*rows))) == expected
    assert notes(make.recording(make.coreml((0, 5, "Prediction", "a-1")), make.engine(*rows))) == ()


@pytest.mark.parametrize(("end", "message"), [(3 * SECOND, False), (3 * SECOND + 1, True)])
def test_rows_that_end_well_after_the_run_are_told(make, end, message):
    coreml = make.coreml((0, 5, "Prediction", "a-1"), (end - 5, 5, "Prediction", "a-1"))
    notes_found = notes(of_length(make.recording(coreml), 2 * SECOND))
    assert bool(notes_found) is message
    if message:
        assert notes_found[0].startswith("1 Core ML row ends after the end of the run (2.00 s)")
