"""What the user wants to see of a recording, by name. An error about a name that it does not hold offers those it
holds, without what a report leaves out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.errors import UsageError, unknown
from tracekit.report.formatting import visible
from tracekit.report.redact import PrivateFacts, private_facts, redact_text
from tracekit.trace.filter import (
    everything,
    matching,
    model_names,
    only_models,
    only_process,
    process_names,
    spellings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.trace.filter import Shown
    from tracekit.trace.trace import Trace

_ASK = "'tracekit analyze --no-redact' names those of other processes"


def shown_of(
    trace: Trace, *, models: Sequence[str] = (), process: str | int | None = None, redact: bool = True
) -> Shown | None:
    """What is shown of some models (shell patterns of base names) and of one process (name or pid); None: everything.

    Raises `UsageError` where a pattern matches no model, or where nothing in the recording names the process; `redact`
    keeps names of others out of its text. O(rows) per frame.
    """
    if not models and process is None:
        return None
    shown = everything(trace)
    if process is not None:
        if not any(str(process) in spellings(*pair) for pair in process_names(trace)):
            raise unknown_process(trace, str(process), redact=redact)
        shown = only_process(shown, trace, process)
    if models:
        names = model_names(trace)
        chosen: set[str] = set()
        for pattern in models:
            matches = matching(names, pattern)
            if not matches:
                raise unknown_model(trace, pattern, redact=redact)
            chosen |= matches
        shown = only_models(shown, trace, chosen)
    return shown


def unknown_model(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a pattern that no model matches. `redact` leaves out models that only other processes ran."""
    names = model_names(trace)
    offered = sorted(set(names) - set(private_facts(trace).foreign_models)) if redact else names
    return _error("model", wanted, offered, hidden=len(names) - len(offered))


def unknown_process(trace: Trace, wanted: str, *, redact: bool) -> UsageError:
    """Error for a process that nothing in the recording names. `redact` offers the pids of all but the target."""
    pairs = process_names(trace)
    target = trace.run.target.process
    if not redact:
        return _error("process", wanted, sorted({name for name, _ in pairs}), hidden=0)
    offered = [] if target is None else [target.name]
    others = [pid for name, pid in pairs if name not in offered]
    known = [str(pid) for pid in others if pid is not None]
    return _error("process", wanted, [*offered, *known], hidden=len(others))


def plain(text: str) -> str:
    """A sentence with words of a file of settings, without what is private by its form and what could steer a
    terminal."""
    return visible(redact_text(text, PrivateFacts((), (), None), ()))


def _error(what: str, wanted: str, names: list[str], *, hidden: int) -> UsageError:
    error = unknown(what, visible(wanted), map(visible, names))
    return UsageError(f"{error}; {_ASK}") if hidden else error
