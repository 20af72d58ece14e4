"""`tracekit doctor`: what works here, and what is missing."""

from __future__ import annotations

import json
import platform
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from support.choice import sweep_rest
from tracekit.recording.xctrace import doctor, tool


def by_name(result) -> dict[str, dict[str, str]]:
    return {check["name"]: check for check in result.json["checks"]}


def test_without_developer_tools_a_mac_is_told_how_to_get_them_and_others_read(
    tracekit, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    result = tracekit("doctor")
    assert result.status == 0
    assert "needs a Mac; every other command works here" in result.out

    monkeypatch.setattr("sys.platform", "darwin")
    result = tracekit("doctor")
    assert (result.status, "install Xcode" in result.out) == (2, True)
    assert tracekit("doctor", "--target", tmp_path).status == 2
    assert "no such file or directory" in tracekit("doctor", "--target", tmp_path / "none").out


def test_a_mac_with_xcode_is_described_without_names_of_devices_unless_they_are_asked_for(tracekit, standin) -> None:
    standin(version="xctrace version 16.0 (17F113)")
    result = tracekit("doctor", "--format", "json")
    checks = by_name(result)
    assert result.status == 0
    assert checks["xctrace"]["detail"] == "16.0 (17F113), from Xcode 26"
    assert checks["devices"]["detail"] == "this Mac, 1 device, 1 offline, 1 simulator"
    assert checks["templates"]["detail"] == "4, including Core ML"
    assert checks["Xcode"]["detail"] == "Xcode.app is selected"

    assert "Phone (blue) (00000000-0000000000000002; device)" in tracekit("doctor", "--no-redact").out


def test_instruments_that_record_adds_are_looked_for(tracekit, standin) -> None:
    memory = by_name(tracekit("doctor", "--format", "json"))["memory"]
    assert (memory["state"], memory["detail"]) == ("ok", "record --memory adds Activity Monitor")
    standin(instruments="Hangs,Thermal State")
    checks = by_name(tracekit("doctor", "--format", "json"))
    assert (checks["memory"]["state"], checks["memory"]["fix"]) == ("optional", "record without --memory")
    assert checks["instruments"]["state"] == "ok"
    standin(instruments="Hangs,GPU")
    result = tracekit("doctor", "--format", "json")
    lacking = by_name(result)["instruments"]
    assert (result.status, lacking["state"], lacking["detail"]) == (0, "optional", "Thermal State cannot be recorded")
    assert "--only-template" in lacking["fix"]


@pytest.mark.parametrize(("version", "hangs"), [("16.0 (17F113)", True), ("26.0 (17C529)", False)])
def test_simulators_that_cannot_be_recorded_are_told(tracekit, standin, version: str, hangs: bool) -> None:
    standin(version=f"xctrace version {version}")
    result = tracekit("doctor", "--format", "json")
    checks = by_name(result)
    assert (result.status, "simulators" in checks) == (0, hangs)
    if hangs:
        assert checks["simulators"]["detail"] == "cannot be recorded: xctrace of Xcode 26.4 to 27.0 hangs"


def test_command_line_tools_alone_are_not_enough(tracekit, standin) -> None:
    standin(selected="/Library/Developer/CommandLineTools")
    result = tracekit("doctor")
    assert result.status == 2
    assert "the Command Line Tools are selected" in result.out
    assert "sudo xcode-select -s" in result.out


@pytest.mark.parametrize(("signed", "status"), sweep_rest(("no", 2), ("yes", 0), ("unsigned", 2)))
def test_the_entitlement_of_a_target_decides(tracekit, standin, tmp_path: Path, signed: str, status: int) -> None:
    standin(signed=signed)
    result = tracekit("doctor", "--target", tmp_path)
    assert result.status == status
    assert ("codesign --force" in result.out) == (status == 2)
    line = next(line for line in result.out.splitlines() if " target " in line)
    assert line.startswith("ok" if status == 0 else "FAIL")
    assert line.endswith("has get-task-allow" if status == 0 else "lacks get-task-allow")


TEAM = "ABCDE12345.com.example.app"


@pytest.mark.parametrize(
    ("entitlements", "flat", "status"),
    sweep_rest(
        # A development build for iOS, as an app and as the program in it.
        ({"application-identifier": TEAM, "get-task-allow": True}, True, 0),
        ({"application-identifier": TEAM, "get-task-allow": True}, False, 0),
        # Builds for distribution.
        ({"application-identifier": TEAM, "get-task-allow": False}, True, 2),
        ({"application-identifier": TEAM}, False, 2),
        # For a simulator, Xcode signs as for the Mac, without a provisioning profile.
        ({"com.apple.security.get-task-allow": True}, True, 0),
        ({}, True, 2),
    ),
)
def test_an_app_for_a_device_has_the_entitlement_of_ios_and_is_never_signed_by_hand(
    tracekit, standin, tmp_path: Path, entitlements: dict, flat: bool, status: int
) -> None:
    standin(entitlements=json.dumps(entitlements))
    target = tmp_path / "MyApp.app"
    if flat:
        target.mkdir()
        (target / "Info.plist").touch()
    else:
        target.touch()
    result = tracekit("doctor", "--target", target)
    assert result.status == status
    assert f"MyApp.app {'has' if status == 0 else 'lacks'} get-task-allow" in result.out
    assert "codesign" not in result.out
    assert ("do not re-sign it by hand" in result.out) == (status == 2)


def test_the_name_of_ios_does_not_count_on_the_mac(tracekit, standin, tmp_path: Path) -> None:
    standin(entitlements=json.dumps({"com.apple.application-identifier": TEAM, "get-task-allow": True}))
    (tmp_path / "MyApp.app" / "Contents").mkdir(parents=True)
    result = tracekit("doctor", "--target", tmp_path / "MyApp.app")
    assert (result.status, "codesign --force" in result.out) == (2, True)


PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "arm64"])
@pytest.mark.parametrize("system", ["Darwin", "Linux", "Windows"])
@pytest.mark.parametrize("python", ["3.11", "3.13", "3.14"])
def test_every_dependency_of_an_installation_is_looked_for(monkeypatch, python: str, system: str, machine: str) -> None:
    environment = {"python_version": python, "platform_system": system, "platform_machine": machine}
    requirements = map(Requirement, PROJECT["dependencies"])
    asked_for = [
        requirement.name
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate(environment)
    ]
    with monkeypatch.context() as other:
        other.setattr(sys, "version_info", (*map(int, python.split(".")), 0))
        other.setattr(platform, "system", lambda: system)
        other.setattr(platform, "machine", lambda: machine)
        checks = doctor.examine(None, private=False)
    names = [check.name for check in checks if check.name not in doctor.OPTIONAL]
    assert names[: names.index("scanner")] == ["Python", *asked_for]


