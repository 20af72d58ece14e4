"""The wheel is complete: it runs where there is no checkout."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import tracekit
from support.scanner import compiler

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.packaging


def checkout_in(folder: Path) -> Path:
    """A copy of what a wheel is built from, since a build puts the scanner in its checkout, where others read it."""
    checkout = folder / "checkout"
    hooks = ("hatch_build.py", "hatch_scanner.py", "hatch_version.py")
    for name in ("tracekit", "pyproject.toml", *hooks, "README.md", "LICENSE"):
        source = ROOT / name
        ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        _ = (
            shutil.copytree(source, checkout / name, ignore=ignored)
            if source.is_dir()
            else shutil.copy(source, checkout)
        )
    return checkout


@pytest.fixture(scope="module")
def wheel(shared_folder: Path) -> Path:
    """The wheel of this checkout, made by the process that comes first. The build backend is part of the `dev` extra,
    so no network is needed."""
    folder = shared_folder / "wheel"
    with (shared_folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            checkout = checkout_in(shared_folder)
            run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(checkout))
    (wheel_file,) = folder.glob("*.whl")
    return wheel_file


def git(checkout: Path, *arguments: str) -> str:
    return run("git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments, cwd=checkout)


def commit(checkout: Path) -> None:
    """All of a checkout, in a repository of its own."""
    for name in (".git_archival.txt", ".gitattributes", ".gitignore"):
        shutil.copy(ROOT / name, checkout)
    git(checkout, "init", "-q")
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "all")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(scope="module")
def released(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of what is made of the tag v2.3.4 where there is no compiler, by the process that comes first. As a
    release does: the wheel is made of the source distribution."""
    folder = shared_folder / "released"
    with (shared_folder / "released.lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            checkout = checkout_in(tmp_path_factory.mktemp("tagged"))
            commit(checkout)
            git(checkout, "tag", "v2.3.4")
            patch.setenv("CC", "/bin/false")
            run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(checkout))
            assert git(checkout, "status", "--porcelain") == ""
    return folder


