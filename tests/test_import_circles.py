"""No module imports itself by way of others, not inside functions and not for types either; and no command is left out
of the contract on commands."""

from __future__ import annotations

import tomllib
from pathlib import Path

import grimp
import pytest

from tracekit.cli.commands import COMMANDS


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("tracekit", cache_dir=None)


def test_no_modules_import_each_other_in_a_circle(graph: grimp.ImportGraph) -> None:
    circles = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            chain = graph.find_shortest_chain(importer=imported, imported=module)
            if chain:
                circles.add(" -> ".join((module, *chain)))
    assert not circles, "\n".join(sorted(circles))


def test_the_contract_on_commands_names_every_command() -> None:
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    contracts = {contract["name"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}
    named = contracts["Commands do not use one another"]["modules"]
    assert set(named) == {command.runs.partition(":")[0] for command in COMMANDS}
