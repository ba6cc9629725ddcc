"""Decides which subscribers are told of an event, by its attributes: as the filter policies of SNS do."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

FilterPolicy: TypeAlias = Mapping[str, Sequence[Any]]  # what the attributes of an event must be


def lets_through(policy: FilterPolicy, attributes: Mapping[str, str]) -> bool:
    """Whether SNS delivers an event with these attributes."""
    return all(any(_fits(one, attributes.get(name)) for one in wanted) for name, wanted in policy.items())


def _fits(wanted: Any, value: str | None) -> bool:
    match wanted:
        case {"exists": bool(is_there)}:
            return (value is not None) == is_there
        case {"anything-but": [*others]}:
            return value is not None and value not in others
    return bool(value == wanted)