@pytest.fixture(scope="module")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment that holds the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("empty environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    # The pip of the tests' own environment installs into the other one, which is faster than giving it one of its own.
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    run(*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", str(wheel))
    return python


def run(*command: str, cwd: Path | None = None) -> str:
    """Standard output of a command that must succeed; both streams are in the failure. It does not see the checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def site_packages(python: Path) -> Path:
    """Where that interpreter's packages lie."""
    return Path(run(str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())


def test_the_wheel_holds_every_file_of_the_package_the_license_and_nothing_else(wheel: Path) -> None:
    files = (path.relative_to(ROOT) for path in (ROOT / "tracekit").rglob("*") if path.is_file())
    # The scanner is built into the checkout before it is packed; its sources stay there.
    present = {str(path) for path in files if "__pycache__" not in path.parts and path.suffix not in (".c", ".h")}
    assert "tracekit/py.typed" in present
    with zipfile.ZipFile(wheel) as archive:
        assert {name for name in archive.namelist() if ".dist-info/" not in name} == present
        (text,) = (name for name in archive.namelist() if name.endswith("/licenses/LICENSE"))
        assert archive.read(text) == (ROOT / "LICENSE").read_bytes()


@pytest.mark.skipif(compiler() is None, reason="there is no C compiler with the headers of Python")
def test_the_wheel_holds_the_scanner_for_every_python_from_3_11_on(wheel: Path) -> None:
    assert re.search(r"-cp311-abi3-(linux|macosx|win)", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        assert [name for name in archive.namelist() if "/_scan." in name and not name.endswith(".pyi")]


@needs_git
def test_without_a_compiler_the_wheel_is_pure_python_and_reads_exports(
    released: Path, tmp_path: Path, samples: Path
) -> None:
    (wheel,) = released.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); from tracekit.cli.main import run; run()"
    arguments = ("analyze", "-v", str(samples / "style_transfer_reload_xml"))
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert "with the strict reader (the compiled scanner is not installed)" in result.stderr
    assert "reload-before-predict" in result.stdout


def test_the_description_has_absolute_links_to_files_of_the_checkout(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    head, _, description = metadata.partition("\n\n")
    project = "https://github.com/coreml-tracekit/tracekit"
    for line in (f"Homepage, {project}", f"Issues, {project}/issues", f"Changelog, {project}/blob/main/CHANGELOG.md"):
        assert f"Project-URL: {line}" in head
    links = re.findall(r"\]\(([^)]+)\)", description)
    raw = "https://raw.githubusercontent.com/coreml-tracekit/tracekit"
    links_of_files = [link.removeprefix(f"{project}/blob/main/").removeprefix(f"{raw}/main/") for link in links]
    assert links
    assert not set(links) & set(links_of_files)
    assert [file for file in links_of_files if not (ROOT / file.partition("#")[0]).exists()] == []
    assert f"![tracekit view: lanes above, a finding and its intervals below]({raw}/main/docs/pictures/view.svg)" in (
        description
    )


def test_help_and_version_run_in_an_environment_without_any_dependency(empty_environment: Path, tmp_path: Path) -> None:
    command = str(empty_environment.with_name("tracekit"))
    assert [path.name for path in site_packages(empty_environment).glob("numpy*")] == []
    assert run(command, "--version", cwd=tmp_path).startswith(f"tracekit {tracekit.__version__} (Python 3.")
    assert "analyze" in run(command, "--help", cwd=tmp_path)
    assert run(str(empty_environment), "-m", "tracekit", "--version", cwd=tmp_path).startswith("tracekit ")


def test_the_wheel_analyzes_a_sample_with_its_dependencies(
    empty_environment: Path, samples: Path, tmp_path: Path
) -> None:
    # Dependencies come from the tests' own environment. A plain line of a .pth file adds the folder without running the
    # .pth files in it, so the editable install of this checkout stays out.
    packages = site_packages(empty_environment)
    link = packages / "dependencies.pth"
    link.write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n", encoding="utf-8")
    try:
        python = str(empty_environment)
        where = run(python, "-c", "import tracekit, numpy; print(tracekit.__file__)", cwd=tmp_path).strip()
        assert Path(where).is_relative_to(packages)
        command = str(empty_environment.with_name("tracekit"))
        report = run(command, "analyze", str(samples / "style_transfer_reload.trace"), cwd=tmp_path)
        assert "reload-before-predict" in report
    finally:
        link.unlink()


def test_the_command_and_the_package_agree_on_names_version_and_wheels() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == "coreml-tracekit"
    assert project["scripts"] == {"tracekit": "tracekit.cli.main:run"}
    assert "version" in project["dynamic"]
    import tracekit._version

    assert tracekit.__version__ == tracekit._version.__version__

    builds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]["build"]
    assert {name.partition("-")[0] for name in builds} == {"cp311"}
    wanted = {"macosx_arm64", "macosx_x86_64", "manylinux_x86_64", "manylinux_aarch64", "win_amd64"}
    assert {name.partition("-")[2] for name in builds} == wanted


@needs_git
def test_the_version_comes_from_the_tag_through_the_source_distribution_into_the_wheel(
    released: Path, tmp_path: Path
) -> None:
    checkout = checkout_in(tmp_path)

    def version(folder: Path) -> str:
        code = "import hatch_version; print(hatch_version.version())"
        return run(sys.executable, "-B", "-c", code, cwd=folder).strip()

    stated = tracekit.__version__
    assert version(checkout) == stated
    commit(checkout)
    assert version(checkout) == stated
    git(checkout, "tag", "v2.3.4")
    assert version(checkout) == "2.3.4"
    git(checkout, "archive", "-o", str(tmp_path / "archive.tar"), "HEAD")
    shutil.unpack_archive(tmp_path / "archive.tar", tmp_path / "archive")
    assert version(tmp_path / "archive") == "2.3.4"
    (wheel,) = released.glob("coreml_tracekit-2.3.4-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert '__version__ = "2.3.4"\n' in archive.read("tracekit/_version.py").decode()
    (checkout / "more").touch()
    commit(checkout)
    assert re.fullmatch(r"2\.3\.5\.dev1\+g[0-9a-f]+", version(checkout))


def test_every_package_that_is_installed_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            pins[normal(name)] = version
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    assert wanted
    for requirement in wanted:
        name = requirement.split(";")[0].split(">")[0].split("<")[0].split("=")[0]
        assert normal(name) in pins, f"{name} has no pin: add it to constraints.txt (`.venv/bin/pip freeze` has it)"


def normal(name: str) -> str:
    """A distribution's name in the form in which names are compared."""
    return name.strip().lower().replace("_", "-").replace(".", "-")
