"""To whom dead letters belong: the list does not say, each of them does."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from delayer_client.operator import DeadLetters

AT_MOST: Final = 24  # that are looked at for one page
AT_ONCE: Final = 6


def owners(letters: "DeadLetters", keys: Sequence[str]) -> dict[str, str]:
    """By key, of the first ones; what cannot be read has none."""

    def look(key: str) -> str:
        try:
            return owner_in(letters.show(key))
        except Exception:  # noqa: BLE001 - gone meanwhile, or refused: the list is worth more
            return ""

    with ThreadPoolExecutor(AT_ONCE) as turns:
        return dict(zip(keys, turns.map(look, keys[:AT_MOST]), strict=False))


def owner_in(letter: Mapping[str, Any]) -> str:
    """As its body says. It is a message, or a record of the stream; of neither more than this is understood here."""
    body = letter.get("body")
    if isinstance(body, str):
        try:
            body = json.loads(body, parse_int=str)
        except (ValueError, RecursionError):
            return ""
    return _found(body, 4)


def _found(body: Any, depth: int) -> str:
    if not isinstance(body, Mapping) or not depth:
        return ""
    owner = body.get("owner")
    if isinstance(owner, Mapping):  # as DynamoDB has it
        owner = owner.get("S")
    if isinstance(owner, str):
        return owner
    return next((found for one in body.values() if (found := _found(one, depth - 1))), "")
