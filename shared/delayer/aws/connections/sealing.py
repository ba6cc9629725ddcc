"""Seals tokens with AES-GCM. The key is made of a secret, which the first connection with tokens makes (ADR 0106)."""

import hashlib
import os
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from threading import Lock
from typing import Final

from attrs import define, field

from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.aws.runtime.secrets_client import SecretsManagerClient
from delayer.ports.unavailable import Unavailable

NONCE: Final = 12  # bytes, as NIST SP 800-38D wants them
KNOWN_FOR: Final = 300.0  # seconds; an operator may have put another key
READ_AGAIN: Final = 30.0  # seconds; what cannot be opened may be sealed by a newer key


@define(kw_only=True)
class AesGcm:
    """Port Seal. The library is imported by the first call: few executors need it."""

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
