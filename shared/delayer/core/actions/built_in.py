"""The action types of Delayer's own executors, as `make contract` writes them from their classes."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from delayer.core.actions.action_type import ActionType, decode


@cache
def built_in() -> Mapping[str, ActionType]:
    """By type, the internal ones among them."""
    texts = msgspec.json.decode(
        files("delayer.core.actions").joinpath("built_in.json").read_bytes(), type=dict[str, str]
    )
    return {kind: decode(text) for kind, text in texts.items()}
