"""Work in a thread, for the app and its widgets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from textual.dom import DOMNode
from textual.worker import get_current_worker

Result = TypeVar("Result")


def in_background(node: DOMNode, work: Callable[[], Result], then: Callable[[Result], None]) -> None:
    """Do something long in a thread, then show what came of it. `work` touches no widget."""

    def run() -> None:
        worker = get_current_worker()
        result = work()

        def show() -> None:
            # The app may have been left meanwhile, and its screens be gone.
            if not worker.is_cancelled:
                then(result)

        if not worker.is_cancelled:
            node.app.call_from_thread(show)

    node.run_worker(run, thread=True)
