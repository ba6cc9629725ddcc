"""Hides parts of a value when it is printed or logged."""

import re
from collections.abc import Mapping
from typing import Any, Final

MASK: Final = "***"
# Fields that openapi.yaml calls writeOnly, and the secrets that receivers verify with.
FIELDS: Final = frozenset({"value", "password", "token", "client_secret", "clientSecret", "current", "previous"})
# As the API masks them: a test compares the lists with those of the layer.
PARTS: Final = (
    *("auth", "cookie", "key", "token", "secret", "passw", "passphrase", "passcode", "pwd", "credential", "signature"),
    *("session", "sessid", "bearer", "jwt", "hmac", "csrf", "xsrf", "private", "mnemonic", "assertion"),
)
WORDS: Final = frozenset(
    {
        "sig",
        "pass",
        "pin",
        "puk",
        "otp",
        "totp",
        "hotp",
        "otc",
        "mfa",
        "tfa",
        "2fa",
        "pw",
        "pswd",
        "psw",
        "cred",
        "creds",
    }
    | {
        "psk",
        "pat",
        "pem",
        "sid",
        "sess",
        "sso",
        "saml",
        "salt",
        "seed",
        "nonce",
        "mac",
        "cvv",
        "cvc",
        "dsn",
        "verifier",
    }
)
_PART: Final = re.compile("|".join(PARTS))
_WORD: Final = re.compile(r"[0-9]?[a-z]+")


def shown(name: str, value: Any) -> Any:
    """The value of a field, without its secrets."""
    if name in FIELDS and value is not None:
        return MASK
    if name == "headers" and isinstance(value, Mapping):
        return {header: MASK if is_sensitive(header) else text for header, text in value.items()}
    return value


def is_sensitive(header: str) -> bool:
    """Whether the value of this header may be a secret."""
    plain = header.casefold()
    words = set(_WORD.findall(plain))
    words |= {one.lstrip("0123456789") for one in words}  # 2fa, and the pass of db1pass
    return bool(_PART.search(plain)) or not WORDS.isdisjoint(words)


def described(kind: str, fields: Mapping[str, Any]) -> str:
    """As `repr` shows it."""
    return f"{kind}({', '.join(f'{name}={shown(name, value)!r}' for name, value in fields.items())})"
