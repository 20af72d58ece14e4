"""The file of settings: where it is found, and that each mistake in it is told."""

from pathlib import Path

import pytest

from tracekit.cli.dispatch import main
from tracekit.config import load_config
from tracekit.config_file import find_config
from tracekit.detectors.registry import DETECTORS
from tracekit.errors import UsageError


def written(tmp_path, text, name="tracekit.toml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_are_looked_for_up_to_the_top_of_the_repository(tmp_path):
    repository = tmp_path / "repository"
    inside = repository / "app"
    inside.mkdir(parents=True)
    above = written(tmp_path, "")
    assert find_config(inside) == above
    (repository / ".git").mkdir()
    assert find_config(inside) is None
    pyproject = written(repository, "[tool.tracekit]\nfail-on = 'high'\n", "pyproject.toml")
    assert find_config(inside) == pyproject
    assert load_config(pyproject).fail_on == "high"
    assert find_config(written(repository, "").parent) == repository / "tracekit.toml"
    (repository / "tracekit.toml").unlink()
    written(repository, "[tool.other]\n", "pyproject.toml")
    assert find_config(inside) is None


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\ntracekit = {fail-on = 'high'}\n",
        "[ tool . tracekit ]\nfail-on = 'high'\n",
        "tool.tracekit.fail-on = 'high'\n",
    ],
)
def test_settings_in_a_pyproject_are_found_however_they_are_written(tmp_path, text):
    (tmp_path / ".git").mkdir()
    path = written(tmp_path, text, "pyproject.toml")
    assert find_config(tmp_path) == path
    assert load_config(path).fail_on == "high"


def test_a_pyproject_that_only_mentions_the_name_holds_no_settings(tmp_path):
    (tmp_path / ".git").mkdir()
    written(tmp_path, "# See tool.tracekit.\n[project]\ndependencies = ['coreml-tracekit']\n", "pyproject.toml")
    assert find_config(tmp_path) is None


@pytest.mark.parametrize("name", ["tracekit.toml", "pyproject.toml"])
def test_settings_that_cannot_be_read_are_not_passed_over(tmp_path, name):
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text("tracekit = [")
    assert find_config(tmp_path) == tmp_path / name
    with pytest.raises(UsageError, match="is not valid TOML"):
        load_config(tmp_path / name)


def test_what_is_no_file_of_settings_is_told(tmp_path, capsys):
    (tmp_path / "tracekit.toml").symlink_to("tracekit.toml")
    assert find_config(tmp_path) == tmp_path / "tracekit.toml"
    with pytest.raises(UsageError, match=r"tracekit\.toml: cannot be read"):
        load_config(tmp_path / "tracekit.toml")

    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UsageError, match="cannot be read: more than 262,144 bytes"):
        load_config(tmp_path / "large.toml")
    with pytest.raises(UsageError, match="not a regular file"):
        load_config(Path("/dev/zero"))

    with pytest.raises(UsageError, match=r"none\.toml: cannot be read: No such file"):
        load_config(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"binary\.toml: is not valid TOML"):
        load_config(tmp_path / "binary.toml")
    with pytest.raises(UsageError, match=r"pyproject\.toml: has no table"):
        load_config(written(tmp_path, "[tool]\n", "pyproject.toml"))
    assert main(["analyze", "x.trace", "--config", str(tmp_path / "no.toml")]) == 2
    assert "no.toml: cannot be read" in capsys.readouterr().err


