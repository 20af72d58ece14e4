"""Tables beside the lanes, as both readers give them of a recording that was described."""

from __future__ import annotations

import numpy as np
import pytest

from support.analyses import kept_trace
from tracekit.testing import Process, Scenario, write_bundle, write_export
from tracekit.testing.rows import GpuStateRow
from tracekit.trace.build import open_trace
from tracekit.trace.instruments.tables import GpuStates

APP = Process("Camera", 412)
MS = 1_000_000


@pytest.fixture(params=["run.trace", "exported"])
def opened(request, tmp_path):
    """Writes a scenario in one of its forms, and reads it."""

    def read(scenario):
        (write_bundle if request.param == "run.trace" else write_export)(scenario, tmp_path / request.param)
        return open_trace(tmp_path / request.param)

    return read


def test_gpu_states_count_the_channels_that_worked_at_once(opened):
    states = [GpuStateRow(0, 4 * MS, 1), GpuStateRow(4 * MS, MS, 0), GpuStateRow(5 * MS, 2 * MS, 3)]
    rows = opened(Scenario(APP, duration_ns=9 * MS, gpu_states=states)).table(GpuStates)
    assert [rows.channels.item(at) for at in range(len(rows))] == [1, 0, 3]


@pytest.mark.corpus
@pytest.mark.parametrize("name", ["hello_coreml", "quick_probe", "fp16_w8_60s_all"])
def test_real_states_are_active_where_channels_worked(corpus, name):
    rows = kept_trace(corpus / "bundles" / f"{name}.trace").table(GpuStates)
    channels = rows.channels.filled()
    # The reference saw 1 to 3 at once.
    assert set(np.unique(channels)) == {0, 1, 2, 3}
    assert np.array_equal(channels > 0, rows.state.is_any("Active"))
