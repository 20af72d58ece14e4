"""Settings are found on their lines, however they are written."""

import pytest

from tracekit.comparison.settings import line_of

TABLES = """\
# p50 of another
[check]
baseline = "perf.json"  # line 3

[check.findings]
high = 0

[check.limits."Sharp*"]
copies = 2
p50 = "16ms"  # line 10

[[check.suppress]]
finding = "a"

[[check.suppress]]  # line 15
finding = "b"
"""
DOTTED = """\
[tool.tracekit.check]
limits."Sharp*".p50 = "16ms"
limits.Blur = { p50 = "1ms", copies = 3 }
"""
SPANNING = """\
[check]
suppress = [
  { finding = "a" },
]
[check.limits.Blur]
copies = 3
"""


@pytest.mark.parametrize(("text", "setting", "line"), [
    (TABLES, ("baseline",), 3),
    (TABLES, ("findings", "high"), 6),
    (TABLES, ("limits", "Sharp*", "p50"), 10),
    (TABLES, ("suppress", 0), 12),
    (TABLES, ("suppress", 1), 15),
    (DOTTED, ("limits", "Sharp*", "p50"), 2),
    (DOTTED, ("limits", "Blur", "copies"), 3),
    (SPANNING, ("suppress", 0), 2),
    (SPANNING, ("limits", "Blur", "copies"), 6),
])  # fmt: skip
def test_a_setting_is_found_on_its_line(tmp_path, text, setting, line):
    file = tmp_path / "settings.toml"
    file.write_text(text)
    assert line_of(file, setting) == line


@pytest.mark.parametrize("setting", [(), ("limits", "Other", "p50"), ("suppress", 7), ("baseline", "x")])
def test_what_is_not_there_is_at_the_top(tmp_path, setting):
    file = tmp_path / "settings.toml"
    file.write_text(TABLES)
    assert line_of(file, setting) == 1


@pytest.mark.parametrize("content", [b"", b"[check", b"\xff"])
def test_a_file_that_cannot_be_read_is_at_the_top(tmp_path, content):
    file = tmp_path / "settings.toml"
    file.write_bytes(content)
    assert line_of(file, ("baseline",)) == 1
    assert line_of(tmp_path / "none.toml", ("baseline",)) == 1
