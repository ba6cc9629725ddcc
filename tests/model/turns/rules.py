"""What a turn of the engine on one machine goes by, so that a rule can be taken out (ADR 0185, 0186)."""

from attrs import frozen


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    answers_last: bool = True  # calls are answered when the commit has succeeded
    takes_what_is_there: bool = True  # what is taken up is on the disk, and not only in the turn
    at_once: bool = True  # claim, hand-over and the end of the record are one transaction
    remembers_last: bool = True  # memory changes when the commit has succeeded
    outcome_stays: bool = True  # an outcome that was not committed is written in the next turn
    waits: bool = True  # no attempt begins while the last commit has failed
    is_keyed: bool = True  # a call that is repeated finds what the first one made
    begins_anew: bool = True  # who has a message is known to memory alone: the next life takes it up
    deletes_last: bool = True  # a message is deleted with the outcome of its attempt


REAL = Rules()
