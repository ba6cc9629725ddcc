"""The policies that decide times: which there are, as `make contract` writes them from their classes (ADR 0096)."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from delayer.core.schedule.definition import Definition
from delayer.core.schedule.malformed import Malformed


class _Named(msgspec.Struct):
    policy: str


_NAMED: Final = msgspec.json.Decoder(_Named)


@cache
def policies() -> Mapping[str, str]:
    """The JSON Schema of each policy, as JSON text, by its name. Those of this release: they are deployed with it."""
    return msgspec.json.decode(files("delayer.core.timing").joinpath("policies.json").read_bytes(), type=dict[str, str])


def policy_of(definition: Definition) -> str:
    """The name of the policy that decides its time. Raises Malformed if there is none."""
    return named_in(definition.when)


def named_in(when: str) -> str:
    """The same, of the JSON text alone."""
    try:
        return _NAMED.decode(when).policy
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"no policy decides its time: {error}") from error
