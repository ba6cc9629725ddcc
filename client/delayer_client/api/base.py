"""All classes of the API have this in common."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from delayer_client.api.masking import described


class Model(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Something that the API takes or gives. A field that it does not have is None. Secrets are not in its `repr`."""

    def __repr__(self) -> str:
        there = {name: getattr(self, name) for name in self.__struct_fields__ if getattr(self, name) is not None}
        return described(type(self).__name__, there)

    def as_json(self) -> dict[str, Any]:
        """As the API writes it, in its own words."""
        plain: dict[str, Any] = msgspec.to_builtins(self, builtin_types=(datetime, msgspec.Raw))
        _write_instants(plain)
        return plain


def _write_instants(whole: dict[str, Any]) -> None:
    """As the API writes them: in UTC, with milliseconds. A payload may be nested deeper than calls may be."""
    waiting: list[Any] = [whole]
    while waiting:
        one = waiting.pop()
        for key, value in [*(one.items() if isinstance(one, dict) else enumerate(one))]:
            if isinstance(value, datetime):
                one[key] = value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            elif isinstance(value, dict | list):
                waiting.append(value)
