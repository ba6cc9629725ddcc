"""What all classes of the API have in common."""

from typing import Any

import msgspec


class Model(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True, repr_omit_defaults=True):
    """Something that the API takes or gives. A field that it does not have is None."""

    def as_json(self) -> dict[str, Any]:
        """As the API writes it, in its own words."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain
