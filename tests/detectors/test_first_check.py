"""The check that CONTRIBUTING.md adds in 15 minutes is complete, and right in the recordings that it labels."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from collections import Counter
from pathlib import Path

from suite.frame import KINDS, USUAL, draws_of, fits, named, read_back
from tracekit.detectors.runner import run_detectors

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "plugin-example" / "tracekit_first_call"


def test_the_first_check_of_a_newcomer_is_right_in_its_cases(tmp_path: Path, monkeypatch) -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Your first check")[2]
    _, cases = re.findall(r"^   ```python\n(.*?)^   ```", page, re.DOTALL | re.MULTILINE)
    rule = (EXAMPLE / "__init__.py").read_text(encoding="utf-8")
    for old, new in (
        ('__file__, "first-call"', "__file__"),
        ("first-call", "late-first-use"),
        ('view.not_applicable("Its load was not recorded.")', re.search(r"`(view\.unknown\(.*?\))`", page)[1]),
    ):
        assert old in rule
        rule = rule.replace(old, new)
    (tmp_path / "late_first_use.py").write_text(rule, encoding="utf-8")
    (tmp_path / "late-first-use.md").write_bytes((EXAMPLE / "first-call.md").read_bytes())
    spec = importlib.util.spec_from_file_location("late_first_use", tmp_path / "late_first_use.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    labeled: dict = {"__name__": "late_first_use_cases"}
    exec(textwrap.dedent(cases), labeled)  # noqa: S102
    counts = Counter(case.kind for case in labeled["CASES"])
    assert all(counts[kind] >= least for kind, least in KINDS.items())
    for number, case in enumerate(labeled["CASES"]):
        recorded = case.build(draws_of(case, number))
        trace = read_back(recorded, bundle=False)
        outcomes, _ = named(run_detectors(trace, detectors=(module.DETECTOR,)))
        model = recorded.model.base
        assert fits(outcomes["late-first-use", model], USUAL[case.kind]), f"{case.kind} {number}: {outcomes}"
