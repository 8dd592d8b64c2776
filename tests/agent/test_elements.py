import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screenloop.agent.elements import Element, read_elements
from screenloop.errors import EnvironmentFault


def read(tree, size_px=(400, 800)):
    return read_elements(msgspec.json.encode(tree), size_px)


def test_a_phones_tree_is_read_in_its_own_layout_pixels():
    nodes = [
        {"role": "text", "label": "Alarms", "box": [0, 0, 200, 100]},
        {
            "role": "switch",
            "label": "Wi-Fi",
            "box": [100, 300, 200, 200],
            "can": ["tap"],
            "checked": False,
            "value": "x",
            "selected": True,
        },
    ]
    assert read({"size_px": [400, 800], "page": "a/", "nodes": nodes}, (800, 1600)) == (
        Element(role="text", label="Alarms", at=(0.25, 0.0625)),
        Element(
            role="switch",
            label="Wi-Fi",
            at=(0.5, 0.5),
            taps=True,
            checked=False,
            value="x",
            selected=True,
        ),
    )


def test_a_phones_system_bars_are_told_apart_from_the_app():
    boxes = {
        "status": [0, 0, 400, 32],
        "bar": [0, 0, 400, 56],
        "tab": [0, 700, 99, 56],
        "back": [0, 756, 133, 44],
    }
    nodes = [{"role": "button", "label": label, "box": box} for label, box in boxes.items()]
    roles = {e.label: e.role for e in read({"size_px": [400, 800], "nodes": nodes})}
    assert roles == {"status": "system", "bar": "button", "tab": "button", "back": "system"}


def test_a_pages_tree_is_flattened_and_its_controls_can_be_tapped():
    button = {"id": "n2", "role": "button", "name": "Go", "box": [0, 0, 40, 80]}
    off = {"id": "n3", "role": "button", "name": "No", "box": [0, 0, 40, 80], "disabled": True}
    nowhere = {"id": "n4", "role": "link", "name": "hidden"}
    root = {
        "id": "n1",
        "role": "RootWebArea",
        "box": [0, 0, 400, 800],
        "children": [button, off, nowhere],
    }
    found = read(root)
    assert [(e.role, e.label, e.taps) for e in found] == [
        ("RootWebArea", "", False),
        ("button", "Go", True),
        ("button", "No", False),
    ]
    assert found[1].at == (0.05, 0.05)


def test_the_fakes_widgets_are_read():
    widgets = [
        {"label": "Save", "box_px": [0, 0, 40, 80], "does": "save"},
        {"label": "Title", "box_px": [0, 80, 400, 160]},
    ]
    assert read(widgets) == (
        Element(role="button", label="Save", at=(0.05, 0.05), taps=True),
        Element(role="button", label="Title", at=(0.5, 0.15)),
    )


def test_what_lies_off_the_screen_or_has_no_size_is_left_out():
    nodes = [
        {"role": "button", "label": label, "box": box}
        for label, box in (
            ("below", [0, 900, 10, 10]),
            ("flat", [0, 0, 10, 0]),
            ("left", [-100, 0, 10, 10]),
            ("here", [390, 790, 20, 20]),
        )
    ]
    assert [e.label for e in read({"size_px": [400, 800], "nodes": nodes})] == ["here"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["nodes", "box", "role", "label", "box_px", "size_px", "children", "can"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(JSON.map(msgspec.json.encode) | st.binary(max_size=20))
def test_anything_else_is_refused_as_the_environments_fault(tree):
    try:
        read_elements(tree, (400, 800))
    except EnvironmentFault as fault:
        refused.append(str(fault))


refused: list[str] = []


def test_a_tree_that_is_no_tree_names_what_is_wrong():
    with pytest.raises(EnvironmentFault, match="tree cannot be read"):
        read_elements(b"{", (1, 1))
