"""An owner policy as an operator writes it: a JSON object. All that is wrong with it is said at once."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from delayer.core.addresses import resources
from delayer.core.owners import hosts
from delayer.core.owners.owner_policy import NUMBERS, RESERVED, RULES, OwnerPolicy, Value, to_text

MOST_ENTRIES: Final = 200  # of one list
MOST_BYTES: Final = 16_384  # of a document: it is read often
SHOWN: Final = 80


class WrongPolicy(ValueError):
    """The command is not carried out. The text says what is wrong, where, and what is allowed."""


def admit(document: Any, actions: Collection[str]) -> OwnerPolicy:
    """The policy in a document. `actions` are the types that are registered. Raises WrongPolicy."""
    if not isinstance(document, Mapping):
        raise WrongPolicy(
            'a policy is a JSON object, such as {"actions": ["http-request"], "hosts": ["api.example.com"]}'
        )
    wrong = [problem for name, value in document.items() for problem in _problems(str(name), value, actions)]
    if wrong:
        raise WrongPolicy("; ".join(wrong[:5]) + (f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""))
    rules: dict[str, Value] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    policy = OwnerPolicy(rules=rules)
    if len(to_text(policy).encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise WrongPolicy(f"the policy is over {MOST_BYTES:,} bytes: use patterns with `*`")
    return policy


def _problems(name: str, value: Any, actions: Collection[str]) -> Iterator[str]:
    if name == RESERVED:
        yield f"{RESERVED}: reserved for limits on targets, which this version does not know"
    elif name not in RULES:
        yield f"{name[:SHOWN]!r}: no such rule; there are {', '.join(RULES)}"
    elif value is None:
        return
    elif name in NUMBERS:
        yield from _of_number(name, value)
    else:
        yield from _of_list(name, value, actions)


def _of_number(name: str, value: Any) -> Iterator[str]:
    least, most = NUMBERS[name]
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        yield f"{name}: a whole number from {least:,} to {most:,}, or null for no rule"


def _of_list(name: str, value: Any, actions: Collection[str]) -> Iterator[str]:
    if not isinstance(value, list) or len(value) > MOST_ENTRIES or not all(isinstance(one, str) for one in value):
        yield f"{name}: a list of up to {MOST_ENTRIES} texts, or null for no rule"
        return
    for number, one in enumerate(value):
        if problem := _of_entry(name, one, actions):
            yield f"{name}[{number}] {one[:SHOWN]!r}: {problem}"


def _of_entry(name: str, text: str, actions: Collection[str]) -> str:
    """Empty if nothing is wrong."""
    if name == "actions":
        return "" if text in actions else f"no such type; registered are {', '.join(sorted(actions))}"
    try:
        _ = hosts.pattern_of(text) if name == "hosts" else resources.pattern_of(name, text)
    except ValueError as error:
        return str(error)
    return ""
