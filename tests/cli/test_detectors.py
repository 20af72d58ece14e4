"""`tracekit detectors`: every detector with every option, and where its number comes from."""

from __future__ import annotations

import json

import pytest

from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.options import option_infos
from tracekit.detectors.registry import DETECTORS


def test_every_detector_and_option_is_listed_as_set_takes_it(tracekit) -> None:
    result = tracekit("detectors")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    for detector in DETECTORS:
        assert detector.id in lines
        for info in option_infos(detector):
            assert f"    {detector.id}.{info.name}={info.default} ({info.unit})" in lines


def test_json_holds_default_unit_and_basis(tracekit) -> None:
    listed = {entry["id"]: entry for entry in json.loads(tracekit("detectors", "--format", "json").out)}
    assert list(listed) == [detector.id for detector in (*DETECTORS, *MODEL_DETECTORS)]
    for detector in DETECTORS:
        options = {option["name"]: option for option in listed[detector.id]["options"]}
        for info in option_infos(detector):
            assert options[info.name] == {
                "name": info.name,
                "default": info.default,
                "unit": info.unit,
                "basis": info.basis,
            }


@pytest.mark.parametrize("columns", ["40", "80", "500"])
def test_prose_fits_the_terminal(tracekit, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    prose = [line for line in tracekit("detectors").out.splitlines() if "=" not in line]
    assert max(map(len, prose)) <= min(int(columns), 120)
