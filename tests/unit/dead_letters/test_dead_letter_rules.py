"""A dead letter: its whole body, under one key."""

import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.dead_letters.model import Prefix, decode, encode
from tests.samples import GOLDEN, NOW, a_dead_letter, an_id

SAMPLE = a_dead_letter(reason="more than 29 days past its point in time", body='{"whole": "body ä"}')


def test_the_golden_sample() -> None:
    """A dead letter waits for a person for as long as it takes."""
    content = (GOLDEN / "dead-letter.json").read_bytes().rstrip(b"\n")
    assert decode(content) == SAMPLE
    assert encode(SAMPLE) == content, "the format changed: give it a new version"


@given(st.text(st.characters(codec="utf-8")), st.sampled_from(Prefix))
def test_the_whole_body_is_stored(body: str, prefix: Prefix) -> None:
    letter = a_dead_letter(body=body, prefix=prefix)
    assert decode(encode(letter)) == letter


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_one_key_for_one_body(one: str, other: str) -> None:
    """Dead-lettered twice it is stored once; two copies are stored both."""
    first = a_dead_letter(body=one)
    again = evolve(first, at=NOW + 1, reason="another", source="executor-http-request")
    assert first.key == again.key
    assert (first.key == a_dead_letter(body=other).key) == (one == other)


def test_keys() -> None:
    assert a_dead_letter(body="x").key.startswith(f"dead-lettered/{an_id()}/")
    assert a_dead_letter(body="x", prefix=Prefix.FAILED).key.startswith(f"failed/{an_id()}/")
    assert a_dead_letter(body="x", schedule_id="").key.startswith("dead-lettered/malformed/")
    assert a_dead_letter(body="\ud800").key.endswith(".json"), "any text has a key"


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"{}", b"\xff", b'{"requestContext": {"functionArn": "a"}, "payload": "{}"}', b"[" * 100_000],
)
def test_anything_else_is_a_value_error(content: bytes) -> None:
    """In the same bucket lie the records that Lambda itself gave up on."""
    with pytest.raises(ValueError, match=r"."):
        decode(content)


def test_another_version_is_a_value_error() -> None:
    content = json.loads(encode(a_dead_letter())) | {"v": 2}
    with pytest.raises(ValueError, match="version 2"):
        decode(json.dumps(content).encode())
