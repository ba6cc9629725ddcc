"""What is shown of a definition holds no secret, and everything else of it."""

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.masking.anyhow import masked_anyhow
from delayer.masking.mask import (
    MASK,
    NOT_JSON,
    is_sensitive,
    masked,
    masked_action,
    masked_text,
    masked_value,
    masks_in,
    secrets_of,
)
from tests.samples import a_definition
from tests.strategies import definitions, json_values

SECRET = "hunter2-and-more"
SENSITIVE = [
    "Authorization",
    "proxy-authorization",
    "Cookie",
    "SET-COOKIE",
    "X-Api-Key",
    "apikey",
    "X-Auth",
    "X-Amz-Security-Token",
    "x_token",
    "Client-Secret",
    "X-Password",
    "passwd",
    "X-Credentials",
    "X-Hub-Signature-256",
    "X-Sig",
    "X-Session-Id",
    "DPoP-JWT",
]
SENSITIVE += ["Passphrase", "X-Passcode", "pass-phrase", "dbPass", "X-PW", "pswd", "Creds", "X-Cred", "X-HMAC", "X-PSK"]
SENSITIVE += [
    "connect.sid",
    "PHPSESSID",
    "X-CSRF",
    "XSRF",
    "X-MFA",
    "X-2FA",
    "x-totp",
    "otpCode",
    "userPin",
    "PIN2",
    "PUK",
]
SENSITIVE += ["PAT", "client.pem", "privateThing", "Salt", "seed_hex", "mnemonic", "SAMLResponse", "X-SSO", "X-Nonce"]
SENSITIVE += [
    "cvv",
    "SENTRY_DSN",
    "code_verifier",
    "client_assertion",
    "recovery code",
    "BackupCode",
    "ConnectionString",
]
PLAIN = ["Accept", "Content-Type", "X-Request-Id", "traceparent", "X-Signal", "X-Spinning", "X-Compass", "User-Agent"]
PLAIN += ["X-Code", "Patch", "X-Side", "machine", "X-Seeded", "assorted", "macro", "reason-phrase", "X-Bypass", "size"]


def shown(action: dict[str, Any]) -> Any:
    text = masked_action(json.dumps({"type": "http-request", **action}))
    assert masked_action(text) == text, "masked once more, it stays as it is"
    return json.loads(text)


@pytest.mark.parametrize("name", SENSITIVE)
def test_a_header_with_a_sensitive_name_is_masked(name: str) -> None:
    assert shown({"headers": {name: SECRET, "Accept": "*/*"}})["headers"] == {name: MASK, "Accept": "*/*"}


@pytest.mark.parametrize("name", PLAIN)
def test_any_other_header_is_shown(name: str) -> None:
    assert shown({"headers": {name: "value"}})["headers"] == {name: "value"}


@pytest.mark.parametrize(
    ("url", "masked_url"),
    [
        ("https://a.example/b/c?d=e", "https://a.example/b/c?***"),
        ("https://a.example?d=e#f", "https://a.example?***"),
        ("https://a.example/b#f", "https://a.example/b#***"),
        ("https://user:p@ss@a.example:8080/b", "https://***@a.example:8080/b"),
        ("https://user@a.example/b?c", "https://***@a.example/b?***"),
        ("HTTPS://a.example/b?c", "HTTPS://a.example/b?***"),
        ("/b?c=d", "/b?***"),
        ("//user@a.example/b?c", "//***@a.example/b?***"),
        ("mailto:user@a.example?subject=x", "***@a.example?***"),
        ("https://a.example/b?c=<d>'e\"f g\nh", "https://a.example/b?***"),
        ("https://a.example/b#c?d e", "https://a.example/b#***"),
        ("https://u:<p>'@a.example/", "https://***@a.example/"),
        ("user:pass@a.example/b", "***@a.example/b"),
        ("https://a.example/b", "https://a.example/b"),
        ("https://a.example/@b", "https://a.example/@b"),
        ("", ""),
    ],
)
def test_of_a_url_only_scheme_host_and_path_are_shown(url: str, masked_url: str) -> None:
    assert shown({"url": url})["url"] == masked_url


