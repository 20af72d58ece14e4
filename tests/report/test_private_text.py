"""What is private by its form is found wherever it stands."""

import pytest
from hypothesis import given, strategies as st

from tracekit.report.private_text import TextRedactor

PRIVATE = (
    r"C:\Users\Ann Lee\model",
    "/Users/ann/model.mlpackage",
    r"\home\ann",
    "/var/folders/ab/cdef/T",
    "/Volumes/Ann's disk/x",
    "ann.lee@example.com",
    "anns-mac.local",
    "01234567-89AB-CDEF-0123-456789ABCDEF",
    "01234567_89ab_cdef_0123_456789abcdef",
    "00008110-001A2B3C4D5E601E",
    "0123456789abcdef0123456789abcdef01234567",
)
IN_FULL = TextRedactor(aliases={"\0 is in no text": ""})
"""Searches each text for every form, since it has a name to replace too."""


@pytest.mark.parametrize("private", PRIVATE)
def test_each_form_is_found_amid_other_words(private):
    assert private not in TextRedactor()(f"12 predictions of {private} were slow")


@given(st.lists(st.sampled_from([*PRIVATE, " of ", "/", "\\", "@", "0123456", ".local", "a"]) | st.text(max_size=9)))
def test_texts_that_are_passed_over_hold_nothing(parts):
    text = "".join(parts)
    assert TextRedactor()(text) == IN_FULL(text)
