"""Which faults are possible at the same time. The whole space of each choice is searched."""

from typing import Final

from attrs import evolve, fields

from tests.model.state import CARRIED, CRASH, DUPLICATE, OVERTAKEN, TWIN, UNCARRIED, Budget

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
    "given up, redriven, cancel": _with(given_up=1, redrives=1, cancels=1),
    "target fails, stopped": _with(refusals=1, stops=1),
    "target fails, a send unanswered": _with(refusals=1, unanswered=1),
    "long delay, a send unanswered": _with(hops=2, refusals=1, unanswered=1),
    "long delay, crash": _with(hops=2, refusals=1, crashes=1),
    "outcome unwritten, target fails": _with(unwritten=1, refusals=1),
    "outcome unwritten, a send unanswered": _with(unwritten=1, unanswered=1),
    "replaced": _with(replacements=1),
    "waits, crash": _with(closures=1, crashes=1),
    "waits, executor's message twice": _with(closures=1, deliveries=1),
    "waits unclaimed, crash": _with(waits=1, crashes=1),
}
WHOLE: Final = SMALL | {
    "put retried, crash, cancel": _with(puts=1, crashes=1, cancels=1),
    "stream retried, crash, cancel": _with(removals=1, crashes=1, cancels=1),
    "executor's message twice, target fails": _with(deliveries=1, refusals=1),
    "executor's message twice, both attempts fail": _with(deliveries=1, refusals=2),
    "relay's message twice, crash, cancel": _with(copies=1, crashes=1, cancels=1),
    "two sends unanswered, target fails": _with(unanswered=2, refusals=1),
    "long delay, executor's message twice": _with(hops=2, refusals=1, deliveries=1),
    "long delay, two sends unanswered": _with(hops=1, refusals=1, unanswered=2),
    "long delay, stopped, crash": _with(hops=2, refusals=1, stops=1, crashes=1),
    "long delay, given up, redriven": _with(hops=2, refusals=1, given_up=1, redrives=1),
    "long delay, outcome unwritten": _with(hops=2, refusals=1, unwritten=1),
    "outcome unwritten, target fails, crash": _with(unwritten=1, refusals=1, crashes=1),
    "outcome unwritten, target fails, a send unanswered": _with(unwritten=1, refusals=1, unanswered=1),
    "outcome unwritten, executor's message twice": _with(unwritten=1, deliveries=1),
    "outcome unwritten, relay's message twice": _with(unwritten=1, copies=1),
    "outcome unwritten, given up, redriven, cancel": _with(unwritten=1, given_up=1, redrives=1, cancels=1),
    "outcome unwritten, given up, replaced": _with(unwritten=1, given_up=1, replacements=1),
    "outcome unwritten, target fails, stopped": _with(unwritten=1, refusals=1, stops=1),
    "given up, redriven, crash": _with(given_up=1, redrives=1, crashes=1),
    "given up, redriven, stopped": _with(given_up=1, redrives=1, stops=1),
    "executor's message twice, target fails, redriven, cancel": _with(deliveries=1, refusals=1, redrives=1, cancels=1),
    "given up after its claim, replaced": _with(crashes=1, given_up=1, replacements=1),
    "replaced, crash": _with(replacements=1, crashes=1),
    "two crashes": _with(crashes=2),
    "waits, executor's message twice, crash": _with(closures=1, deliveries=1, crashes=1),
    "waits, target fails, crash": _with(closures=1, refusals=1, crashes=1),
    "waits, target fails, a send unanswered": _with(closures=1, refusals=1, unanswered=1),
    "waits, target fails, executor's message twice": _with(closures=1, refusals=1, deliveries=1),
    "waits, target fails, outcome unwritten": _with(closures=1, refusals=1, unwritten=1),
    "waits, target fails, long delay": _with(closures=1, refusals=1, hops=1),
    "waits twice, target fails, stopped": _with(closures=2, refusals=1, stops=1),
    "waits, stopped, crash": _with(closures=1, stops=1, crashes=1),
    "waits, given up, redriven": _with(closures=1, given_up=1, redrives=1),
    "waits, replaced": _with(closures=1, replacements=1),
    "waits unclaimed, cancel, a send unanswered": _with(waits=1, cancels=1, unanswered=1),
    "waits unclaimed, relay's message twice, crash": _with(waits=1, copies=1, crashes=1),
    "waits unclaimed and claimed, crash": _with(waits=1, closures=1, crashes=1),
}
REMAINING: Final = {  # why an attempt may be made once more, and cannot be prevented; where the model finds it
    CRASH: SMALL["crash, cancel"],
    DUPLICATE: SMALL["both queues deliver twice"],
    OVERTAKEN: SMALL["relay's message twice, crash"],
    TWIN: SMALL["target fails, a send unanswered"],
    CARRIED: SMALL["outcome unwritten, a send unanswered"],
    UNCARRIED: SMALL["outcome unwritten, a send unanswered"],
}
