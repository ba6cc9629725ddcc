"""What is not shown of a value when it is printed or logged."""

import re
from collections.abc import Mapping
from typing import Any, Final

MASK: Final = "***"
# Fields that openapi.yaml calls writeOnly, and the secrets that receivers verify with.
FIELDS: Final = frozenset({"value", "password", "token", "client_secret", "clientSecret", "current", "previous"})
HEADERS: Final = re.compile(r"auth|cookie|key|token|secret|password|signature|credential", re.IGNORECASE)


def shown(name: str, value: Any) -> Any:
    """The value of a field, without its secrets."""
    if name in FIELDS and value is not None:
        return MASK
    if name == "headers" and isinstance(value, Mapping):
        return {header: MASK if HEADERS.search(header) else text for header, text in value.items()}
    return value


def described(kind: str, fields: Mapping[str, Any]) -> str:
    """As `repr` shows it."""
    return f"{kind}({', '.join(f'{name}={shown(name, value)!r}' for name, value in fields.items())})"