def test_a_folder_with_the_name_of_the_settings_holds_none(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "tracekit.toml").mkdir()
    (tmp_path / "pyproject.toml").mkdir()
    assert find_config(tmp_path) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("skipp = []", "'skipp': unknown setting 'skipp'; did you mean 'skip'?"),
        ('skip = "cold-load"', "'skip': must be a list of check ids"),
        ('skip = ["cold-loads"]', "did you mean 'cold-load'?"),
        ("[checks.cold-loads]\nx = 1", "did you mean 'cold-load'?"),
        ("[checks.reload-before-predict]\nmin_load = 1", "did you mean 'min_loads'?"),
        ("[checks.reload-before-predict]\nmin_loads = true", "must be a number"),
        ('[checks.reload-before-predict]\nmin_loads = "3"', "must be a number"),
        ("checks = 3", "'checks': must be a table of tables"),
        ("[models.A]\nonly = []", "'models.\"A\".only': unknown setting 'only'"),
        ('skip = ["flexible-shape"]', "'skip': unknown check 'flexible-shape'; did you mean 'flexible-shapes'?"),
        ("[checks.uncompressed-weights]\nmin_gb = 1", "'uncompressed-weights.min_gb': unknown option 'min_gb'"),
        ('[models.A]\nskip = ["x"]', "'models.\"A\".skip': unknown check 'x'; list them with `tracekit explain`"),
        ('[models.A]\nskip = ["run-issues"]', "'models.\"A\".skip': 'run-issues' applies to the whole recording"),
        ("budget = []", "'budget': must be a time or a rate"),
        ('budget = "fast"', "budget 'fast': write a time or a rate above 0"),
        ('budget = "A=3ms"', "'budget': must be a time or a rate"),
        ("[checks.reload-before-predict]\nmin_loads = 1" + "0" * 400, "must be a whole number"),
        ("a = " + "1" * 5_000, "is not valid TOML: a number of too many digits"),
        ("budget = 0x" + "f" * 5_000, "'budget': the number has too many digits"),
        ("fail-on = 0x" + "f" * 5_000, "'fail-on': the number has too many digits"),
        ("only = [-0x" + "f" * 5_000 + "]", "not valid TOML"),
        ("only = [0b" + "1" * 20_000 + "]", "'only': the number has too many digits"),
        (
            "[checks.reload-before-predict]\nmin_loads = 0o" + "7" * 5_000,
            "'checks.reload-before-predict.min_loads': the number has too many digits",
        ),
        ('expect = "npu"', "'expect': must be one of 'neural-engine', 'gpu', 'cpu'"),
        ('expect = ["gpu"]', "'expect': must be one of"),
        ('[models.A]\nexpect = "B=gpu"', "'models.\"A\".expect': must be one of"),
        ('fail-on = "hihg"', "'fail-on': unknown severity 'hihg'; did you mean 'high'?"),
        ("fail-on = 3", "'fail-on': unknown severity '3'"),
        ("a = ", "is not valid TOML"),
        ("a = " + "[" * 5_000, "is not valid TOML"),
        ("x = 1\n" + "#" * (1 << 18), "cannot be read: more than 262,144 bytes"),
        ("x = 1\n" + ".".join(["a"] * 100_000) + " = 1", "a key with more than 32 parts (at line 2)"),
        ("x = 1\n[" + " . ".join(["'a'", '"b"'] * 10_000) + "]", "a key with more than 32 parts (at line 2)"),
        (".".join(["a"] * 32) + " = 1", "'a': unknown setting 'a'"),
    ],
)
def test_each_mistake_is_told_with_the_name_of_the_file(tmp_path, text, message):
    with pytest.raises(UsageError) as caught:
        load_config(written(tmp_path, text))
    assert str(caught.value).startswith("tracekit.toml: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '"\\u001b]0;owned\\u0007" = 1',
        'skip = ["\\u202ecold-load"]',
        '[checks."\\u009b2J"]\nx = 1',
        '[models."/Users/ann/\\u001b[2J"]\nbudget = "never"',
    ],
)
def test_words_of_a_file_cannot_steer_a_terminal_and_name_nobody(tmp_path, text):
    with pytest.raises(UsageError) as caught:
        load_config(written(tmp_path, text))
    assert str(caught.value).isprintable()
    assert "ann" not in str(caught.value).replace("cannot", "")


def test_a_number_of_python_that_has_no_text_is_told_too():
    from tracekit.detectors.options import configure

    with pytest.raises(UsageError, match="must be a whole number \\(loads\\), and has too many digits"):
        configure(DETECTORS, {"reload-before-predict.min_loads": 10**5_000})
