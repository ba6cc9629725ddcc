"""`make model`: searches every state of one schedule, or of one and its replacement, for each choice of faults.

Then it removes each guard, and checks that a violation is found.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from os import cpu_count

from tests.model.configurations import REMAINING, SMALL, WHOLE
from tests.model.guards import GUARDS
from tests.model.search import Searched, search
from tests.model.state import INSTANTS, Budget


def story(found: Searched) -> str:
    """The steps, with the time from the point in time on."""
    steps = (
        f"{number:3}. {INSTANTS[world.now] / 1000:>+11,.2f} s  {label}"
        for number, (label, world) in enumerate(found.way, 1)
    )
    return "\n".join(steps)


def remaining(name: str) -> Searched:
    """The shortest way to an attempt that is made once more, and cannot be prevented."""
    return search(REMAINING[name], wrong=lambda world: name if name in world.repeated else "", at_last=lambda world: "")


def timed(budget: Budget) -> tuple[Searched, float]:
    """One whole space, and the seconds it took."""
    start = time.monotonic()
    return search(budget), time.monotonic() - start


def visit(configurations: dict[str, Budget]) -> bool:
    """Each whole space; whether nothing is wrong in any."""
    print("| faults | states | steps | seconds | violations |\n|---|---:|---:|---:|---|")
    states = steps = 0
    began = time.monotonic()
    with ProcessPoolExecutor(cpu_count()) as pool:
        for name, (found, seconds) in zip(configurations, pool.map(timed, configurations.values()), strict=True):
            states, steps = states + found.states, steps + found.steps
            wrong = found.wrong or "none"
            print(f"| {name} | {found.states:,} | {found.steps:,} | {seconds:.1f} | {wrong} |", flush=True)
            if found.wrong:
                print(f"\n{story(found)}")
                return False
    print(f"| sum of all | {states:,} | {steps:,} | {time.monotonic() - began:.0f} | none |")
    return True


def take_guards_out() -> bool:
    """The table of guards; whether each is missed."""
    print("\n| guard that is removed | what happens then | steps | the search finds |\n|---|---|---:|---|")
    missed = True
    for guard in GUARDS:
        found = guard.search(search)
        missed = missed and bool(found.wrong)
        print(f"| `{guard.name}` | {guard.what} | {len(found.way)} | {found.wrong or 'NOTHING'} |", flush=True)
    return missed


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make model", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="search only the choices of faults that `make test` searches"
    )
    parser.add_argument(
        "--guard", choices=[guard.name for guard in GUARDS], help="print what happens without this guard"
    )
    parser.add_argument("--remaining", choices=REMAINING, help="print one interleaving that cannot be prevented")
    given = parser.parse_args()
    if given.guard or given.remaining:
        chosen = [guard for guard in GUARDS if guard.name == given.guard]
        found = chosen[0].search(search) if chosen else remaining(given.remaining)
        print(f"{story(found)}\n\n{found.wrong or 'nothing is found'}")
        return 0
    sound = visit(SMALL if given.small else WHOLE) and take_guards_out()
    print("\nThese remain possible:")
    for name in REMAINING:
        print(f"\n{name}:\n{story(remaining(name))}")
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
