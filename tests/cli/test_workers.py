"""Recordings read by several processes, or on a Dask cluster."""

from __future__ import annotations

import os

import pytest

from tracekit.cli.workers import in_processes, on_cluster
from tracekit.errors import TracekitError


def square(number):
    if number < 0:
        os._exit(1)
    return number * number


def lost(number):
    return f"{number} was lost"


def test_results_of_processes_come_in_order_and_one_that_dies_costs_no_other():
    assert list(in_processes(square, [3, -1, 2], 2, lost)) == [9, "-1 was lost", 4]


@pytest.fixture(scope="module")
def cluster():
    """Address of a cluster of two threads in this process."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster_of_one:
        yield cluster_of_one.scheduler_address


def test_results_of_a_cluster_come_in_order(cluster):
    assert list(on_cluster(square, list(range(20)), cluster, lost)) == [number**2 for number in range(20)]


def test_a_cluster_that_is_not_there_is_one_sentence():
    pytest.importorskip("distributed", reason="Dask is not installed")
    with pytest.raises(TracekitError, match="cannot reach a Dask scheduler at nonsense:"):
        list(on_cluster(square, [1], "nonsense://x", lost))


def test_a_cluster_and_processes_give_the_bytes_of_one_after_another(tracekit, reports, tmp_path, cluster):
    before, after = sorted(reports.iterdir())
    paths = [before, tmp_path / "gone.json", after]
    outcomes = [
        tracekit("matrix", "--format", "csv", *paths, "--no-config", *workers)
        for workers in ((), ("--dask", cluster), ("--jobs", 2))
    ]
    assert {outcome.status for outcome in outcomes} == {2}
    assert "SharpenFilter" in outcomes[0].out
    assert "gone.json" in outcomes[0].err
    assert outcomes[1].out == outcomes[0].out == outcomes[2].out
    assert outcomes[1].err == outcomes[0].err == outcomes[2].err


def test_jobs_and_a_cluster_exclude_each_other(tracekit):
    assert "not allowed with" in tracekit("matrix", "a.trace", "b.trace", "--jobs", "2", "--dask", "x").err
