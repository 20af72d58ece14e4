import pytest
from hypothesis import given, settings, strategies as st

from tracekit.trace.instruments.coreml import ModelName, split_names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["StyleTransfer-1"], {"StyleTransfer-1": ("StyleTransfer", 1)}),
        (["a-1", "b-12"], {"a-1": ("a", 1), "b-12": ("b", 12)}),
        (["resnet-50-1", "resnet-101-1"], {"resnet-50-1": ("resnet-50", 1), "resnet-101-1": ("resnet-101", 1)}),
        # One name without a number: the table carries no instance numbers, and `-50` belongs to the name.
        (["resnet-50", "yolo"], {"resnet-50": ("resnet-50", None), "yolo": ("yolo", None)}),
        # Two numbers of one base show that this table has them.
        (["a-1", "a-2", "Unnamed_Model"], {"a-1": ("a", 1), "a-2": ("a", 2), "Unnamed_Model": ("Unnamed_Model", None)}),
        (["x-01"], {"x-01": ("x-01", None)}),
        (["x-0"], {"x-0": ("x", 0)}),
        (["-1"], {"-1": ("-1", None)}),
        (["x-١"], {"x-١": ("x-١", None)}),
        ([f"x-{10**18}"], {f"x-{10**18}": (f"x-{10**18}", None)}),
        (["", "a-1"], {"a-1": ("a", 1)}),
        ([], {}),
    ],
)
def test_names_are_split_by_what_the_whole_table_shows(names, expected):
    assert split_names(names) == {raw: ModelName(*parts) for raw, parts in expected.items()}


NAMES = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.from_regex(r"[ab]{1,2}(-[0-9]{1,3}){0,2}", fullmatch=True),
        st.from_regex(r"[\s\S]{1,3}-[0-9]{17,20}", fullmatch=True),
    ),
    max_size=8,
)


@given(NAMES)
@settings(deadline=None)
def test_base_and_instance_give_the_raw_name_back(names):
    parts = split_names(names)
    assert set(parts) == {name for name in names if name}
    for raw, name in parts.items():
        assert (name.base if name.instance is None else f"{name.base}-{name.instance}") == raw
    assert all(name.base and (name.instance is None or 0 <= name.instance < 2**63) for name in parts.values())


@given(NAMES)
@settings(deadline=None)
def test_order_and_repetition_of_names_do_not_matter(names):
    assert split_names(names) == split_names([*reversed(names), *names])
