"""Labels of hardware rows: the Neural Engine's, the GPU's for Core ML work, and the MPS graph's.

    Neural Engine   generic    "Neural Engine Prediction" | "Neural Engine Load" [": prepare and cache"]
                    specific   model ["_" uuid] "_" function "__Op" digits "_" opkind [blanks verb]
    GPU             model "_" function "__Op" digits "_MpsGraphInference" {"+"} [":" command ...]
    MPS             "MPSGraph:0x" graph " (CommandBuffer: 0x" id ")"

Specific labels may write `_` for the hyphens of a model's name. Source: real Metal exports of Xcode 16.4 for GPU and
MPS; public evidence of Xcode 16.4 to 27.2 for the Neural Engine.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, islice

from tracekit.trace.events import Kind

_BLANKS = re.compile(r"\s+")
_OPERATION = "__Op"
_DEFAULT_FUNCTION = "_main"
_GPU_MARK = "_MpsGraphInference"
_AT_ONCE = 1_000
"""Labels that are searched for the mark at once."""

UUID = re.compile(r"_[0-9A-Fa-f]{8}(?:[-_][0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12}(?=_|$)")
_NEURAL_ENGINE_TAIL = re.compile(r"([0-9]{1,9})_([A-Za-z0-9]+)(?:\s+(.*))?", re.DOTALL)
_GPU_TAIL = re.compile(r"([0-9]{1,9})_MpsGraphInference(\+*)(?![\w+]).*", re.DOTALL)
_MPS = re.compile(r"MPSGraph:0x[0-9a-fA-F]+ \(CommandBuffer: 0x([0-9a-fA-F]{1,16})\)")

_GENERIC: tuple[tuple[str, Kind], ...] = (
    ("neural engine prediction", Kind.ANE_EXEC),
    ("neural engine load", Kind.ANE_LOAD),
    ("neural engine compil", Kind.ANE_COMPILE),
)
_VERBS: dict[str, Kind] = {
    "": Kind.ANE_EXEC,
    "prediction": Kind.ANE_EXEC,
    "compile": Kind.ANE_COMPILE,
    "load": Kind.ANE_LOAD,
}


@dataclass(frozen=True, slots=True)
class HardwareLabel:
    """What the label of a hardware row says."""

    kind: Kind
    model: str | None = None
    """Base name of the model; None where the label names none."""
    operation: int | None = None
    """Index of the operation in the compiled program (`Op<N>`)."""
    buffer: int | None = None
    """GPU only: 0 for the first command buffer of a prediction, then 1, 2, ..."""


class KnownModels:
    """Base names of the models that the recording names elsewhere, ready for matching."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._spellings: dict[str, list[str]] = {}
        for name in sorted(set(filter(None, names))):
            self._spellings.setdefault(_fold(name), []).append(name)
        # Names are looked up by what they begin with, not tried one by one: a file can hold many, in as many labels.
        self._lengths = sorted(set(map(len, self._spellings)), reverse=True)
        self._model_of: dict[str, str] = {}

    def find(self, head: str) -> str:
        """Model of `head`, the part of a label before `__Op`: `model [_uuid] _function`.

        Known names are tried longest first, an exact spelling before one that only folds alike. A shorter known name
        does not claim the label of a longer unknown model: what follows it must look like a function name. Without a
        known name the model ends before `_main`, else before the last `_`. Answers are kept, since labels repeat.
        """
        if head not in self._model_of:
            bare = UUID.sub("", head)
            start = bare.lstrip()
            is_main = start.endswith(_DEFAULT_FUNCTION)
            model = start.removesuffix(_DEFAULT_FUNCTION) if is_main else start.rpartition("_")[0]
            self._model_of[head] = self._look_up(head) or self._look_up(bare) or model or start
        return self._model_of[head]

    def _look_up(self, head: str) -> str | None:
        folded = _fold(head)
        for length in self._lengths:
            spellings = self._spellings.get(folded[:length], ()) if folded[length : length + 1] == "_" else ()
            function = folded[length:]
            # A longer name before `_main` is another model.
            is_function = function == _DEFAULT_FUNCTION or (
                function != "_" and not function.endswith(_DEFAULT_FUNCTION)
            )
            if spellings and is_function:
                return next((name for name in spellings if head.startswith(name)), spellings[0])
        return None


def neural_engine_label(label: str, known: KnownModels) -> HardwareLabel:
    """Meaning of a label of the Neural Engine instrument. Total: unknown forms give kind `other` and no model."""
    head, mark, tail = label.rpartition(_OPERATION)
    match = _NEURAL_ENGINE_TAIL.fullmatch(tail) if mark and head else None
    if match is not None:
        kind = _VERBS.get((match[3] or "").strip().casefold(), Kind.OTHER)
        return HardwareLabel(kind, known.find(head), int(match[1]))
    folded = " ".join(label.split()).casefold()
    return HardwareLabel(next((kind for start, kind in _GENERIC if folded.startswith(start)), Kind.OTHER))


def gpu_label(label: str, known: KnownModels) -> HardwareLabel:
    """Meaning of a label of the GPU instrument. Only Core ML's own work names a model, operation and buffer."""
    at = label.find(_GPU_MARK)
    if at < 0:
        return HardwareLabel(Kind.GPU_EXEC)
    start = label.rfind(_OPERATION, 0, at)
    match = _GPU_TAIL.fullmatch(label[start + len(_OPERATION) :]) if start > 0 else None
    if match is None:
        return HardwareLabel(Kind.GPU_EXEC)
    return HardwareLabel(Kind.GPU_EXEC, known.find(label[:start]), int(match[1]), len(match[2]))


def gpu_labels(labels: Iterable[str], known: KnownModels) -> tuple[list[int], list[HardwareLabel]]:
    """`gpu_label` of each, as index among the distinct ones. Labels end with an address, so that nearly all differ;
    what one means stands before the first blank behind the mark. All alike, or without a mark, are worked out once."""
    code_of: defaultdict[str, int] = defaultdict(count().__next__)
    # Most labels have their first blank behind the mark; only the others are searched one by one.
    told: dict[str, int] = {}
    codes: list[int] = []
    rest = iter(labels)
    while some := tuple(islice(rest, _AT_ONCE)):
        if _GPU_MARK not in "\n".join(some):
            codes += [code_of[""]] * len(some)
            continue
        for text in some:
            first = text.partition(" ")[0]
            code = told.get(first)
            if code is None:
                head, mark, tail = text.partition(_GPU_MARK)
                code = code_of[head + mark + tail.partition(" ")[0] if mark else ""]
                if _GPU_MARK in first:
                    told[first] = code
            codes.append(code)
    return codes, [gpu_label(head, known) for head in code_of]


def mps_command_buffers(labels: Iterable[str]) -> list[int | None]:
    """Id of the command buffer in each label of `mps-hw-intervals`; it equals `cmdbuffer-id` of the Metal tables."""
    return [None if match is None else int(match[1], 16) for match in map(_MPS.search, labels)]


def _fold(text: str) -> str:
    """A name may begin with blanks or hold several, and labels may write one or none."""
    return _BLANKS.sub(" ", text).lstrip().replace("-", "_")
