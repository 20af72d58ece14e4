"""`--format brief`: a hard cap, the worst first, and what was left out."""

import json
from collections import Counter

import pytest

from support.samples import SAMPLES
from tracekit.documents.brief import MOST_BYTES, capped


@pytest.mark.parametrize("command", ["analyze", "why", "compare", "check"])
def test_each_command_says_its_verdict_and_what_to_ask_next(tracekit, samples, command):
    paths = {
        "compare": ["style_transfer_reload.trace", "style_transfer_fixed.trace"],
        "why": ["captions_concurrent.trace"],
    }.get(command, ["style_transfer_reload.trace"])
    limits = ("--p95", "1ms") if command == "check" else ()
    result = tracekit(command, *(samples / path for path in paths), *limits, "--no-config", "--format", "brief")
    assert len(result.out.encode()) <= MOST_BYTES
    said = result.json
    assert said["verdict"]
    assert said["next"]


def test_a_finding_leads_to_its_evidence_its_code_and_its_fix(tracekit, samples):
    path = samples / "style_transfer_reload.trace"
    said = tracekit("analyze", path, "--format", "brief").json
    whole = tracekit("analyze", path, "--json").json
    costs = [finding["savings_ns"] for finding in said["findings"]]
    assert costs == sorted(costs, reverse=True)
    first = said["findings"][0]
    assert first["id"] == "reload-before-predict"
    assert first["code"].startswith("StyleView.swift:42")
    assert first["evidence"]["count"] == 80
    assert "actor" in first["fix"]
    assert "```" in first["fix"]
    not_recorded = {each["instrument"] for each in whole["coverage"] if each["state"] == "missing"}
    assert {each["instrument"] for each in said["not_recorded"]} == not_recorded
    not_evaluated = {each["id"] for each in whole["results"] if each["outcome"] == "not_evaluated"}
    assert {name for each in said["not_evaluated"] for name in each["checks"].split(", ")} == not_evaluated

    path = samples / "captions_concurrent.trace"
    (said,) = tracekit("analyze", path, "--format", "brief").json["findings"]
    text = tracekit("analyze", path).out
    assert said["savings_ns"] == 0
    assert f"{said['savings_each']['saved_ns'] / 1e6:.1f} of" in text


@pytest.mark.parametrize(("entries", "characters"), [(1, 10), (500, 40), (3, 20_000), (200, 9_000)])
def test_the_cap_is_hard_and_counts_what_it_left_out(entries, characters):
    said = {"verdict": "v", "findings": [{"n": number, "text": "é" * characters} for number in range(entries)]}
    text = capped({**said, "findings": list(said["findings"])})
    assert len(text.encode()) <= MOST_BYTES
    kept = json.loads(text)
    left = kept.get("left_out", {}).get("findings", 0)
    assert [each["n"] for each in kept["findings"]] == list(range(entries - left))
    assert left == 0 or entries > 1


def test_what_signposts_show_is_there(tracekit, samples):
    for name, key in (("frame_camera", "operations"), ("local_chat", "phases")):
        said = tracekit("analyze", samples / f"{name}.trace", "--format", "brief").json[key]
        own = Counter(row.name for row in SAMPLES[name]().logged if row.form == "interval")
        counts = {each.get("name", each.get("signpost")): each["count"] for each in said if "count" in each}
        assert counts == own
        assert all(sum(each["parts_ns"].values()) == each["total_ns"] for each in said if "parts_ns" in each)


@pytest.mark.parametrize(("name", "has_predictions"), [("local_chat", False), ("frame_camera", True)])
def test_only_predictions_lead_to_why(tracekit, samples, name, has_predictions):
    said = tracekit("analyze", samples / f"{name}.trace", "--no-config", "--format", "brief").json
    assert (f"tracekit why {name}.trace" in said["next"]) is has_predictions
