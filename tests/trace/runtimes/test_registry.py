"""The files of runtimes, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from tracekit.errors import UsageError
from tracekit.trace.runtimes.registry import PHASES, check_together, read_runtime, runtimes

GOOD = """
name = "Net"
subsystems = ["org.net"]
[keys]
tokens = { type = "integer", unit = "tokens" }
[[signposts]]
names = ["Run"]
phase = "forward pass"
keys = ["tokens"]
"""


def test_all_that_ship_are_valid_and_say_what_is_certain():
    files = sorted(Path(runtimes.__wrapped__.__code__.co_filename).parent.glob("*.toml"))
    assert len(runtimes()) == len(files) >= 8
    for path in files:
        comments = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
        assert any(mark in " ".join(comments) for mark in ("seen", "measured", "reported", "guess")), path.name


def test_names_of_core_ai_mean_what_its_source_says():
    (core_ai,) = [each for each in runtimes() if each.name == "Core AI language model"]
    phases = {name: core_ai.signpost(core_ai.subsystems[0], "performance", name) for name in ("Decode", "Extend")}
    assert {name: entry.phase for name, entry in phases.items() if entry} == {
        "Decode": "detokenization",
        "Extend": "token interval",
    }


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("name", "title"), "net.toml: 'title': unknown key 'title' (available: name"),
        (('"forward pass"', '"forward"'), "net.toml: 'signposts[0].phase': unknown phase 'forward'"),
        (('"integer"', '"int"'), "net.toml: 'keys.tokens.type': unknown type 'int'"),
        (('keys = ["tokens"]', 'keys = ["text"]'), "net.toml: 'signposts[0].keys': 'text' is not declared in [keys]"),
        (("tokens = {", "row = {"), "net.toml: 'keys.row': a key cannot be called so"),
        (('names = ["Run"]', "names = []"), "net.toml: 'signposts[0].names': must name at least one signpost"),
        (("keys = [", "private = true\nkeys = ["), "net.toml: 'signposts[0].private': nothing is read of private"),
        (("keys = [", "patterns = ['(']\nkeys = ["), "net.toml: 'signposts[0].patterns': '(' is not a regular"),
        (("keys = [", "patterns = ['(?P<x>.)']\nkeys = ["), "net.toml: 'signposts[0].patterns': group 'x' is not in"),
        (("[keys]", "[keys"), "net.toml: not valid TOML: "),
        (('["org.net"]', "[]"), "net.toml: 'subsystems' and [[signposts]] need each other"),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path, change, sentence):
    path = tmp_path / "net.toml"
    path.write_text(GOOD)
    assert read_runtime(path).signposts[0].lane == PHASES["forward pass"]
    path.write_text(GOOD.replace(*change, 1))
    with pytest.raises(UsageError) as error:
        read_runtime(path)
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value).strip()


def test_two_runtimes_cannot_claim_one_subsystem(tmp_path):
    known = []
    for name in ("Net", "Other"):
        path = tmp_path / f"{name}.toml"
        path.write_text(GOOD.replace('"Net"', f'"{name}"'))
        known.append(read_runtime(path))
    with pytest.raises(UsageError, match=r"'org\.net' is a subsystem of both Net and Other"):
        check_together(known)
