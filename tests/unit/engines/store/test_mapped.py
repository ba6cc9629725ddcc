"""A row of attrs becomes an item by its declaration, and back; what cannot be read says nothing."""

from enum import StrEnum
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import SECONDS, Mapped, camel, encoded


class Colour(StrEnum):
    RED = "red"
    NONE = ""


@frozen(kw_only=True)
class Sample:
    owner: str  # told by the key
    name: str
    revision: int = 0
    is_open: bool = False
    of_many: tuple[str, ...] = ()
    colour: Colour = Colour.NONE
    expires_at: int = 0
    doubled: int = 0
    at: int = 0


SAMPLES: Mapped[Sample] = Mapped(
    Sample,
    "a sample",
    version=2,
    kept=("name", "revision"),
    without=("owner",),
    names={"at": "writtenAt"},
    expires_at=SECONDS,
    doubled=encoded(lambda number: str(number * 2) if number else "", lambda text: int(text or 0) // 2),
)
WHOLE = Sample(
    owner="ann",
    name="n",
    revision=1,
    is_open=True,
    of_many=("a", "b"),
    colour=Colour.RED,
    expires_at=5_000,
    doubled=4,
    at=7,
)
ITEM = {
    "v": 2,
    "name": "n",
    "revision": 1,
    "isOpen": True,
    "ofMany": ["a", "b"],
    "colour": "red",
    "expiresAt": 5,
    "doubled": "8",
    "writtenAt": 7,
}


def test_an_item_has_the_fields_by_their_names() -> None:
    assert SAMPLES.item(WHOLE) == ITEM
    assert SAMPLES.row(ITEM, owner="ann") == WHOLE
    assert set(SAMPLES.attributes) == set(ITEM)


def test_what_is_empty_as_it_is_stored_is_left_out_but_for_what_is_kept() -> None:
    """A revision of 1 is no default that may be left out, and half a second is no second."""
    item = SAMPLES.item(Sample(owner="ann", name="", expires_at=500))
    assert item == {"v": 2, "name": "", "revision": 0}
    assert SAMPLES.row(item, owner="ann") == Sample(owner="ann", name="")


def test_a_text_that_is_an_enum_is_stored_as_a_text() -> None:
    """Also in a field that is declared as a text: SQLite and JSON would take it for something else."""
    item = SAMPLES.item(Sample(owner="ann", name=Colour.RED))
    assert type(item["name"]) is str


@pytest.mark.parametrize(
    "item",
    [
        {**ITEM, "v": 3},
        {name: value for name, value in ITEM.items() if name != "v"},
        {name: value for name, value in ITEM.items() if name != "revision"},
        {**ITEM, "revision": "1"},
        {**ITEM, "revision": True},
        {**ITEM, "name": 1},
        {**ITEM, "isOpen": 1},
        {**ITEM, "ofMany": "ab"},
        {**ITEM, "ofMany": [1]},
        {**ITEM, "colour": "blue"},
        {**ITEM, "doubled": "x"},
        {**ITEM, "expiresAt": "5"},
    ],
)
def test_what_cannot_be_read_says_nothing(item: Any) -> None:
    with pytest.raises(Unavailable, match="a sample that cannot be read"):
        SAMPLES.row(item, owner="ann")


@given(
    name=st.text(),
    revision=st.integers(),
    of_many=st.lists(st.text()).map(tuple),
    seconds=st.integers(0, 10**10),
    is_open=st.booleans(),
)
def test_what_is_stored_is_read(name: str, revision: int, of_many: Any, seconds: int, is_open: bool) -> None:
    row = Sample(owner="o", name=name, revision=revision, of_many=of_many, expires_at=seconds * 1000, is_open=is_open)
    assert SAMPLES.row(SAMPLES.item(row), owner="o") == row


def test_what_a_version_does_not_know_is_not_its_concern() -> None:
    assert SAMPLES.row({**ITEM, "ofLater": 1}, owner="ann") == WHOLE


def test_a_type_without_a_form_is_refused_at_once() -> None:
    @frozen
    class Odd:
        times: dict[str, str]

    with pytest.raises(TypeError, match="say how"):
        Mapped(Odd, "odd")


def test_camel() -> None:
    assert camel("schedule_id") == "scheduleId"
