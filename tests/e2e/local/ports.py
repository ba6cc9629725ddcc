"""Ports that can be used again after a stop: no program gets one of these by chance meanwhile, as of the ephemeral."""

from collections.abc import Iterable

from local.errors import EmulatorError
from local.project import PROJECT
from local.stack.ports import refuse_used

FIRST, LAST = 20500, 20590


def three_free(among: Iterable[int] = range(FIRST, LAST, 3)) -> int:
    """The first of three neighbours (API, AWS endpoint, receiver). None on which somebody has run a stack.

    The folder of their stack is made here, and nobody else gets them until it is removed.
    """
    for first in among:
        try:
            (PROJECT / ".local" / str(first)).mkdir(parents=True)
        except FileExistsError:
            continue
        try:
            for port in range(first, first + 3):
                refuse_used(port)
        except EmulatorError:
            continue
        return first
    raise EmulatorError(f"No three neighbours are free between {FIRST} and {LAST}.")
