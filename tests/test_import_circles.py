"""No module imports itself by way of others, not inside functions and not for types either."""

from __future__ import annotations

import grimp
import pytest


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
