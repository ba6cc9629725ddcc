"""A door that others reach takes calls with a token: the file of tokens, and the answer to a call without one."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.engines.memory import MemoryObserver
from delayer.http.answers import of_owners, respond, response
from delayer.http.requests import ApiRequest, Caller, Unknown, authorization_from
from delayer.schedule.schedule import MAX_OWNER, SYSTEM_OWNER
from delayer.serve.door.tokens import AUTHORIZATION, SETTING, KnownTokens, hash_of, new_token, tokens_in
from delayer.serve.refusal import Refusal
from tests.unit.serve.door.world import Engine, Served, get, post, served

GOOD = {"sha256": "0" * 64, "owner": "ann", "scopes": ["read"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def written(file: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return file


def refusal(do: Any, *given: Any) -> str:
    with pytest.raises(Refusal) as caught:
        do(*given)
    assert caught.value.status == 2
    return str(caught.value)


# ------------------------------------------------------------ the file


def test_a_token_is_made_and_known(file: Path) -> None:
    one, two = new_token(file, "ann", ["read", "write", "read"]), new_token(file, "bob", ["read"])
    assert one != two
    assert one.startswith("delayer_")
    assert len(one) > 50
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert one not in text
    assert sha256(one.encode()).hexdigest() in text
    tokens = tokens_in(file)
    assert tokens.claims_of(f"Bearer {one}") == {"owner": "ann", "scope": "read write"}
    assert tokens.claims_of(f"bearer  {two} ") == {"owner": "bob", "scope": "read"}


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer ", "Bearer x", "{}", "Basic {}", "Bearer {}x", "Token {}", "\ud800"]
)
def test_nobody_else_is_known(file: Path, shown: str) -> None:
    token = new_token(file, "ann", ["read"])
    assert tokens_in(file).claims_of(shown.format(token)) is None


def test_the_hash_of_a_token_is_no_token(file: Path) -> None:
    token = new_token(file, "ann", ["read"])
    assert tokens_in(file).claims_of(f"Bearer {hash_of(token)}") is None


@settings(max_examples=50)
@given(st.text(max_size=20))
def test_no_text_is_taken_for_a_token(text: str) -> None:
    tokens = KnownTokens(rows=())
    assert tokens.claims_of(text) is None
    assert tokens.claims_of(f"Bearer {text}") is None


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o601])
def test_a_file_that_is_open_to_others_is_refused(file: Path, mode: int) -> None:
    text = refusal(tokens_in, written(file, json.dumps(GOOD), mode))
    assert text == (
        f"The file of --tokens is open to other users of this machine (its mode is {mode:04o}) ({file}). "
        f"Run: chmod 600 {file}."
    )
    refusal(new_token, file, "ann", ["read"])
    assert file.read_text() == json.dumps(GOOD)


def test_a_file_without_a_token_is_refused(file: Path) -> None:
    assert "no such file" in refusal(tokens_in, file)
    for text in ("", "\n  \n"):
        found = refusal(tokens_in, written(file, text))
        assert "no token" in found
        assert f"delayer token OWNER --file {file}" in found
    file.parent.chmod(0o700)
    assert "Is a directory" in refusal(tokens_in, file.parent)


@pytest.mark.parametrize(
    "line",
    [
        *("x", "[]", "null", "{}", '"delayer_abc"', json.dumps(GOOD)[:-1]),
        *(json.dumps({**GOOD, name: None}) for name in GOOD),
        *(json.dumps({name: value for name, value in GOOD.items() if name != left}) for left in GOOD),
        json.dumps({**GOOD, "scope": "read"}),
        *(json.dumps({**GOOD, "sha256": text}) for text in ("", "0" * 63, "0" * 65, "g" * 64, "A" * 64)),
        *(
            json.dumps({**GOOD, "owner": owner})
            for owner in ("", " a", "a\n", "a\0", SYSTEM_OWNER, "x" * (MAX_OWNER + 1))
        ),
        json.dumps({**GOOD, "owner": "é" * (MAX_OWNER // 2 + 1)}),
        '{"sha256": "%s", "owner": "\\ud800", "scopes": ["read"]}' % ("0" * 64),
        *(json.dumps({**GOOD, "scopes": scopes}) for scopes in ([], ["all"], ["read", "READ"], "read", [1])),
        json.dumps(GOOD),
    ],
)
def test_a_line_that_is_wrong_is_named_and_not_repeated(file: Path, line: str) -> None:
    """The last one is there twice."""
    text = refusal(tokens_in, written(file, f"{json.dumps(GOOD)}\n\n{line}\n"))
    assert "line 3" in text
    assert "delayer_abc" not in text


def test_a_file_that_is_no_text(file: Path) -> None:
    assert "no text" in refusal(tokens_in, written(file, b"\xff\xfe"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_whatever_is_in_a_file_it_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    refusal(tokens_in, written(tmp_path_factory.getbasetemp() / "some-tokens", text))


@pytest.mark.parametrize(
    ("owner", "scopes"), [("", ["read"]), (SYSTEM_OWNER, ["read"]), ("ann", []), ("ann", ["admin"])]
)
def test_what_cannot_be_a_token_makes_no_file(file: Path, owner: str, scopes: list[str]) -> None:
    assert "A token was not made" in refusal(new_token, file, owner, scopes)
    assert not file.exists()


def test_a_file_in_a_folder_that_is_not_there(file: Path) -> None:
    """To make the file alone would fail again."""
    said = refusal(new_token, file / "in" / "no" / "folder", "ann", ["read"])
    assert said.startswith("There is no folder for the file of --tokens")
    assert said.endswith(f"Make it: mkdir -p {file}/in/no.")


def test_nothing_is_added_to_what_is_wrong(file: Path) -> None:
    written(file, "nonsense")
    assert "line 1" in refusal(new_token, file, "ann", ["read"])
    assert file.read_text() == "nonsense"


def test_a_last_line_without_an_end_stays_a_line(file: Path) -> None:
    token = new_token(written(file, json.dumps(GOOD)), "bob", ["read"])
    assert len(tokens_in(file).rows) == 2
    assert tokens_in(file).claims_of(f"Bearer {token}")


def test_many_are_added_at_once(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda at: new_token(file, f"owner {at}", ["read"]), range(32)))
    tokens = tokens_in(file)
    assert [tokens.claims_of(f"Bearer {one}") for one in made] == [
        {"owner": f"owner {at}", "scope": "read"} for at in range(32)
    ]


@pytest.mark.parametrize("written_bytes", [0, 10])
def test_a_disk_that_is_full_leaves_the_file_as_it_was(
    file: Path, monkeypatch: pytest.MonkeyPatch, written_bytes: int
) -> None:
    new_token(file, "ann", ["read"])
    before, write = file.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:written_bytes]))
    assert "cannot be used" in refusal(new_token, file, "bob", ["read"])
    monkeypatch.undo()
    assert file.read_bytes() == before


# ------------------------------------------------------------ calls


def test_the_setting_of_the_functions_is_the_same_authorization() -> None:
    assert authorization_from(SETTING) == AUTHORIZATION


@pytest.fixture
def known(file: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Tokens by the name of what they may do, and the setting with which functions are made."""
    monkeypatch.setenv("API_AUTHORIZATION", SETTING)
    return {name: new_token(file, f"owner of {name}", name.split("+")) for name in ("read", "write", "read+write")}


