"""The tables of the other models, for `make model`: each whole space, and what happens without each rule."""

import argparse
import sys
from collections.abc import Sequence

from tests.model.models import MODELS, Model


def show(model: Model) -> bool:
    """Print both tables. Whether nothing is wrong in any space, and each rule is missed."""
    print(f"| {model.of}: what is possible | states | steps | violations |\n|---|---:|---:|---|")
    is_sound, states, steps = True, 0, 0
    for choice, budget in model.whole.items():
        found = model.search(budget)
        is_sound, states, steps = is_sound and not found.wrong, states + found.states, steps + found.steps
        print(f"| {choice} | {found.states:,} | {found.steps:,} | {found.wrong or 'none'} |", flush=True)
        for label, _ in found.way:
            print(f"    {label}")
    print(f"| sum of all | {states:,} | {steps:,} | |")
    print("\n| rule that is removed | what happens then | steps | the search finds |\n|---|---|---:|---|")
    for guard in model.guards:
        found = guard.search(model.search)
        is_sound = is_sound and bool(found.wrong)
        print(f"| `{guard.name}` | {guard.what} | {len(found.way)} | {found.wrong or 'NOTHING'} |", flush=True)
    return is_sound


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all is as it must be. It ends at the first model of which that is not so."""
    parser = argparse.ArgumentParser(prog="python -m tests.model.tables", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"{', '.join(MODELS)}; default: all")
    chosen = parser.parse_args(argv).models or list(MODELS)
    if unknown := set(chosen) - set(MODELS):
        parser.error(f"There is no model {', '.join(sorted(unknown))}; there are {', '.join(MODELS)}.")
    return 0 if all(show(MODELS[name]) for name in chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
