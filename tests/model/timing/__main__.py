"""The tables of a decision, for `make model`: each whole space, and what happens without each rule."""

import sys

from tests.model.timing.guards import GUARDS
from tests.model.timing.search import WHOLE, search


def main() -> int:
    """Whether nothing is wrong in any space, and each rule is missed."""
    print("| a time that is decided: what is possible | states | steps | violations |\n|---|---:|---:|---|")
    is_sound = True
    for choice, budget in WHOLE.items():
        found = search(budget)
        is_sound = is_sound and not found.wrong
        print(f"| {choice} | {found.states:,} | {found.steps:,} | {found.wrong or 'none'} |", flush=True)
        for label, _ in found.way:
            print(f"    {label}")
    print("\n| rule that is removed | what happens then | steps | the search finds |\n|---|---|---:|---|")
    for guard in GUARDS:
        found = guard.search()
        is_sound = is_sound and bool(found.wrong)
        print(f"| `{guard.name}` | {guard.what} | {len(found.way)} | {found.wrong or 'NOTHING'} |", flush=True)
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
