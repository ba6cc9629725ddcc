"""Which keys there are: the pair of the run, and what ministack has issued. Those that everybody knows are none."""

import importlib
from hashlib import sha256
from typing import Any

import pytest

from local.emulator.access.function_sessions import issue_secret_credentials
from local.emulator.access.issued_keys import IssuedKeys
from local.key_pair import KeyPair

PAIR = KeyPair(access_key_id="AKIARUN", secret_access_key="of this run")
FUNCTION = {
    "FunctionName": "delayer-relay",
    "FunctionArn": "arn:aws:lambda:us-east-1:000000000000:function:delayer-relay",
    "Role": "arn:aws:iam::000000000000:role/relay",
}
sts: Any = importlib.import_module("ministack.services.sts")
iam: Any = importlib.import_module("ministack.services.iam")
runtime: Any = importlib.import_module("ministack.core.lambda_runtime")


class Module:
    """A module of ministack whose functions are replaced."""

    _account_region_from_function_config = staticmethod(runtime._account_region_from_function_config)
    execution_credentials: Any = None


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> IssuedKeys:
    monkeypatch.setattr(sts, "_sessions", {})
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", PAIR.access_key_id)
    return IssuedKeys(PAIR)


def issued(config: dict[str, str]) -> dict[str, str]:
    """The credentials of a function, in a new run."""
    lambda_service, lambda_runtime = Module(), Module()
    issue_secret_credentials(lambda_service, lambda_runtime, sts)
    credentials: dict[str, str] = lambda_runtime.execution_credentials(config)
    assert lambda_service.execution_credentials(config) == credentials, "each of its processes has the same"
    return credentials


def test_the_pair_of_the_run(keys: IssuedKeys) -> None:
    assert keys.secret_of("AKIARUN", "") == "of this run"
    assert keys.secret_of("AKIARUN", "a session token") is None


@pytest.mark.parametrize("known", ["test", "", "000000000000", "123456789012", "AKIAIOSFODNN7EXAMPLE", "\u00e4"])
def test_what_everybody_knows_is_no_key(keys: IssuedKeys, known: str) -> None:
    """For ministack, the first four are its root user."""
    assert keys.secret_of(known, "") is None


def test_a_function_has_a_key_with_its_session(keys: IssuedKeys) -> None:
    own = issued(FUNCTION)
    key, secret, token = own["AWS_ACCESS_KEY_ID"], own["AWS_SECRET_ACCESS_KEY"], own["AWS_SESSION_TOKEN"]
    assert keys.secret_of(key, token) == secret
    assert keys.secret_of(key, "") is None
    assert keys.secret_of(key, "another") is None


def guessed(kind: str) -> str:
    """As ministack computes them from names."""
    digest = sha256(f"{FUNCTION['FunctionArn']}:{FUNCTION['Role']}".encode()).hexdigest()
    return sha256(f"{kind}{digest}".encode()).hexdigest() if kind else f"ASIA{digest[:16].upper()}"


def test_no_two_functions_and_no_two_runs_share_one(keys: IssuedKeys) -> None:
    other = {**FUNCTION, "FunctionName": "delayer-other", "FunctionArn": f"{FUNCTION['FunctionArn']}-other"}
    every = [issued(FUNCTION), issued(FUNCTION), issued(other)]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        assert len({credentials[name] for credentials in every}) == 3
    for kind in ("", "secret:", "token:"):
        assert guessed(kind) not in every[0].values(), "which anyone can compute"


def test_a_key_that_a_user_was_given(keys: IssuedKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"UserName": "u", "SecretAccessKey": "of a user", "Status": "Active"}
    iam._access_keys.set_scoped("000000000000", None, "AKIAUSER", record)
    try:
        assert keys.secret_of("AKIAUSER", "") == "of a user"
        record["Status"] = "Inactive"
        assert keys.secret_of("AKIAUSER", "") is None
    finally:
        iam._access_keys.pop_scoped("000000000000", None, "AKIAUSER")
