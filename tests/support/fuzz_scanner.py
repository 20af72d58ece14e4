"""Feeds mutated exports to both readers: what the scanner accepts, the strict reader must read to the same cells.

    python tests/support/fuzz_scanner.py --seconds 60 --seed 1

Most mutations keep the file an export that `xctrace` could have written, so that many are accepted.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fuzz_export import TOKENS, options_of
from support.scanner import difference, read_strictly, real_documents, repeating_document, scan, small_document

NUMBERS = (b"0", b"1", b"-1", b"-0", b"007", b"9007199254740991", b"9007199254740992", b"9223372036854775807",
           b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"-9223372036854775808",
           b"-9223372036854775809", b"", b"1 ", b"1.5", b"99999999999999999999")  # fmt: skip
TEXTS = (b"", b" ", b"\n", b"a", b"&lt;", b"&amp;amp;", b"&quot;&apos;&gt;", "é".encode(), "漢\U0001f600".encode(),
         b"]]>", b"]]&gt;", b"a>b", b"'", b"\t", b"\xe2\x80\xa8", b"\xc2\xa0", b"0x1", b"12", b"x" * 300)  # fmt: skip
TAGS = (b"string", b"uint64", b"duration", b"process", b"pid", b"thread", b"tid", b"frame", b"backtrace", b"sentinel",
        b"formatted-label", b"text-addresses", b"kdebug-arg", b"narrative", b"tagged-backtrace", b"any")  # fmt: skip
ELEMENT = re.compile(rb"<([a-z-]+)(?: id=\"\d+\")?(?: [a-z]+=\"[^\"]*\")*(?:/>|>[^<]*</\1>)")
PATTERNS = {
    "number": (re.compile(rb">(-?\d+)<"), NUMBERS),
    "text": (re.compile(rb">([^<>]+)<"), TEXTS),
    "value": (re.compile(rb"(?:fmt|name|addr)=\"([^\"]*)\""), TEXTS),
    "tag": (re.compile(rb"<([a-z-]+)(?= (?:id|ref)|>)"), TAGS),
    "attribute": (re.compile(rb" (fmt|name|addr|UUID|path|line)="), (b"fmt", b"name", b"addr", b"line", b"id", b"x")),
    "type": (re.compile(rb"<engineering-type>([^<]*)<"), (*TAGS, b"any", b"row")),
}
"""Places to change, and what is put there."""
BLANKS = (b"", b" ", b"  ", b"\n", b"\t ", b"\r\n")
SENTINELS = (
    b"sentinel /",
    b"sentinel\n/",
    b"sentinel></sentinel",
    b"sentinel> </sentinel",
    b"sentinel / ",
    b"sentinel",
)


def mutated(rng: random.Random, content: bytes, documents: list[bytes]) -> bytes:
    """The document with one thing changed."""
    kind = rng.choice(
        (
            *PATTERNS,
            "ref",
            "number",
            "text",
            "value",
            "row",
            "element",
            "move",
            "attribute gone",
            "attributes",
            "blanks",
            "bytes",
        )
    )
    if kind in PATTERNS:
        pattern, choices = PATTERNS[kind]
        return _replaced(rng, content, pattern, rng.choice(choices))
    if kind == "ref":
        return _replaced(rng, content, re.compile(rb"ref=\"(\d+)\""), b"%d" % rng.randint(1, 40))
    if kind == "attribute gone":
        return _replaced(rng, content, re.compile(rb"( fmt=\"[^\"]*\")"), b"")
    if kind == "attributes":
        return re.sub(rb"( id=\"\d+\")( [a-z]+=\"[^\"]*\")", rb"\2\1", content, count=rng.randint(0, 9))
    if kind == "blanks":
        pattern, choices = rng.choice(
            ((rb"( )(?:id|ref|fmt)=", BLANKS), (rb"<[a-z-]+[^<>]*?\"?()/?>", BLANKS), (rb"<(sentinel/)>", SENTINELS))
        )
        return _replaced(rng, content, re.compile(pattern), rng.choice(choices))
    if kind == "row":
        rows = content.split(b"</row>")
        offset = rng.randrange(len(rows))
        rows[offset:offset] = [rng.choice(rows)] * rng.randint(0, 2)
        return b"</row>".join(rows)
    if kind in ("element", "move"):
        spans = [match.span() for match in ELEMENT.finditer(content)]
        if not spans:
            return content
        (start, end), (first, last) = rng.choice(spans), rng.choice(spans)
        if kind == "move" or rng.random() < 0.3:
            return content[:start] + content[first:last] + content[start if kind == "move" else end :]
        return content[:start] + b"<sentinel/>" + content[end:]
    offset, other = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    piece = rng.choice(
        (rng.choice(TOKENS), rng.choice(documents)[offset : offset + rng.randrange(200)], bytes([rng.randrange(256)]))
    )
    return (
        content[:offset] + piece + content[offset + rng.choice((0, 1, len(piece))) if rng.random() < 0.9 else other :]
    )


def _replaced(rng: random.Random, content: bytes, pattern: re.Pattern[bytes], new: bytes) -> bytes:
    spans = [match.span(1) for match in pattern.finditer(content)]
    if not spans:
        return content
    start, end = rng.choice(spans)
    return content[:start] + new + content[end:]


def renumbered(content: bytes) -> bytes:
    """The same with ids that count up again, as `xctrace` writes them, and references that follow."""
    names: dict[bytes, int] = {}

    def number(match: re.Match[bytes]) -> bytes:
        kind, old = match[1], match[2]
        if kind == b"id":
            names[old] = len(names) + 1 if old not in names else names[old]
        return b' %s="%d"' % (kind, names.get(old, int(old)))

    return re.sub(rb" (id|ref)=\"(\d{1,9})\"", number, content)


def run(runs: int, seconds: float, seed: int, folder: Path) -> Counter[str]:
    """Try mutated documents until either is used up. One that the readers disagree about is left in `folder`."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    documents = [small_document(), repeating_document()] * 4
    documents += [content for content in real_documents(rows=3) if len(content) < 12_000]
    outcomes: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    while sum(outcomes.values()) < runs and time.monotonic() < deadline:
        content = rng.choice(documents)
        for _ in range(rng.randint(1, 3)):
            content = mutated(rng, content, documents)
        if rng.random() < 0.7:
            content = renumbered(content)
        borders = (rng.randrange(1, len(content)),) if len(content) > 1 and rng.random() < 0.3 else ()
        scanned = scan(content, borders)
        if scanned is None:
            # The strict reader's answer is the answer.
            outcomes["declined"] += 1
            continue
        strict = read_strictly(content)
        wrong = "the strict reader refuses it" if strict is None else difference(scanned, strict)
        if wrong:
            (folder / "disagreement.xml").write_bytes(content)
            raise AssertionError(f"{folder / 'disagreement.xml'} (seed {seed}, {sum(outcomes.values())}): {wrong}")
        outcomes["the same"] += 1
    return outcomes


def main() -> int:
    """Command line."""
    options = options_of(__doc__, runs=100_000_000, seconds=60.0).parse_args()
    outcomes = run(options.runs, options.seconds, options.seed, Path(tempfile.mkdtemp(prefix="tracekit-fuzz-")))
    sys.stdout.write(f"{outcomes['the same']:,} read the same, {outcomes['declined']:,} left to the strict reader\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
