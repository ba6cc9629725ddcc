"""What all classes of the API have in common."""

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
        plain: dict[str, Any] = _written(msgspec.to_builtins(self, builtin_types=(datetime,)))
        return plain


def _written(value: Any) -> Any:
    """With instants as the API writes them: in UTC, with milliseconds."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case dict():
            return {key: _written(one) for key, one in value.items()}
        case list() | tuple():
            return [_written(one) for one in value]
    return value
