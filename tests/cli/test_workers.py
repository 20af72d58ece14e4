"""Recordings read by several processes, or on a Dask cluster."""

from __future__ import annotations

import os
import signal
import socketserver
import subprocess
import sys
import threading
import time

import pytest

from support.choice import sweep_rest
from support.processes import is_running, needs_proc
from tracekit.cli import workers
from tracekit.cli.workers import in_processes, on_cluster
from tracekit.errors import TracekitError


def square(number):
    if number < 0:
        os._exit(1)
    return number * number


@pytest.mark.sweep
def test_results_of_processes_come_in_order_and_one_that_dies_costs_no_other():
    assert list(in_processes(square, [3, -1, 2], 2)) == [9, None, 4]


@pytest.mark.sweep
def test_what_a_dying_process_left_is_tried_again_and_an_error_in_one_is_raised(tmp_path):
    assert list(in_processes(die_once, [tmp_path / "one", tmp_path / "other"], 2)) == ["alive", "alive"]

    with pytest.raises(RuntimeError, match="TypeError: can't multiply"):
        list(in_processes(square_of_text, ["x"], 2))


def die_once(path):
    if not path.exists():
        path.touch()
        os._exit(1)
    return "alive"


def square_of_text(text):
    return text * text


BUSY = """
import sys
import threading
from pathlib import Path
from support.processes import at_work_in
from tracekit.cli.process import Terminated, raising_terminated
from tracekit.cli.workers import in_processes
with raising_terminated():
    try:
        list(in_processes(at_work_in, [Path(sys.argv[1])] * 3, 2))
    except Terminated:
        sys.exit(143)
"""


@pytest.mark.sweep
@needs_proc
@pytest.mark.parametrize(("number", "status"), sweep_rest((signal.SIGTERM, 143), (signal.SIGKILL, -9)))
def test_processes_end_at_once_with_the_one_that_they_work_for(tmp_path, number, status):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    main = subprocess.Popen([sys.executable, "-c", BUSY, str(tmp_path)], env=environment)
    try:
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
        workers = [int(path.name) for path in tmp_path.iterdir()]
        assert all(map(is_running, workers))
        main.send_signal(number)
        assert main.wait(AT_ONCE_S) == status
        wait_for(lambda: not any(map(is_running, workers)), AT_ONCE_S)
    finally:
        main.kill()
        main.wait()


AT_ONCE_S = 5.0
"""Usual are some milliseconds."""


def wait_for(condition, patience_s=60.0):
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def cluster():
    """Address of a cluster of two threads in this process."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster_of_one:
        yield cluster_of_one.scheduler_address


@pytest.mark.sweep
def test_results_of_a_cluster_come_in_order_and_one_that_is_not_there_is_a_sentence(cluster, tracekit):
    assert list(on_cluster(square, list(range(20)), cluster)) == [number**2 for number in range(20)]

    pytest.importorskip("distributed", reason="Dask is not installed")
    with pytest.raises(TracekitError, match="cannot reach a Dask scheduler at nonsense:"):
        list(on_cluster(square, [1], "nonsense://x"))

    assert "not allowed with" in tracekit("compare", "a.trace", "b.trace", "--jobs", "2", "--dask", "x").err


@pytest.mark.sweep
@pytest.mark.parametrize("says", [b"HTTP/1.1 400 Bad Request\r\n\r\nThis is no scheduler.", None])
def test_a_server_that_is_no_scheduler_is_one_sentence(monkeypatch, says):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr(workers, "CONNECT_S", 0.5)
    ended = threading.Event()

    class Server(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            if says:
                self.request.sendall(says)
            else:
                ended.wait()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with pytest.raises(TracekitError, match=r"^cannot reach a Dask scheduler at 127\.0\.0\.1:\d+: "):
                list(on_cluster(square, [1], f"127.0.0.1:{server.server_address[1]}"))
        finally:
            ended.set()
            server.shutdown()


CLUSTER = """
import time
from distributed import LocalCluster
with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=":0") as it:
    print(it.scheduler_address, flush=True)
    time.sleep(600)
"""


@pytest.mark.sweep
def test_a_scheduler_that_goes_is_one_sentence(capfd):
    pytest.importorskip("distributed", reason="Dask is not installed")
    scheduler = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with scheduler:
        address = scheduler.stdout.readline().strip()
        results = on_cluster(time.sleep, [0.1] * 50, address)
        next(results)
        scheduler.kill()
        with pytest.raises(TracekitError, match=f"^the Dask scheduler at {address} has gone; start it again, "):
            list(results)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("command", "workers"), sweep_rest(("compare", "--jobs"), ("compare", "--dask"), ("history", "--jobs"))
)
def test_workers_give_the_bytes_of_one_after_another(tracekit, reports, tmp_path, request, command, workers):
    before, after = sorted(reports.iterdir())
    paths = [before, tmp_path / "gone.json", after]
    there = request.getfixturevalue("cluster") if workers == "--dask" else 2
    alone, together = (
        tracekit(command, "--format", "csv", *paths, "--no-config", *words) for words in ((), (workers, there))
    )
    assert alone.status == 2
    assert "SharpenFilter" in alone.out
    assert "gone.json" in alone.err
    assert together == alone
