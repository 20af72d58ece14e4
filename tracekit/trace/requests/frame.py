"""`Trace.requests`: one row for each request to a language model.

What was not recorded is null. Durations are times that were covered, so what
overlaps counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Flags, Numbers, Texts, column, columns_of
from tracekit.frame import dtypes_of
from tracekit.rows import Rows
from tracekit.trace.frames import made_once, or_minus_one, sorted_by_start

FOUNDATION_MODELS: Final = (
    *("SessionTable", "RequestTable", "InstructionsTable", "ModelInferenceTable"),
    *("ToolTable", "ModelLoadingTable", "FMEventTable"),
)
CORE_AI: Final = ("ODIEProfile", "CoreAIProfile")
"""Tables of these instruments."""
REQUESTS: Final = "requests"
"""Name of the frame in the context."""
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
UNVALIDATED: Final = frozenset({INSTRUMENT, "Core AI"})
"""Runtimes whose tables no public recording shows."""


@dataclass(frozen=True, slots=True, eq=False)
class Requests(Rows):
    """Requests to language models. `error` is one of `pairing.KINDS`, `first_token_from` one of `FIRST_TOKEN`."""

    start_ns: IntArray = column("start")
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


DTYPES: Final = dtypes_of(columns_of(Requests))


@made_once
def no_requests() -> pd.DataFrame:
    """A frame of requests without rows, as most recordings have it."""
    nothing = {dtype: pd.Series([], dtype=dtype).array for dtype in set(DTYPES.values())}
    return pd.DataFrame({name: nothing[dtype] for name, dtype in DTYPES.items()}, copy=False)


def requests_frame(columns: Mapping[str, object], count: int) -> pd.DataFrame:
    """The columns that are given, and null, False or 0 in the others."""
    blank: dict[str, object] = {"int64": 0, "bool": False}
    made = {
        name: pd.Series(columns[name] if name in columns else [blank.get(dtype)] * count, dtype=dtype)
        for name, dtype in DTYPES.items()
    }
    return pd.DataFrame(made)


def joined_requests(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The parts as one frame in order of time, numbered as given, and whether requests overlap. O(n log n)."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return no_requests()
    frame = pd.concat([part.astype(dict.fromkeys(_TEXTS, object)) for part in parts], ignore_index=True)
    frame["request"] = np.arange(len(frame))
    frame = sorted_by_start(frame.astype(DTYPES))
    # Another request of the same process shares time with it.
    pid, starts, ends = or_minus_one(frame["pid"]), frame["start_ns"], frame["last_ns"]
    latest = ends.groupby(pid).cummax().groupby(pid).shift(fill_value=-1)
    following = starts.groupby(pid).shift(-1, fill_value=np.iinfo(np.int64).max)
    return frame.assign(overlapping=(starts < latest) | (following < ends))


_TEXTS: Final = tuple(name for name, dtype in DTYPES.items() if dtype == "category")