def authorizing() -> Engine:
    """As the functions answer: each asks who calls, and what for."""
    answers = of_owners(lambda request, owner: response(200, {"owner": owner, "address": request.caller.address}))
    observer = MemoryObserver()
    return Engine(lambda call: respond(observer, lambda: answers(call.request)))


@pytest.fixture
def door(file: Path, known: dict[str, str]) -> Iterator[Served]:
    with served(authorizing(), tokens=tokens_in(file), is_own=False, behind_proxy=True) as found:
        yield found


def bearer(token: str) -> str:
    return f"Authorization: Bearer {token}"


def test_the_owner_of_a_token_is_the_owner_of_its_calls(door: Served, known: dict[str, str]) -> None:
    """Whatever the client says; and the proxy says where it is."""
    claimed = ("Delayer-Owner: somebody", "X-Forwarded-For: 127.0.0.1, 203.0.113.7")
    reply = door.call(get("/schedules/x", bearer(known["read"]), *claimed, host="delayer.example"))
    assert (reply.status, reply.json()) == (200, {"owner": "owner of read", "address": "203.0.113.7"})


@pytest.mark.parametrize(
    "shown", [(), ("Authorization: Bearer x",), ("Authorization: Basic eDp5",), ("Delayer-Owner: a",)]
)
def test_whoever_shows_no_token_learns_how(door: Served, shown: tuple[str, ...]) -> None:
    reply = door.call(post("/schedules", b"{}", *shown))
    assert (reply.status, reply.kind) == (401, "unknown-token")
    is_wrong = bool(shown) and shown[0].startswith("Authorization")
    assert reply.headers["www-authenticate"] == 'Bearer realm="delayer"' + (', error="invalid_token"' * is_wrong)
    assert reply.headers["connection"] == "close", "nothing of its body is read"


def test_two_tokens_are_none(door: Served, known: dict[str, str]) -> None:
    assert door.call(get("/schedules/x", bearer(known["read"]), bearer(known["write"]))).status == 401


@pytest.mark.parametrize(
    ("token", "call", "missing"),
    [
        ("read", "GET /schedules/x", None),
        ("read", "POST /series/preview", None),
        ("read", "POST /schedules", "write"),
        ("read", "DELETE /schedules/x", "write"),
        ("write", "POST /schedules", None),
        ("write", "GET /schedules/x", "read"),
        ("read+write", "POST /schedules", None),
        ("read+write", "GET /schedules/x", None),
    ],
)
def test_a_token_may_do_what_its_scopes_say(
    door: Served, known: dict[str, str], token: str, call: str, missing: str | None
) -> None:
    method, _, path = call.partition(" ")
    reply = door.call(get(path, bearer(known[token]), method=method))
    if missing:
        assert (reply.status, reply.kind, reply.json()["scope"]) == (403, "missing-scope", missing)
    else:
        assert (reply.status, reply.json()["owner"]) == (200, f"owner of {token}")


def test_a_door_of_this_machine_may_have_tokens_too(file: Path, known: dict[str, str]) -> None:
    with served(authorizing(), tokens=tokens_in(file)) as found:
        assert found.call(get("/schedules/x")).status == 401
        assert found.call(get("/schedules/x", bearer(known["read"]))).json()["address"] == "127.0.0.1"
        assert found.call(get("/schedules/x", bearer(known["read"]), "Sec-Fetch-Site: cross-site")).status == 403


def test_no_owner_is_known_without_a_claim() -> None:
    for claims in ({}, {"owner": ""}, {"owner": None}):
        with pytest.raises(Unknown):
            AUTHORIZATION.owner_of(ApiRequest(route="GET /schedules", caller=Caller(claims=claims)))