def test_a_url_anywhere_in_a_text_is_masked() -> None:
    link = '<https://a.example/b?sig=c>; rel="next", see https://u:p@d.example'
    assert shown({"headers": {"Link": link}})["headers"]["Link"] == (
        '<https://a.example/b?*** rel="next", see https://***@d.example'
    )


@pytest.mark.parametrize("character", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
def test_no_character_ends_a_query_too_early(character: str) -> None:
    """The URL of an http-request may hold any of them."""
    for url in (f"https://a.example/b?c={character}{SECRET}", f"https://a.example?{character}={SECRET}"):
        assert SECRET not in json.dumps(shown({"url": url, "headers": {"Referer": url}}))


def test_an_action_of_a_team_is_masked_by_name_at_any_depth() -> None:
    action = {
        "type": "ours",
        "callbackUrl": "https://a.example/?x",
        "headers": [{"name": "Authorization", "value": SECRET}, {"name": "Accept", "value": "*/*"}],
        "login": {"password": {"hash": SECRET}, "tokens": [SECRET, 17]},
    }
    assert shown(action) == {
        "type": "ours",
        "callbackUrl": "https://a.example/?***",
        "headers": [{"name": "Authorization", "value": MASK}, {"name": "Accept", "value": "*/*"}],
        "login": {"password": MASK, "tokens": MASK},
    }


def test_the_class_of_an_action_says_what_is_secret_and_what_is_not() -> None:
    """`writeOnly` in its schema; what it says is stored with each schedule."""
    properties = {
        "note": {"writeOnly": True},
        "partitionKey": {"writeOnly": False},
        "inner": {"properties": {"pan": {"writeOnly": True}}},
        "many": {"items": {"properties": {"pan": {"writeOnly": True}}}},
    }
    secrets = secrets_of({"type": "object", "description": "Ours.", "properties": {**properties, "more": {}}})
    assert secrets == {"properties": properties}
    action = {"type": "ours", "note": {"a": SECRET}, "partitionKey": "p?q", "inner": {"pan": 1}, "many": [{"pan": 2}]}
    assert json.loads(masked_action(json.dumps(action), secrets)) == {
        "type": "ours",
        "note": MASK,
        "partitionKey": "p?q",
        "inner": {"pan": MASK},
        "many": [{"pan": MASK}],
    }


def test_a_secret_that_may_be_missing_is_one() -> None:
    """The class says `str | None` of it, and the schema makes a choice of that."""
    note = {"anyOf": [{"type": "string", "writeOnly": True}, {"type": "null"}]}
    inner = {"anyOf": [{"properties": {"pan": {"writeOnly": True}}}, {"properties": {"pan": {"items": note}}}]}
    secrets = secrets_of(
        {"properties": {"note": note, "many": {"items": inner}, "any": True, "none": {"items": False}}}
    )
    pan = {"writeOnly": True, "items": {"writeOnly": True}}
    assert secrets == {"properties": {"note": {"writeOnly": True}, "many": {"items": {"properties": {"pan": pan}}}}}
    assert masks_in({"note": MASK}, secrets) == ["action.note"]


def test_what_has_no_secret_is_the_very_same() -> None:
    definition = a_definition(action='{ "type": "http-request",\n"url": "http://a.example/b" }')
    assert masked(definition) is definition


@pytest.mark.parametrize("action", ["{", "", '{"type": "x"', "[" * 100_000])
def test_what_cannot_be_read_is_not_shown(action: str) -> None:
    assert masked_action(action) == f'"{MASK}"'


@given(definitions)
def test_only_the_action_changes_and_only_once(definition: Any) -> None:
    once = masked(definition)
    assert masked(once) is once
    assert (once.payload, once.group, once.tags, once.on_late) == (
        definition.payload,
        definition.group,
        definition.tags,
        definition.on_late,
    )


places = st.sampled_from(
    [
        *({"headers": {name: SECRET}} for name in SENSITIVE),
        {"url": f"https://a.example/?x={SECRET}"},
        {"url": f"https://{SECRET}@a.example/"},
        {"headers": {"Referer": f"https://a.example/#{SECRET}"}},
        {"deep": [{"er": {"password": [SECRET]}}]},
    ]
)


@given(places, st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_no_secret_is_shown_wherever_it_stands(place: dict[str, Any], more: dict[str, Any]) -> None:
    action = {**more, "type": "http-request", **place}
    assert SECRET not in masked_action(json.dumps(action))
    assert masks_in(json.loads(masked_action(json.dumps(action)))), "and a mask that comes back is recognised"
    for body in (
        {"v": 1, "action": action, "payload": 1},
        {"dynamodb": {"NewImage": {"action": {"S": json.dumps(action)}}}},
        {"Records": [{"body": json.dumps({"action": json.dumps(action)})}]},
        {"Action": action, "headers": place},
    ):
        assert SECRET not in masked_text(json.dumps(body))


def test_no_mask_is_seen_where_there_is_none() -> None:
    assert masks_in({"type": "http-request", "url": "https://a/b?c", "headers": {"Cookie": "a", "X": MASK}}) == []
    assert masks_in({"type": "http-request", "url": "https://a/b?***", "headers": {"Cookie": MASK}}) == [
        "action.url",
        "action.headers.Cookie",
    ]


def test_the_body_of_a_dead_letter_keeps_what_is_no_secret() -> None:
    record = {"dynamodb": {"Keys": {"due": {"S": "1"}}, "OldImage": {"payload": {"S": '{"a":1}'}}}}
    assert json.loads(masked_text(json.dumps(record), ["Keys"])) == record
    assert masked_text('{"action": {"headers": {"Authorization": "x"') == NOT_JSON
    assert masked_text('["{\\"Authorization\\": \\"x"]') == json.dumps([NOT_JSON], separators=(",", ":"))


def test_a_value_in_an_error_is_masked_by_the_name_of_its_field() -> None:
    assert masked_value("Authorization", "Bearer \u00e9") == MASK
    assert masked_value("url", "ftp://a.example/?b") == "ftp://a.example/?***"
    assert masked_value("headers", {"Cookie": 1, "X": 2}) == {"Cookie": MASK, "X": 2}


@pytest.mark.parametrize(
    "text", ["a" * 250_000, "a://" * 60_000, "a://" + "@" * 250_000, "a+" * 120_000, "?" * 250_000]
)
def test_no_text_takes_long(text: str) -> None:
    began = time.perf_counter()
    masked_value("x", text)
    masked_value("url", text)
    assert time.perf_counter() - began < 5


def test_of_a_text_with_a_name_twice_nothing_is_shown() -> None:
    """Only the last of the two would be masked."""
    assert masked_text(f'{{"password": "{SECRET}", "password": null}}') == NOT_JSON
    assert SECRET not in masked_text(json.dumps({"body": f'{{"password": "{SECRET}", "password": null}}'}))


BEFORE = re.compile(  # what was taken for a secret before the list became longer
    "auth|cookie|key|token|secret|passw|pwd|credential|signature|session|bearer|jwt"
    "|(?<![a-z])(?:sig|pass|pin|otp)(?![a-z])",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    "name", ["db1pass", "smtp2pass", "user1Pass", "DB1PASS", "2pass", "v2sig", "X-V4Sig", "\u017fecret"]
)
def test_a_digit_before_a_word_hides_nothing(name: str) -> None:
    assert BEFORE.search(name)
    assert is_sensitive(name)


@given(st.text("abgipstowkeyPASigOT0129-_. ", max_size=12))
def test_what_was_taken_for_a_secret_before_still_is(name: str) -> None:
    assert is_sensitive(name) or not BEFORE.search(name)


@pytest.mark.parametrize(
    "text",
    ["&lt;token a=1>hunter2</token>", "<token a=1>hunter2&lt;/token&gt;", "\\u003ctoken>hunter2</token\\u003e"],
)
def test_a_tag_may_end_in_another_way_of_writing(text: str) -> None:
    assert "hunter2" not in masked_anyhow(text)
