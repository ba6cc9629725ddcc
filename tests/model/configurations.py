"""Which faults are possible at the same time. The whole space of each choice is searched."""

from typing import Final

from attrs import evolve, fields

from tests.model.state import Budget

NONE: Final = Budget(**dict.fromkeys((field.name for field in fields(Budget)), 0))


def _with(**faults: int) -> Budget:
    return evolve(NONE, **faults)


SMALL: Final = {
    "crash, cancel": _with(crashes=1, cancels=1),
    "crash, target fails": _with(crashes=1, refusals=1),
    "put retried, cancel": _with(puts=1, cancels=1),
    "stream retried, target fails": _with(removals=1, refusals=1),
    "both queues deliver twice": _with(copies=1, deliveries=1),
    "relay's message twice, crash": _with(copies=1, crashes=1),
    "dead-lettered, queue or ledger redriven": _with(dead_lettered=1, queue_redrives=1, redrives=1, cancels=1),
    "replaced": _with(replacements=1),
}
WHOLE: Final = SMALL | {
    "put retried, crash, cancel": _with(puts=1, crashes=1, cancels=1),
    "stream retried, crash, cancel": _with(removals=1, crashes=1, cancels=1),
    "executor's message twice, target fails": _with(deliveries=1, refusals=1),
    "executor's message twice, both attempts fail": _with(deliveries=1, refusals=2),
    "relay's message twice, crash, cancel": _with(copies=1, crashes=1, cancels=1),
    "dead-lettered, queue or ledger redriven, crash": _with(dead_lettered=1, queue_redrives=1, redrives=1, crashes=1),
    "target fails, redriven, cancel": _with(refusals=1, redrives=1, cancels=1, deliveries=1),
    "dead-lettered after its claim, replaced": _with(crashes=1, dead_lettered=1, replacements=1),
    "replaced, crash": _with(replacements=1, crashes=1),
    "two crashes": _with(crashes=2),
}
