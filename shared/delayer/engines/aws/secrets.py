"""The values of connections in Secrets Manager (ADR 0105), and what seals their tokens (ADR 0106)."""

import hashlib
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Final, Protocol

from attrs import define, field, frozen

from delayer.engines.aws.clients import AWS_ERRORS, error_code
from delayer.engines.ports import Unavailable

EXISTS: Final = "ResourceExistsException"
# What is marked for deletion is refused as a request; so is what was created a moment ago and is not readable yet.
NOT_THERE: Final = frozenset({"ResourceNotFoundException", "InvalidRequestException"})
NONCE: Final = 12  # bytes, as NIST SP 800-38D wants them
KNOWN_FOR: Final = 300.0  # seconds; an operator may have put another key
READ_AGAIN: Final = 30.0  # seconds; what cannot be opened may be sealed by a newer key


class SecretsManagerClient(Protocol):
    """The calls that are made. There are no stubs here."""

    def create_secret(self, *, Name: str, SecretString: str, Tags: list[dict[str, str]]) -> Any:  # noqa: N803
        """Fails if there is one of this name."""
        ...

    def get_secret_value(self, *, SecretId: str) -> Mapping[str, Any]:  # noqa: N803
        """The current version."""
        ...

    def delete_secret(self, *, SecretId: str, ForceDeleteWithoutRecovery: bool) -> Any:  # noqa: N803
        """Fails if there is none."""
        ...


@frozen(kw_only=True)
class SecretsManager:
    """Keeps each value as a secret of its own."""

    secretsmanager: SecretsManagerClient
    prefix: str  # of the stack

    def create(self, owner: str, secret: str, text: str) -> None:
        tags = [{"Key": "delayer:connection", "Value": self.prefix.partition("/")[0]}]
        try:
            self.secretsmanager.create_secret(Name=self._name(owner, secret), SecretString=text, Tags=tags)
        except AWS_ERRORS as error:
            if error_code(error) != EXISTS:  # the name is fresh: it is ours, by an earlier try
                raise Unavailable(f"create a secret: {error_code(error)}") from None

    def read(self, owner: str, secret: str) -> str | None:
        try:
            answer = self.secretsmanager.get_secret_value(SecretId=self._name(owner, secret))
        except AWS_ERRORS as error:
            if error_code(error) in NOT_THERE:
                return None
            raise Unavailable(f"read a secret: {error_code(error)}") from None
        return str(answer.get("SecretString", ""))

    def delete(self, owner: str, secret: str) -> None:
        """Without the days in which it could be restored: its owner wants it gone, and the name is never used again."""
        try:
            self.secretsmanager.delete_secret(SecretId=self._name(owner, secret), ForceDeleteWithoutRecovery=True)
        except AWS_ERRORS as error:
            if error_code(error) not in NOT_THERE:
                raise Unavailable(f"delete a secret: {error_code(error)}") from None

    def _name(self, owner: str, secret: str) -> str:
        return secret_name(self.prefix, owner, secret)


def secret_name(prefix: str, owner: str, secret: str) -> str:
    """In Secrets Manager."""
    return f"{prefix}/{owner_hash(owner)}/{secret}"


def owner_hash(owner: str) -> str:
    """No name of a secret holds the name of a person."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@define(kw_only=True)
class AesGcm:
    """Seals with a key in Secrets Manager. The library is imported by the first call: few executors need it."""

    secretsmanager: SecretsManagerClient
    key: str  # the name or the ARN of the secret
    clock: Callable[[], float] = time.monotonic
    _known: bytes = field(default=b"", init=False, repr=False)
    _read_at: float = field(default=0.0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def sealed(self, text: str, about: str) -> str:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(NONCE)
        closed = AESGCM(self._secret(KNOWN_FOR)).encrypt(nonce, text.encode(), about.encode())
        return b64encode(nonce + closed).decode()

    def opened(self, sealed: str, about: str) -> str | None:
        for at_most in (KNOWN_FOR, READ_AGAIN):
            if (text := _opened(self._secret(at_most), sealed, about)) is not None:
                return text
        return None

    def _secret(self, at_most: float) -> bytes:
        """Not older than so many seconds."""
        with self._lock:
            if not self._known or self.clock() - self._read_at > at_most:
                self._known, self._read_at = self._read(), self.clock()
            return self._known

    def _read(self) -> bytes:
        try:
            answer = self.secretsmanager.get_secret_value(SecretId=self.key)
        except AWS_ERRORS as error:
            raise Unavailable(f"read the key of tokens: {error_code(error)}") from None
        return hashlib.sha256(str(answer["SecretString"]).encode()).digest()


def _opened(key: bytes, sealed: str, about: str) -> str | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        stored = b64decode(sealed, validate=True)
        return AESGCM(key).decrypt(stored[:NONCE], stored[NONCE:], about.encode()).decode()
    except (InvalidTag, ValueError):
        return None
