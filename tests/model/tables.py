"""The tables of a model, for `make model`: each whole space, and what happens without each rule."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Budget = TypeVar("Budget")


class Found(Protocol):
    """What a search found."""

    @property
    def states(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def wrong(self) -> str: ...
    @property
    def way(self) -> Sequence[tuple[str, Any]]: ...


class Guard(Protocol):
    """A rule, and a search without it."""

    @property
    def name(self) -> str: ...
    @property
    def what(self) -> str: ...
    def search(self) -> Found: ...


def show(of: str, spaces: Mapping[str, Budget], search: Callable[[Budget], Found], guards: Iterable[Guard]) -> int:
    """Print both tables. 0 if nothing is wrong in any space, and each rule is missed."""
    print(f"| {of}: what is possible | states | steps | violations |\n|---|---:|---:|---|")
    is_sound, states, steps = True, 0, 0
    for choice, budget in spaces.items():
        found = search(budget)
        is_sound, states, steps = is_sound and not found.wrong, states + found.states, steps + found.steps
        print(f"| {choice} | {found.states:,} | {found.steps:,} | {found.wrong or 'none'} |", flush=True)
        for label, _ in found.way:
            print(f"    {label}")
    print(f"| sum of all | {states:,} | {steps:,} | |")
    print("\n| rule that is removed | what happens then | steps | the search finds |\n|---|---|---:|---|")
    for guard in guards:
        found = guard.search()
        is_sound = is_sound and bool(found.wrong)
        print(f"| `{guard.name}` | {guard.what} | {len(found.way)} | {found.wrong or 'NOTHING'} |", flush=True)
    return 0 if is_sound else 1
