"""The table `check` of the settings."""

from __future__ import annotations

import tomllib
from datetime import date

import pytest

from tracekit.compare.limits import Limit, parse_check
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
