"""Without a journal the stack lists groups alone."""

from typing import Final

from delayer_client.errors import Invalid

SENTENCE: Final = "The stack has no journal: only groups can be listed, on the page of schedules."


def is_off(error: Invalid) -> bool:
    """Whether the API has refused a list because it lacks a group."""
    return any(one.field == "group" for one in error.errors)
