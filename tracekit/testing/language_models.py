"""Requests to language models, and what they leave in a recording: signposts of Core AI's package, or the tables of
Foundation Models. What is asked for is what must be found.

chat = CoreAIChat(scenario)
end = chat.load(100 * MS, 900 * MS)
truth = chat.request(end, prompt_tokens=200, prompt_ns=150 * MS, tokens_ns=[15 * MS] * 40)

session = Session(scenario, instructions="You are a cook.")
truth = session.request(0, prompt_ns=200 * MS, generation_ns=900 * MS, consumed=812, generated=64, cached=600)

No recording of either is public: names, messages, and columns are those of sources and schemas.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.rows import LoggedRow
from tracekit.testing.scenario import Scenario

_CORE_AI = "com.apple.coreai-models.performance"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a request."""

    start_ns: int
    end_ns: int
    first_token_ns: int
    """From its start."""
    prompt_ns: int
    generation_ns: int
    outside_ns: int | None = None
    """Tokenizer, sampling and cache; None where nothing shows them."""
    token_intervals: tuple[int, ...] = ()
    """From each token to the next."""
    tool_ns: int = 0


@dataclass(slots=True)
class CoreAIChat:
    """A language model on Core AI, by the signposts of its package."""

    scenario: Scenario
    thread: int = 2
    """Number of the thread that it logs on."""
    subsystem: str = _CORE_AI
    bracket: bool = True
    """Whether a request has an interval around it."""

    def log(self, start_ns: int, duration_ns: int, name: str, message: str = "", **more: str) -> int:
        """Log something (`more`: as in `LoggedRow`). Returns its end in ns."""
        thread = Thread(main_thread(self.scenario.target).tid + self.thread, self.scenario.target)
        row = LoggedRow(start_ns, duration_ns, name, self.subsystem, "performance", message, thread, **more)
        self.scenario.logged.append(row)
        return start_ns + duration_ns

    def load(self, start_ns: int, duration_ns: int, warm_up_ns: int = 0) -> int:
        """The model is loaded, and warmed up. Returns the end in ns."""
        end = self.log(start_ns, duration_ns, "ModelLoad", "engine=main")
        return self.log(end, warm_up_ns, "Warmup", "engine=main, tokens=8") if warm_up_ns else end

    def request(
        self,
        start_ns: int,
        *,
        prompt_tokens: int,
        prompt_ns: int,
        tokens_ns: Sequence[int],
        processed_tokens: int | None = None,
        tokenize_ns: int = 2_000_000,
        sample_ns: int = 400_000,
        detokenize_ns: int = 150_000,
        cache_ns: int = 0,
        finished: bool = True,
    ) -> Truth:
        """A request: `tokens_ns` are the forward passes, one for each token. Sampling, detokenization and growth of the
        cache follow each of them. `processed_tokens`: those of the prompt that were not cached; None for all."""
        processed = prompt_tokens if processed_tokens is None else processed_tokens
        now = self.log(start_ns, tokenize_ns, "Tokenization", f"tokens={prompt_tokens}")
        now = prompted = self.log(now, prompt_ns, "Prompt", f"tokens={processed}, strategy=Vanilla")
        at: list[int] = []
        for step, forward_ns in enumerate(tokens_ns):
            begin = now
            now = self.log(now, forward_ns, "LogitsInference", f"tokens=1, step={step}, engine=main")
            now = self.log(now, cache_ns, "CacheManagement", f"operation=grow, step={step}") if cache_ns else now
            now = self.log(now, sample_ns, "Sample", f"step={step}")
            if step:
                self.log(begin, now - begin, "Extend", f"step={step}, strategy=Vanilla")
            now = self.log(now, detokenize_ns, "Decode", f"step={step}")
            at.append(self.log(now, 0, "TokenGeneration", f'Token {step}: "word{step}"', form="event"))
        if self.bracket:
            text = f"Starting inference: {prompt_tokens} prompt tokens, max 999 generation tokens"
            form = "interval" if finished else "open"
            end_message = f"Generated {len(tokens_ns)} tokens"
            self.log(start_ns, now - start_ns, "Inference", text, end_message=end_message, form=form)
        outside = tokenize_ns + len(tokens_ns) * (sample_ns + detokenize_ns + cache_ns)
        between = tuple(tokens_ns[step] + cache_ns + sample_ns for step in range(1, len(tokens_ns)))
        first = (at[0] if at else prompted) - start_ns
        return Truth(start_ns, now, first, prompt_ns, now - prompted, outside, between)


