"""Servers in memory. The package of the protocol takes a second, which not each process of tests need spend."""

from __future__ import annotations

import json
from functools import partial

import anyio
import pytest

from support.servers import recordings_in


async def _asked(server, mode: str, calls) -> list[tuple[bool, str]]:
    from mcp import Client

    async with Client(server, mode=mode) as client:
        results = [await client.call_tool(name, arguments) for name, arguments in calls]
    return [(bool(result.is_error), "".join(part.text for part in result.content)) for result in results]


@pytest.fixture(scope="session")
def server_of():
    """Makes a server of what gives its recordings."""
    pytest.importorskip("mcp")
    from tracekit.mcp_server.server import server_of

    return server_of


@pytest.fixture(scope="session")
def server(server_of, samples):
    """A server of the samples, and of the corpus where it is here. Reads each recording once for all tests."""
    corpus = samples.parents[1] / "shared" / "corpus" / "bundles"
    return server_of(partial(recordings_in, samples, *([corpus] if corpus.is_dir() else [])))


@pytest.fixture(scope="session")
def ask(server):
    """Whether a tool failed, and its text, for each call."""

    def asked(*calls, mode="auto", server=server):
        return anyio.run(_asked, server, mode, calls)

    return asked


@pytest.fixture(scope="session")
def answer(ask):
    """The JSON of one answer."""

    def answered(name, **arguments):
        [(failed, text)] = ask((name, arguments))
        assert not failed, text
        return json.loads(text)

    return answered
