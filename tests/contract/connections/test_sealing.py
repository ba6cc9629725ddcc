"""What seals tokens: only this stack opens them, and only for what they were sealed for."""

from base64 import b64decode, b64encode
from typing import Any

import pytest

from delayer.connections.ports import Seal
from delayer.engines.aws.secrets import AesGcm
from delayer.engines.memory import MemorySeal
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.secrets import KeyRing, KeySeal
from tests.clients import ERRORS, Failing
from tests.contract.conftest import Aws
from tests.contract.engines import OnSqlite

ADAPTER = AesGcm
TOKEN = "t-0123456789"
ABOUT = "owner\ncrm\ns1"


def keyed(aws: Aws, name: str, key: str = "k" * 64) -> AesGcm:
    """With a key of the stack."""
    client = aws("secretsmanager")
    client.create_secret(Name=name, SecretString=key)
    return AesGcm(secretsmanager=client, key=name)


@pytest.fixture
def seal(engine: Aws | OnSqlite | None, request: pytest.FixtureRequest) -> Seal:
    if isinstance(engine, OnSqlite):
        return KeySeal(keys=KeyRing(keys=(b"k" * 32,)))
    return MemorySeal() if engine is None else keyed(engine, request.node.name.partition("[")[0])


def test_what_was_sealed_is_opened(seal: Seal) -> None:
    sealed = seal.sealed(TOKEN, ABOUT)
    assert TOKEN not in sealed
    assert seal.opened(sealed, ABOUT) == TOKEN


def test_it_opens_for_nothing_else(seal: Seal) -> None:
    sealed = seal.sealed(TOKEN, ABOUT)
    assert seal.opened(sealed, "owner\ncrm\ns2") is None
    assert seal.opened("", ABOUT) is None
    assert seal.opened("no base64!", ABOUT) is None


def test_each_seal_is_another(seal: Seal) -> None:
    assert seal.sealed(TOKEN, ABOUT) != seal.sealed(TOKEN, ABOUT)


def test_what_was_changed_is_not_opened(aws: Aws) -> None:
    seal = keyed(aws, "changed")
    stored = bytearray(b64decode(seal.sealed(TOKEN, ABOUT)))
    for at in (0, 15, len(stored) - 1):
        forged = bytes(one ^ (index == at) for index, one in enumerate(stored))
        assert seal.opened(b64encode(forged).decode(), ABOUT) is None
    assert seal.opened(b64encode(stored[:8]).decode(), ABOUT) is None


def test_a_key_that_was_changed_opens_nothing_of_before(aws: Aws) -> None:
    """It is read again, since it may be newer than the one at hand."""
    before = keyed(aws, "rotated")
    sealed = before.sealed(TOKEN, ABOUT)
    aws("secretsmanager").put_secret_value(SecretId="rotated", SecretString="n" * 64)
    after = AesGcm(secretsmanager=aws("secretsmanager"), key="rotated")
    assert after.opened(sealed, ABOUT) is None
    assert after.opened(after.sealed(TOKEN, ABOUT), ABOUT) == TOKEN


@pytest.mark.parametrize("error", ERRORS)
def test_without_its_key_it_says_so(error: str) -> None:
    seal = AesGcm(secretsmanager=Failing(ERRORS[error]), key="key")
    with pytest.raises(Unavailable):
        seal.sealed(TOKEN, ABOUT)
    with pytest.raises(Unavailable):
        seal.opened(b64encode(bytes(40)).decode(), ABOUT)


def test_the_key_is_read_once_in_minutes() -> None:
    now, asked = [0.0], list[float]()

    class Client:
        def get_secret_value(self, **arguments: Any) -> dict[str, str]:
            assert arguments == {"SecretId": "k"}
            asked.append(now[0])
            return {"SecretString": "key"}

    seal = AesGcm(secretsmanager=Client(), key="k", clock=lambda: now[0])  # type: ignore[arg-type] # one call of it
    original = AesGcm.sealed.__wrapped__  # type: ignore[attr-defined] # the recorder would make another object of it
    for second in (0, 100, 300, 300.5):
        now[0] = float(second)
        original(seal, TOKEN, ABOUT)
    assert asked == [0, 300.5], "not again at the last moment of its five minutes"