def test_every_package_of_an_extra_for_users_is_optional() -> None:
    extras = {name: entries for name, entries in PROJECT["optional-dependencies"].items() if name != "dev"}
    packages: dict[str, str] = {}
    for extra, entries in extras.items():
        for entry in entries:
            # Several extras may need a package; the first one needs no other.
            packages.setdefault(Requirement(entry).name, extra)
    assert list(doctor.OPTIONAL) == list(packages)
    for package, extra in packages.items():
        assert doctor.OPTIONAL[package][1] == extra


def test_missing_parts_are_named(tracekit, monkeypatch) -> None:
    monkeypatch.setattr(doctor, "NEEDED", ("no-such-package",))
    monkeypatch.setattr(doctor, "OPTIONAL", {"no-such-option": ("what for", "sql")})
    result = tracekit("doctor")
    assert result.status == 2
    assert "pip install no-such-package" in result.out
    assert "not installed; for what for" in result.out
    assert f"pip install '{PROJECT['name']}[sql]'" in result.out

    # An entry of None is a module that cannot be imported.
    monkeypatch.setitem(sys.modules, "tracekit.recording.export._scan", None)
    monkeypatch.delattr("tracekit.recording.export._scan", raising=False)
    result = tracekit("doctor", "--format", "json")
    scanner = by_name(result)["scanner"]
    assert (scanner["state"], scanner["detail"]) == ("optional", "not built; exports are read by a slower reader")
    assert "C compiler" in scanner["fix"]


@pytest.mark.parametrize(
    ("printed", "family", "hangs"),
    [
        ("14.3.1 (14E300c)", 14, False),
        ("16.0 (16F6)", 16, False),
        ("26.0 (17C529)", 26, False),
        ("16.0 (17E202)", 26, True),
        ("16.0 (17F113)", 26, True),
        ("16.0 (27A5194q)", 27, True),
        ("27.0 (27A266a)", 27, True),
        ("27.2 (27B5019j)", 27, False),
        ("27.0", None, False),
    ],
)
def test_the_build_decides_which_xcode_it_is(monkeypatch, printed: str, family: int | None, hangs: bool) -> None:
    monkeypatch.setattr(tool, "ask", lambda *_: f"xctrace version {printed}")
    version = tool.read_version(("xctrace",))
    assert (version.text, version.family, version.hangs_on_simulators) == (printed, family, hangs)


@pytest.mark.parametrize(("printed", "state"), [(None, "ok"), ("{}", "-")])
def test_whether_waiting_threads_can_be_recorded_is_checked(tracekit, standin, printed, state) -> None:
    if printed is not None:
        standin(options=printed)
    line = next(line for line in tracekit("doctor").out.splitlines() if "threads that wait" in line)
    assert line.split()[:2] == [state, "options"]


def test_a_version_of_another_form_is_kept_as_it_is(monkeypatch) -> None:
    monkeypatch.setattr(tool, "ask", lambda *_: "xctrace, the next generation\n")
    assert tool.read_version(("xctrace",)) == tool.Version("xctrace, the next generation")
