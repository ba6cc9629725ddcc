"""Reads the value of `--when`, which says who decides the time."""

from typing import Any, Final

from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.values import members_of

ALLOWED: Final = 'the name of a policy, and its fields as JSON: spread:{"seconds": 3600}, or next-business-hour'


def policy(text: str) -> dict[str, Any]:
    """`spread:{"seconds": 3600}`, `next-business-hour`, or the whole object. Raises NotRead."""
    if text.startswith(("{", "@")) or text == "-":
        found = members_of(text, "--when")
        if not isinstance(found.get("policy"), str):
            raise NotRead(f"--when has no field policy. It is {ALLOWED}.")
        return found
    name, _, fields = text.partition(":")
    if not name:
        raise NotRead(f"--when {text!r}: it is {ALLOWED}.")
    return {"policy": name, **(members_of(fields, "--when") if fields else {})}
