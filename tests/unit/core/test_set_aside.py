"""A kept record: its whole body, under one key."""

import json
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.core.set_aside import Kept, Shelf, decode, encode
from tests.samples import NOW, OWNER, a_kept, an_id

GOLDEN = Path(__file__).parents[2] / "golden/v1/kept.json"
SAMPLE = Kept(
    v=1,
    shelf=Shelf.SET_ASIDE,
    schedule_id=an_id(),
    owner=OWNER,
    reason="more than 29 days past its point in time",
    source="delayer-relay",
    at=NOW,
    body='{"whole": "body ä"}',
)


def test_the_golden_sample() -> None:
    """A kept record waits for a person for as long as it takes."""
    content = GOLDEN.read_bytes().rstrip(b"\n")
    assert decode(content) == SAMPLE
    assert encode(SAMPLE) == content, "the format changed: give it a new version"


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(Shelf))
def test_the_whole_body_is_kept(body: str, shelf: Shelf) -> None:
    kept = a_kept(body=body, shelf=shelf)
    assert decode(encode(kept)) == kept


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_one_key_for_one_body(one: str, other: str) -> None:
    """Set aside twice it is kept once; two copies are kept both."""
    first = a_kept(body=one)
    again = evolve(first, at=NOW + 1, reason="another", source="dlq-set-aside")
    assert first.key == again.key
    assert (first.key == a_kept(body=other).key) == (one == other)


def test_keys() -> None:
    assert a_kept(body="x").key.startswith(f"set-aside/{an_id()}/")
    assert a_kept(body="x", shelf=Shelf.FAILED).key.startswith(f"failed/{an_id()}/")
    assert a_kept(body="x", schedule_id="").key.startswith("set-aside/unreadable/")
    assert a_kept(body="\ud800").key.endswith(".json"), "any text has a key"


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"{}", b"\xff", b'{"requestContext": {"functionArn": "a"}, "payload": "{}"}', b"[" * 100_000],
)
def test_anything_else_is_a_value_error(content: bytes) -> None:
    """In the same bucket lie the records that Lambda itself gave up on."""
    with pytest.raises(ValueError, match=r"."):
        decode(content)


def test_another_version_is_a_value_error() -> None:
    content = json.loads(encode(a_kept())) | {"v": 2}
    with pytest.raises(ValueError, match="version 2"):
        decode(json.dumps(content).encode())
