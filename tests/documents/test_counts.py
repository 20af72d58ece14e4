"""Counts of one document agree: those of its first lines with its lists, those of a sentence with the rows below it."""

from __future__ import annotations

import re

import pytest

from suite.frame import draws_of, load, read_back
from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import long_text
from support.samples import SAMPLES
from tracekit.api import judge
from tracekit.detectors.registry import RULES
from tracekit.report.report import Report
from tracekit.request import request_of

CORPUS = (
    "bundles/quick_probe.trace",
    "bundles/fp16_w8_60s_all.trace",
    "bundles/hello_coreml.trace",
    "bundles/ios15_time.trace",
    "reported/02-each-new-shape-specializes.zip",
    "reported/08-five-loads-one-after-another.zip",
)
TITLES = {"passed": "PASSED", "not evaluated": "NOT EVALUATED", "not applicable": "NOT APPLICABLE"}


def total(pattern: str, text: str) -> int:
    return sum(int(found.replace(",", "")) for found in re.findall(pattern, text))


def check_counts(report: Report) -> None:
    """Its first lines count as many checks as the title of each list, and as the list has."""
    text = long_text(report, width=120)
    end = " ".join(text.split("\n\n")[0].split()) if report.summary.evaluated else text.splitlines()[-2]
    for words, title in TITLES.items():
        found = re.search(rf"^{title}\b(.*)\n((?: .*\n)*)", text, re.MULTILINE)
        heading, listed = found.groups() if found else ("", "")
        said, some = total(rf"(\d+) (?:checks? )?{words}", end), total(r"(\d+) (?:MORE|CHECKS?) FOR SOME", heading)
        if "CHECK" in heading and report.summary.evaluated:
            assert total(r"\((\d+) CHECKS?(?! FOR)", heading) == said, title
        # A reason may name another check; those that passed stand behind their models.
        entries = re.split(r"\n(?=  \S)", listed)
        checks = listed if words == "passed" else " ".join(entry.partition(": ")[0] for entry in entries)
        named = {name for name in re.findall(r"[a-z]+(?:-[a-z]+)+", checks) if name in RULES}
        if report.summary.evaluated or words == "not evaluated":
            assert len(named) + total(r"\b(\d+) checks\)?:", listed) == said + some, title


def check_sentences(report: Report) -> None:
    """A sentence that counts what was slow, or loaded again, counts the rows that are listed below it."""
    of = r"(?<![\d.,])(?<!of )(\d[\d,]*)(?: of [\d,]+)? (?:predictions? (?:took|take|ran)|loads? for|reloads?\b)"
    for check in report.results:
        if check.outcome == "finding":
            assert total(of, check.summary) in (0, check.evidence_total), check.summary


@pytest.mark.parametrize("name", sweep_rest(*SAMPLES))
def test_counts_of_a_sample_agree(name, samples):
    report = kept_analysis(samples / f"{name}.trace").report
    check_counts(report)
    check_sentences(report)


@pytest.mark.sweep
@pytest.mark.corpus
@pytest.mark.parametrize("name", CORPUS)
def test_counts_of_a_recording_agree(name, corpus):
    report = kept_analysis(corpus / name).report
    check_counts(report)
    check_sentences(report)


@pytest.mark.parametrize(
    "rule",
    sweep_rest("reload_before_predict", "thermal_throttling", "slow_after_idle", "gpu_contention", "missed_deadline"),
)
def test_a_sentence_counts_the_rows_below_it(rule):
    number, case = next((number, case) for number, case in enumerate(load(rule)) if case.kind == "positive")
    trace = read_back(case.build(draws_of(case, number)), bundle=False)
    report = judge(trace, request_of(only=(case.detector,), settings=case.settings))
    assert report.findings
    check_sentences(report)
