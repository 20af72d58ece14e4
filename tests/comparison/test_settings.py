"""Settings of comparisons: how much a latency must change to count, and the table `check`."""

import tomllib
from datetime import date

import pytest

from tracekit.comparison.settings import Floor, Floors, Limit, parse_check
from tracekit.config import load_config
from tracekit.errors import UsageError

SETTINGS = """
fail-on = "high"

[check]
baseline = "perf/baseline.json"

[check.findings]
high = 0

[check.limits."Sharpen*"]
p50 = "16.5ms"
copies = 2
neural-engine = 0.9

[[check.suppress]]
finding = "cold-load:Sharpen*"
reason = "fixed in the next model"
expires = 2027-01-31
"""
CHECKS = frozenset({"cold-load", "latency-jitter"})


def test_settings_are_read():
    settings = parse_check(tomllib.loads(SETTINGS)["check"], CHECKS)
    assert settings.baseline == "perf/baseline.json"
    assert settings.findings == {"high": 0}
    assert settings.limits == (
        Limit("Sharpen*", "p50", 16_500_000.0),
        Limit("Sharpen*", "copies", 2.0),
        Limit("Sharpen*", "neural-engine", 0.9),
    )
    assert settings.suppressions[0].expires == date(2027, 1, 31)


@pytest.mark.parametrize(("check", "model", "covered"), [
    ("cold-load", "Sharpener", True),
    ("cold-load", "Blur", False),
    ("latency-jitter", "Sharpener", False),
    ("cold-load", None, False),
])  # fmt: skip
def test_a_suppression_covers_what_it_names(check, model, covered):
    settings = parse_check(tomllib.loads(SETTINGS)["check"], CHECKS)
    assert settings.suppressions[0].covers(check, model) is covered


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[check]\nbase = 'x'", "'check.base'"),
        ("[check]\nbaseline = 3", "path of a file"),
        ("[check.limits.A]\np51 = '1ms'", "p50"),
        ("[check.limits.A]\np50 = 16", 'as "16ms"'),
        ("[check.limits.A]\np50 = '0ms'", "above 0"),
        ("[check.limits.A]\np50 = '16'", 'as "16ms"'),
        ("[check.limits.A]\ncopies = -1", "from 0 on"),
        ("[check.limits.A]\ncopies = true", "from 0 on"),
        ("[check.limits.A]\nneural-engine = 90", "from 0 to 1"),
        ("[check.limits]\nA = 3", "write limits below a pattern"),
        ("[check.findings]\nsevere = 0", "'check.findings.severe'"),
        ("[check.findings]\nhigh = -1", "whole number"),
        ("[check]\nsuppress = 'x'", "[[check.suppress]]"),
        ("[[check.suppress]]\nfinding = 'cold-load'\nexpires = 2027-01-01", "finding and reason"),
        ("[[check.suppress]]\nfinding = 'cold-load'\nreason = 'x'", "must be a date"),
        ("[[check.suppress]]\nfinding = 'cold-loud'\nreason = 'x'\nexpires = 2027-01-01", "cold-load"),
    ],
)
def test_a_mistake_names_its_key(text, words):
    with pytest.raises(UsageError) as error:
        parse_check(tomllib.loads(text)["check"], CHECKS)
    assert words in str(error.value)


@pytest.fixture
def floors(tmp_path):
    def of(text):
        file = tmp_path / "tracekit.toml"
        file.write_text(text)
        return load_config(file).floors

    return of


def test_without_settings_a_floor_is_five_percent_and_fifty_microseconds(floors):
    assert floors("").of("Net") == Floors().of("Net") == Floor(0.05, 50_000)


def test_each_model_has_its_own_floor_and_the_later_pattern_wins(floors):
    text = """
min-change = 0.1
[models."Net*"]
min-change-time = "1ms"
[models.NetB]
min-change = 0.2
min-change-time = "2ms"
"""
    found = floors(text)
    assert [found.of(name) for name in ("Other", "NetA", "NetB")] == [
        Floor(0.1, 50_000),
        Floor(0.1, 1e6),
        Floor(0.2, 2e6),
    ]


@pytest.mark.parametrize("text", [
    "min-change = 5",
    "min-change = true",
    'min-change = "5%"',
    "min-change-time = 50",
    'min-change-time = "soon"',
    "[models.Net]\nmin-change = -1",
])  # fmt: skip
def test_a_mistake_in_a_floor_names_its_key(floors, text):
    with pytest.raises(UsageError, match="min-change"):
        floors(text)