@dataclass(slots=True)
class Session:
    """A session of Foundation Models."""

    scenario: Scenario
    instructions: str = "Answer in one sentence."
    index: int = 1
    events: bool = True
    """Whether its requests leave raw events."""
    order: tuple[int, int, int, int] = (0, 1, 2, 3)
    """In which order an event names itself, its inference, its request, and its session; disputed."""
    _transcript: list[dict[str, str]] = field(default_factory=list)
    _count: int = 0
    _plot: str = field(init=False)

    def __post_init__(self) -> None:
        self._plot = f"({self.index}) Session {self.index}"

    def _add(self, schema: str, *cells: int | str | None) -> None:
        self.scenario.language_models.setdefault(schema, []).append(cells)

    def loads(self, start_ns: int, duration_ns: int, asset: str = "", *, to: str = "loaded") -> int:
        """An asset changes its state. Returns the end in ns."""
        before = "unloaded" if to == "loaded" else "loaded"
        asset = asset or "com.apple.fm.language.instruct_3b.base?variant=a"
        color = "Blue" if to == "loaded" else "Brown"
        self._add("ModelLoadingTable", start_ns, duration_ns, None, asset, before, to, f"{before} → {to}", color)
        return start_ns + duration_ns

    def instruct(self, start_ns: int, duration_ns: int, text: str | None = None) -> None:
        """Instructions (None: those of the session) are in force."""
        text = self.instructions if text is None else text
        self._add("InstructionsTable", start_ns, duration_ns, text, 0, self.index, self._plot, "inst", "")

    def request(
        self,
        start_ns: int,
        *,
        prompt_ns: int,
        generation_ns: int,
        consumed: int | None = 400,
        generated: int | None = 40,
        cached: int | None = None,
        tools: Sequence[tuple[str, str, int]] = (),
        prompt: str = "What is for dinner?",
        error: str = "N/A",
        appends: bool = True,
    ) -> Truth:
        """A request: the model runs once, and again behind each of the tools (name, arguments as JSON, duration in ns).
        Every run takes the same times and tokens; a count of None is an empty cell. `appends`: whether the transcript
        goes on from that of the request before, or begins anew."""
        self._count += 1
        request = f"request-{self.index}-{self._count}"
        self._transcript = [*(self._transcript if appends else ()), {"role": "user", "contents": prompt}]
        counts = (consumed, generated, cached)
        # Texts and counts of tokens of a run of the model, as its table has them.
        texts = ("Agent", prompt, "An answer.", self.instructions, self.instructions, "", "SystemLanguageModel", "")
        total = str(sum(count or 0 for count in counts[:2]))
        parts = (*texts, total, *("" if count is None else str(count) for count in counts))
        failed = int(error not in ("", "N/A"))
        errors = (str(failed), error)
        now, first = start_ns, 0
        for number in range(len(tools) + 1):
            run = f"inference-{self.index}-{self._count}-{number}"
            head = (run, str(self._count), self.index, self._plot)
            first = first or now + prompt_ns
            self._event(now, "REQ", run, request, event="request_start")
            self._event(now, "PMT", run, request, entries=self._transcript, version="1.1")
            self._add("ModelInferenceTable", now, prompt_ns, *head, *parts, "NPrompt", *errors, "Yellow")
            now += prompt_ns
            if generation_ns:
                self._event(now, "RSP", run, request, event="response_start")
                self._add("ModelInferenceTable", now, generation_ns, *head, *parts, "NResolve", *errors, "Orange")
                now += generation_ns
                names = ("consumedTokenCount", "generatedTokenCount", "cachedTokenCount")
                data = {name: count for name, count in zip(names, counts, strict=True) if count is not None}
                self._event(now, "RSP", run, request, event="response_complete", data=data)
            if number < len(tools):
                name, arguments, length = tools[number]
                cells = (f"tool-{run}", name, arguments, '{"private": 1}', "N/A", self.index, self._plot, run)
                self._add("ToolTable", now, length, *cells)
                now += length
        runs = len(tools) + 1
        named = (prompt, request, f"session-{self.index}", f"Request {self._count}", self.index, self._plot)
        self._add("RequestTable", start_ns, now - start_ns, *named, 1, runs, 5 * runs, (consumed or 0) * runs, failed)
        generation = runs * generation_ns
        tool_ns = sum(length for _, _, length in tools)
        return Truth(start_ns, now, first - start_ns, runs * prompt_ns, generation, tool_ns=tool_ns)

    def end(self, start_ns: int, duration_ns: int) -> None:
        """The session was active."""
        cells = ("What?", f"session-{self.index}", f"Session {self.index}", self.index, self._plot)
        self._add("SessionTable", start_ns, duration_ns, *cells, self._count, self._count, 1, 0, 0)

    def _event(self, time_ns: int, tag: str, run: str, request: str, **said: object) -> None:
        if self.events:
            number = len(self.scenario.language_models.get("FMEventTable", ()))
            ids = (f"event-{number}", run, request, f"session-{self.index}")
            named = ",".join(ids[place] for place in self.order)
            self._add("FMEventTable", time_ns, f"{tag},{named}::{json.dumps(said)}")
