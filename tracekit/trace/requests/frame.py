"""`Trace.requests`: one row for each request to a language model.

What was not recorded is null. Durations are times that were covered, so what
overlaps counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Flags, Numbers, Texts, Type, column, columns_of
from tracekit.intervals import running_end
from tracekit.rows import in_order, joined, start_order
from tracekit.trace.context import ContextRows

FOUNDATION_MODELS: Final = (
    *("SessionTable", "RequestTable", "InstructionsTable", "ModelInferenceTable"),
    *("ToolTable", "ModelLoadingTable", "FMEventTable"),
)
CORE_AI: Final = ("ODIEProfile", "CoreAIProfile")
"""Tables of these instruments."""
REQUESTS: Final = "requests"
"""Name of the rows in the context."""
LOGGED, RECORDED = "signposts", "foundation-models"
FIRST_TOKEN: Final = ("token", "detokenization", "token interval", "sampling", "response event", "prompt")
"""What shows the first token: a token that was logged, the end of its detokenization, the begin of the interval to the
next one, the end of its sampling, the event of a response, or only the end of the prompt phase."""
INSTRUMENT: Final = "Foundation Models"
"""The instrument of requests to Apple's own language model."""
NO_ERROR: Final = "none"
"""The error of a request that had none."""
TOKENIZER: Final = ("tokenization", "detokenization")
OUTSIDE: Final = (*TOKENIZER, "sampling", "cache", "step preparation")
"""Steps in which a request does not run the model."""
CORE_AI_RUNTIME: Final = "Core AI"
UNVALIDATED: Final = frozenset({INSTRUMENT, CORE_AI_RUNTIME})
"""Runtimes whose tables no public recording shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Requests(ContextRows):
    """Requests to language models. `error` is one of `pairing.KINDS`, `first_token_from` one of `FIRST_TOKEN`."""

    duration_ns: Numbers = column("duration; null where its end is not in the recording")
    last_ns: IntArray = column("its end; without one, that of the last row that is its own")
    request: IntArray = column("its number; `Trace.phases` has it for each row of a request")
    runtime: Texts = column("what ran it")
    model: Texts = column("the model, where it is named")
    process: Texts = column("name of the process")
    pid: Numbers = column("id of the process")
    session: Numbers = column("number of its session")
    first_token_ns: Numbers = column("from its start to its first token")
    first_token_from: Texts = column("what shows the first token; `prompt`: only the end of the prompt phase")
    prompt_ns: Numbers = column("time in prompt phases; of all its inferences")
    generation_ns: Numbers = column("time from prompt to last token; of all its inferences")
    consumed_tokens: Numbers = column("tokens of prompt, instructions, and transcript; of all its inferences")
    cached_tokens: Numbers = column("those of them that were reused; unknown is null, never 0")
    processed_tokens: Numbers = column("those of them that were not")
    generated_tokens: Numbers = column("tokens of the answer; so far, where it has no end")
    context_tokens: Numbers = column("consumed and generated, of its longest inference")
    window_tokens: Numbers = column("size of the context window, where an error names it")
    inferences: Numbers = column("runs of the model")
    tokenizer_ns: Numbers = column("time of tokenization and detokenization")
    sampling_ns: Numbers = column("time of sampling")
    cache_ns: Numbers = column("time in which the cache grew")
    outside_ns: Numbers = column("these three and the preparation of steps, without forward passes meanwhile")
    tool_ns: Numbers = column("elapsed time of tool calls")
    tools: Numbers = column("tool calls")
    load_ns: Numbers = column("loads and warm-ups between its start and its first token")
    error: Texts = column(
        "kind of error; `none`: it is known that there was none; `unknown kind`: only a count is known"
    )
    instructions: Numbers = column("equal where texts of instructions are; the text is not kept")
    instructions_form: Numbers = column("the same, of texts without digits")
    instructions_region: Numbers = column("number of the region of the Instructions lane that it began in")
    appended: Flags = column("its transcript begins with that of the request before it in its session")
    overlapping: BoolArray = column("another request of its process ran meanwhile")
    uncertain: BoolArray = column("rows meanwhile may be its own or another's, and are in no number")
    origin: Texts = column("what recorded it: `signposts` or `foundation-models`")
    unvalidated: BoolArray = column("rests on tables of which no public recording shows the rows")
    table: Texts = column("table of the row that stands for it")
    row: IntArray = column("that row")

    def ends(self, end_ns: int) -> IntArray:
        """Shape (rows,): when each request ends; what has no end lasts until the recording does."""
        ends = self.start_ns + self.duration_ns.values
        return np.where(self.duration_ns.known, ends, np.maximum(end_ns, self.start_ns))


def joined_requests(parts: Sequence[Requests]) -> Requests:
    """The parts in order of time, numbered as given, and whether requests overlap. O(n log n)."""
    every = joined([part for part in parts if len(part)] or [Requests.none()])
    every = replace(every, request=np.arange(len(every)))
    every = in_order(every, start_order(every.start_ns, every.duration_ns.filled()))
    # Another request of the same process shares time with it.
    order = np.argsort(every.pid.filled(), kind="stable")
    pid, starts, ends = every.pid.filled()[order], every.start_ns[order], every.last_ns[order]
    same = pid[1:] == pid[:-1]
    overlapping = np.zeros(len(order), np.bool_)
    latest = running_end(pid, ends)
    overlapping[order[1:]] |= same & (starts[1:] < latest[:-1])
    overlapping[order[:-1]] |= same & (starts[1:] < ends[:-1])
    texts = {each.name: getattr(every, each.name) for each in columns_of(Requests) if each.type is Type.TEXT}
    in_order_of_text = {name: cells.used().recoded(str, sorted(cells.held())) for name, cells in texts.items()}
    return replace(every, overlapping=overlapping, **in_order_of_text)
