"""A secret that a target has sent back, however it has written it."""

import html
import json
from base64 import b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.connections.rules import Header, basic, bearer, secrets_in
from delayer.masking.mask import MASK
from delayer.masking.secrets import LOOKED_AT, header_without_secrets, without_secrets
from tests.unit.patterns.lines import lines_of

WAYS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "JSON of .NET": lambda text: json.dumps(text)[1:-1].replace("+", "\\u002B"),
    "a URL": quote,
    "all of a URL": lambda text: quote(text, safe=""),
    "a form": quote_plus,
    "in small letters": lambda text: "".join(f"%{one:02x}" if one > 127 else chr(one) for one in text.encode()),
    "a URL in a URL": lambda text: quote(quote(text, safe=""), safe=""),
    "a form in a form": lambda text: quote_plus(quote_plus(text)),
    "HTML": html.escape,
}
ENCODINGS: dict[str, Callable[[bytes], str]] = {
    "base64": lambda text: b64encode(text).decode(),
    "base64 of URLs": lambda text: urlsafe_b64encode(text).decode().rstrip("="),
    "base64 in lines": lambda text: encodebytes(text).decode().rstrip("\n"),
    "base64 in JSON of PHP": lambda text: b64encode(text).decode().replace("/", "\\/"),
    "base64 in a form": lambda text: quote_plus(b64encode(text).decode()),
    "hex": bytes.hex,
    "HEX": lambda text: text.hex().upper(),
}
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=1, max_size=12)


@pytest.mark.parametrize("way", WAYS)
@given(secret=TEXTS)
def test_a_secret_is_masked_however_it_is_written(way: str, secret: str) -> None:
    if way == "in small letters":
        secret = secret.replace("%", "")
    written = WAYS[way](secret).encode()
    before, after = b"\x01\x02", b"\x03\x04"
    if secret and not set(secret) & set("\x01\x02\x03\x04"):
        assert without_secrets(before + written + after, {secret}) == before + MASK.encode() + after


@given(secret=TEXTS, kept=st.integers(1, 30))
def test_no_half_of_a_secret_stands_at_a_cut(secret: str, kept: int) -> None:
    cut = (b"\x01" + json.dumps(secret)[1:-1].encode())[: kept + 1]
    if "\x01" not in secret:
        assert without_secrets(cut, {secret}, is_whole=False) == b"\x01" + MASK.encode()


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(secret=st.text(min_size=3, max_size=100), before=st.binary(max_size=5), after=st.binary(max_size=70))
def test_an_encoded_secret_is_masked_wherever_it_begins(
    encoding: str, secret: str, before: bytes, after: bytes
) -> None:
    """It was encoded with what stood before and behind it, such as the whole of a request."""
    text = secret.encode("utf-8", "replace")
    shown = without_secrets(f"<{ENCODINGS[encoding](before + text + after)}>".encode(), {secret})
    assert shown.rstrip(b"%3D=>") == b"<***"


@pytest.mark.parametrize("kept", range(16, 40))
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_of_an_encoded_secret_at_a_cut_two_bytes_are_shown_at_most(encoding: str, kept: int) -> None:
    secret = "d-0123456789?~abcdefgh"
    cut = ENCODINGS[encoding](b"Bearer " + secret.encode())[:kept].encode()
    shown = without_secrets(cut, {secret}, is_whole=False)
    left = shown.removesuffix(MASK.encode())
    assert cut.startswith(left)
    assert len(left) < len(ENCODINGS[encoding](b"Bearer d-0"))


def test_what_is_no_secret_is_shown_though_it_could_be_decoded() -> None:
    text = b'{"id": "c29tZXRoaW5nIGVsc2U=", "sha": "9f86d081884c7d65", "message": "no+such%20order"}'
    assert without_secrets(text, {"s3cr3t", "ab"}) == text
    assert without_secrets(text, {"s3cr3t", "ab"}, is_whole=False) == text


def test_the_end_of_what_is_whole_is_no_cut() -> None:
    assert without_secrets(b"created", {"d-0123"}) == b"created"
    assert without_secrets(b"created", ()) == b"created"
    assert without_secrets(b"created", {""}) == b"created"


def test_of_two_secrets_the_longer_one_counts() -> None:
    assert without_secrets(b"got Bearer abc, abc", {"abc", "Bearer abc"}) == b"got ***, ***"


def test_a_header_may_hold_bytes_of_any_kind() -> None:
    assert header_without_secrets("pä".encode().decode("latin-1") + "\xe4", {"pä"}) == "***\xe4"


def test_many_like_characters_take_no_time() -> None:
    assert without_secrets(b"\\" * 1023 + b"b", {"\\" * 4096}) == b"\\" * 1023 + b"b"


@pytest.mark.parametrize("piece", ["a", "ab", "%", "\\", "&", "+", "\\u00e4", "&#228;", "%25", "A/", "00%"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_no_secret_makes_a_long_search(piece: str, is_whole: bool) -> None:
    """A few steps for each byte that is looked at, and none for each pair of the text and the secret."""
    secret = (piece * 8_192)[:8_192]
    secrets, text = {secret, f"Bearer {secret}", secret[:600] + "b"}, (piece * 65_536)[:65_536]
    allowed = 40 * LOOKED_AT
    assert lines_of(lambda: header_without_secrets(text, secrets)) < allowed
    assert lines_of(lambda: without_secrets(text[:1_024].encode(), secrets, is_whole=is_whole)) < allowed


@pytest.mark.parametrize("secret", ["d-0123456789" * 9, "d" * 600])
def test_of_a_header_that_is_cut_no_half_of_a_secret_is_looked_at(secret: str) -> None:
    before = "x" * (LOOKED_AT - 40)
    assert header_without_secrets(before + secret, {secret}) == before + MASK


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (Header(name="X-Api-Key", value="a b"), {"a b"}),
        (bearer("t-1"), {"Bearer t-1", "t-1"}),
        (
            Header(name="Authorization", value=basic("joe", "pw:1")),
            {"Basic am9lOnB3OjE=", "am9lOnB3OjE=", "am9lOnB3OjE", "joe:pw:1", "pw:1"},
        ),
        (Header(name="authorization", value="Basic no!"), {"Basic no!", "no!"}),
        (Header(name="Authorization", value=basic("joe", "")), {basic("joe", ""), "am9lOg", "am9lOg==", "joe:"}),
    ],
)
def test_what_nobody_may_read_of_a_header(header: Header, expected: set[str]) -> None:
    assert secrets_in(header) == expected
