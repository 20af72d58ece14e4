"""A history as CSV."""

import csv
import io

import numpy as np

from support.made_histories import commit, latencies, recorded
from tracekit.comparison.history import history_of
from tracekit.comparison.renderers.tables import render_history_csv


def test_a_line_for_each_build_names_what_changed_with_it():
    recordings = latencies(np.log([1.0] * 10 + [2.0] * 4))
    recordings[2] = recorded(2, {"Sharpen": {"neural-engine": 0.5}})
    rows = list(csv.DictReader(io.StringIO(render_history_csv(history_of(recordings)))))
    assert [row["p50_ns"] for row in rows] == ["8000000"] * 2 + [""] + ["8000000"] * 7 + ["16000000"] * 4
    assert [row["changed"] for row in rows] == [""] * 10 + ["p50_ns"] + [""] * 3
    assert rows[2] == {
        "model": "Sharpen", "device": "iPhone 14 Pro", "system": "iOS 18.5 (22F76)",
        "time": "2026-08-06T09:00:00+00:00", "commit": commit(2), "recordings": "1", "p50_ns": "", "p95_ns": "",
        "all_p50_ns": "", "all_p95_ns": "", "load_ns": "", "cold_load_ns": "", "predictions_per_second": "",
        "neural-engine": "0.5", "gpu": "", "cpu": "", "compiled": "", "findings": "", "changed": "",
    }  # fmt: skip


def test_a_cell_is_no_formula():
    assert "\n'=Net," in render_history_csv(history_of(latencies(np.zeros(1), "=Net")))
