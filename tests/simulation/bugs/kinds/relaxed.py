"""Bugs of the lane without precision."""

from itertools import count
from typing import Any

from attrs import evolve

from delayer.enqueue.rules import Ignore
from delayer.relay import rules as relaying
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_message_of = relaying.message_of
_numbers = count()


def _another_nonce_each_time(schedule: Any, change: Any) -> Any:
    return evolve(_message_of(schedule, change), nonce=f"delivery {next(_numbers)}")


def _never_fires(schedule: Any, row: Any) -> Any:
    return Ignore()


BUGS = (
    Bug(
        name="relaxed-nonce-of-its-own",
        what="each delivery of a removal from the relaxed table has a nonce of its own: after a crash nobody goes on",
        breaks=Invariant.NOTHING_LOST,
        swaps=((relaying, "message_of", _another_nonce_each_time),),
    ),
    Bug(
        name="relaxed-removal-forgotten",
        what="a record that a stranger has removed from the relaxed table is forgotten",
        breaks=Invariant.NOTHING_LOST,
        swaps=((relaying, "decide_other_removal", _never_fires),),
    ),
)
