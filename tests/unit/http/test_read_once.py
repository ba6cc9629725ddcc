"""A body is read once, and says what it said when each of its fields was read for each question."""

import json
import sys
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.accept.rules import admission
from delayer.accept.rules.admission import admit, read_body
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.http import json_body
from delayer.http.json_body import MAX_DEPTH, TOO_DEEP, fields_of
from delayer.http.problem import Invalid, NotJson
from delayer.masking.mask import MASK, masks_in, secrets_in
from delayer.schedule.json_text import integer, read, refuse_constant, write
from tests.samples import NOW
from tests.strategies import json_texts, json_values

PREFIX = "The body must be a JSON object in UTF-8: "
HTTP = {"type": "http-request", "url": "http://target/", "headers": {"X-Team": "reports"}}
BODY = {
    "delaySeconds": 90,
    "action": HTTP,
    "payload": [1, {"a": None}],
    "tags": {"a": "b"},
    "retry": {"maxAttempts": 5},
}


def read_apart(body: bytes) -> dict[str, Any] | str:
    """Each field by `json.loads`, as it was done before; the text of the refusal if it is refused."""
    try:
        body.decode("utf-8")
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        return {name: json.loads(bytes(raw), **HOOKS) for name, raw in fields.items()}
    except RecursionError:
        return PREFIX + TOO_DEEP
    except (UnicodeError, msgspec.MsgspecError, ValueError) as error:
        return PREFIX + str(error).split("\n", 1)[0]


def decimal(digits: str) -> int | Decimal:
    """As `read` has them."""
    value: int | Decimal = read(digits)
    return value


HOOKS: dict[str, Any] = {"parse_float": decimal, "parse_int": integer, "parse_constant": refuse_constant}
HOSTILE = (
    *(b"[]", b"7", b"null", b"{", b'{"a":1', b'{"a":1}}', b'{"a":1,}', b'{"a" 1}', b"{'a':1}", b'{a:1}', b"\xff"),
    *(b'{"a":"\xff"}', b'\xef\xbb\xbf{"a":1}', b'{"a":NaN}', b'{"a":[Infinity]}', b'{"a":-Infinity}'),
    *(b'{"a":1,"a":2}', b'{"a":{"b":1,"b":[2]}}', b'{"a":"\\ud800"}', b'{"\\ud800":1}', b'{"a":"\\udc00\\ud800"}'),
    *(b'{"a":"\xed\xa0\x80"}', b'{"a":"\xef\xbf\xbf"}'),
    *(b'{"a":"\\uD83D\\uDE00"}', b'{"a":"\\x41"}', b'{"a":"\n"}', b'{"a":"\x00"}', b'{"a":\x00"b"}', b'{"a":"b"}\x00'),
    *(b'{"a":' + b"9" * 400 + b"}", b'{"a":' + b"9" * 5_000 + b"}", b'{"a":1e400}', b'{"a":1e99999999999999999999}'),
    *(b'{"a":-0.0}', b'{"a":13.0}', b'{"a":1.1000}', b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":1.}', b'{"a":0x1}'),
    *(b'{"a":' + b"[" * many + b"]" * many + b"}" for many in (MAX_DEPTH, MAX_DEPTH + 1, 5_000)),
)  # fmt: skip


def outcome(body: bytes) -> dict[str, Any] | str:
    try:
        return dict(fields_of(body).values)
    except NotJson as refused:
        return str(refused)


def test_what_no_library_writes_is_read_or_refused_as_before() -> None:
    for body in HOSTILE:
        assert repr(outcome(body)) == repr(read_apart(body)), body[:40]


@given(
    texts=st.dictionaries(st.sampled_from(["a", "payload", "b\n"]), json_texts),
    cut=st.integers(-20, 60),
    by=st.binary(max_size=3),
)
@example(texts={"a": '"' + "\u2028" + '"'}, cut=0, by=b"")
def test_what_is_damaged_anywhere_is_read_or_refused_as_before(texts: dict[str, str], cut: int, by: bytes) -> None:
    whole = ("{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in texts.items()) + "}").encode()
    for body in (whole, whole[:cut] + by + whole[cut:]):
        if body.strip():
            assert repr(outcome(body)) == repr(read_apart(body))


@given(texts=st.dictionaries(st.sampled_from(["a", "payload", "b"]), json_texts))
def test_a_field_is_what_was_sent_and_a_payload_keeps_its_bytes(texts: dict[str, str]) -> None:
    body = ("{" + ",".join(f'"{name}": {text}' for name, text in texts.items()) + "}").encode()
    found = read_body(body)
    assert fields_of(body).sent == {name: text.encode() for name, text in texts.items()}
    assert found.payload.sent == texts.pop("payload", "").encode()
    assert found.document == {name: read(text.encode()) for name, text in texts.items()}


@pytest.mark.parametrize("body", [b'{"a":[1],"b":' + b"[" * depth + b"]" * depth + b"}" for depth in (501, 700)])
def test_the_limit_of_depth_is_that_of_each_field(body: bytes) -> None:
    with pytest.raises(NotJson, match="more than 500 levels"):
        read_body(body)


def test_many_brackets_are_not_deep() -> None:
    assert read_body(b'{"a":[' + b"[]," * 400 + b'[]],"b":[' + b"{}," * 400 + b"{}]}").document["b"]
    assert read_body(b'{"b":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}").document


def test_each_field_is_parsed_once_and_each_text_is_written_once() -> None:
    body = json.dumps(BODY).encode()
    with (
        patch.object(json_body, "read", side_effect=read) as parsed,
        patch.object(admission, "read", side_effect=read) as parsed_again,
        patch.object(admission, "write", side_effect=write) as written,
    ):
        request = admit(body, NOW, built_in())
    assert [call.args[0] for call in parsed.call_args_list] == [json.dumps(value).encode() for value in BODY.values()]
    assert not parsed_again.called
    assert [call.args[0] for call in written.call_args_list] == [BODY[name] for name in ("action", "tags", "retry")]
    assert request.definition.action == write(HTTP)


@given(json_values)
@example({"url": "https://a/b?***"})
@example({"headers": {"Cookie": "***"}})
@example({"password": "***\ud800"})
def test_a_mask_that_is_found_stands_in_the_text(value: Any) -> None:
    """So an action is gone through for masks only if one stands there."""
    schema = built_in()["http-request"].schema
    for action in (value, {"password": MASK, "more": value}, {"url": f"https://a/b?{MASK}", "more": [value]}):
        if masks_in(action, secrets_in(schema)):
            assert MASK in write(action)


def test_an_action_that_is_nested_deeply_is_accepted_or_refused_and_no_defect() -> None:
    """It is gone through only if a mask stands in it somewhere; nobody can say then where."""
    schema = {"type": "object", "properties": {"type": {"const": "report"}, "any": {}}}
    actions = {"report": ActionType(type="report", schema=json.dumps(schema))}
    for depth in (300, 400, MAX_DEPTH - 2):
        nested = "[" * depth + "LEAF" + "]" * depth
        body = f'{{"delaySeconds":1,"action":{{"type":"report","any":{nested}}}}}'
        assert admit(body.replace("LEAF", "1").encode(), NOW, actions).definition.action_type == "report"
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # as in a function: another test of this process may have raised it
    try:
        with pytest.raises(Invalid) as refused:
            admit(body.replace("LEAF", f'"{MASK}"').encode(), NOW, actions)
    finally:
        sys.setrecursionlimit(before)
    assert [error.field for error in refused.value.errors] == ["action"]
