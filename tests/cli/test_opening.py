"""`tracekit export --open`: the file goes to the page that was opened, once, and to nobody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tracekit.cli import viewers


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    """One that is free, since tests run side by side."""
    with socket.socket() as free:
        free.bind((viewers.HOST, 0))
        number: int = free.getsockname()[1]
    monkeypatch.setattr(viewers, "PORT", number)
    return number


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as each:
        yield each


def test_the_page_gets_the_file_once(
    tracekit, samples: Path, tmp_path: Path, port: int, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[Future[tuple[int, bytes, str | None]]] = []

    def page(address: str) -> bool:
        assert address.startswith("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:")
        got.append(pool.submit(fetch, address.partition("url=")[2]))
        return True

    def fetch(address: str) -> tuple[int, bytes, str | None]:
        guessed, right = (asked(path) for path in ("/a%20b.json", urlsplit(address).path))
        return guessed[0], *right[1:]

    def asked(path: str) -> tuple[int, bytes, str | None]:
        with closing(HTTPConnection(viewers.HOST, port)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.getheader("Access-Control-Allow-Origin")

    monkeypatch.setattr(viewers.webbrowser, "open", page)
    file = tmp_path / "a b.json"
    result = tracekit("export", samples / "sharpen_8bit.trace", "-o", file, "--open")
    assert result.status == 0, result.err
    assert got[0].result() == (404, file.read_bytes(), "https://ui.perfetto.dev")
    assert "the page comes from ui.perfetto.dev over the network; the recording stays on this machine" in result.err
    with socket.socket() as again:
        assert again.connect_ex((viewers.HOST, port)) != 0


def test_a_port_in_use_and_a_page_that_never_comes_are_said(
    tracekit, samples: Path, tmp_path: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers.webbrowser, "open", lambda _: True)
    monkeypatch.setattr(viewers, "WAIT_SECONDS", -1)
    arguments = ("export", samples / "sharpen_8bit.trace", "-o", tmp_path / "x.json", "--open")
    late = tracekit(*arguments)
    assert late.status == 2
    assert f"drag {tmp_path / 'x.json'} into the page" in late.err
    # Without a browser there is nothing to wait for.
    monkeypatch.setattr(viewers, "WAIT_SECONDS", 1e9)
    monkeypatch.setattr(viewers.webbrowser, "open", lambda _: False)
    alone = tracekit(*arguments)
    assert alone.status == 0
    assert f"no browser could be started; open https://ui.perfetto.dev and drag {tmp_path / 'x.json'}" in alone.err
    with socket.socket() as taken:
        taken.bind((viewers.HOST, port))
        taken.listen()
        busy = tracekit(*arguments)
    assert busy.status == 2
    assert f"cannot serve {tmp_path / 'x.json'} at 127.0.0.1:{port}" in busy.err
    assert (tmp_path / "x.json").exists()
