"""How what has waited for a target comes back once that answers again: oldest first, and at a pace (ADR 0154).

The row of the circuit stays, and is a limit whose rate changes: it doubles while the target answers, and falls to half
when it does not. So nobody has to know how many wait.
"""

from math import isqrt
from typing import Final

from attrs import evolve, frozen

from delayer.flow.rules.block import FORGOTTEN, LONGEST_SPREAD, Block, opened_again
from delayer.schedule.instants import MINUTE, SECOND, Millis

IN_A_ROW: Final = 5  # failures after which a circuit opens
FIRST_PACE: Final = 1_000_000  # microseconds from one attempt to the next
FASTEST_PACE: Final = 1_000  # what would be faster needs no pace: this is what the line of a limit can bear, too
SLOWEST_PACE: Final = 4_000_000  # what would be slower is no comeback: the circuit opens again
STEP: Final[Millis] = 10 * SECOND  # in which an answer doubles the pace

ANSWERS: Final = "its target answers again: what has waited comes back, the oldest first"

LOOK_AHEAD: Final[Millis] = 10 * SECOND  # how far ahead the oldest may book its turn; the youngest takes what is free
SECOND_LOOK: Final[Millis] = 2 * MINUTE  # after that the youngest asks again that has found no turn, at the latest

_SCALE: Final = 1 << 20


@frozen(kw_only=True)
class Seen:
    """One environment counts here what it has seen of a comeback since its row was last changed."""

    revision: int = 0
    since: Millis = 0  # of the circuit
    answers: int = 0
    outages: int = 0
    in_a_row: int = 0  # outages, since its last answer

    def after(self, block: Block, *, is_outage: bool) -> "Seen":
        """And of one attempt more."""
        same = (self.revision, self.since) == (block.revision, block.since)
        before = self if same else Seen(revision=block.revision, since=block.since)
        return evolve(
            before,
            answers=before.answers + (not is_outage),
            outages=before.outages + is_outage,
            in_a_row=before.in_a_row + 1 if is_outage else 0,
        )


def coming_back(circuit: Block, now: Millis) -> Block:
    """The row after a probe that was answered."""
    return evolve(
        circuit,
        revision=circuit.revision + 1,
        every=FIRST_PACE,
        until=now + STEP,
        reason=ANSWERS,
        paused_until=circuit.until,
        probe="",
        probe_until=0,
        held_by="",
    )


def after_attempt(block: Block, seen: Seen, now: Millis, reason: str, *, is_outage: bool) -> Block | None:
    """The row of a comeback after an attempt, of which `seen` knows; None if it needs no row any more.

    The same row if nothing is to be written. Some failures among many answers say nothing about the target: the pace
    changes once in a step at most, by what most attempts of that step say. Only what looks dead opens the circuit at
    once, as without a comeback.
    """
    if seen.in_a_row >= looks_dead_after(block):
        return opened_again(block, now, reason)
    if is_outage:
        return slower(block, now, reason) if now >= block.until and seen.outages > seen.answers else block
    return faster(block, now) if seen.answers >= seen.outages else block


def looks_dead_after(block: Block) -> int:
    """How many outages in a row open the circuit at once: the faster the pace, the more come by chance."""
    doubled = max((FIRST_PACE // block.every).bit_length() - 1, 0)
    return IN_A_ROW + 2 * doubled


def faster(block: Block, now: Millis) -> Block | None:
    """Twice as fast for each step that has passed without a failure, once there is an answer."""
    steps = (now - block.until) // STEP + 1
    if steps < 1:
        return block
    every = block.every >> min(steps, 30)
    return None if every < FASTEST_PACE else evolve(block, revision=block.revision + 1, every=every, until=now + STEP)


def slower(block: Block, now: Millis, reason: str) -> Block:
    """Half as fast; or open again."""
    if block.every * 2 > SLOWEST_PACE:
        return opened_again(block, now, reason)
    return evolve(block, revision=block.revision + 1, every=block.every * 2, until=now + STEP, reason=reason)


def patience(block: Block, due: Millis, now: Millis) -> Millis:
    """How long a line it puts up with: the older, the longer. So a line that is long lets only the oldest in."""
    return max(LOOK_AHEAD * (_SCALE - age_rank(block, due, now)) // _SCALE, SECOND)


def second_look(block: Block, due: Millis, now: Millis) -> Millis:
    """How long it waits that has found the line too long, before it is spread: the oldest ask again first."""
    return (SECOND_LOOK * age_rank(block, due, now)) // _SCALE


def asks_from(block: Block, due: Millis) -> Millis:
    """When a schedule asks after a pause: in the order in which they fell due, and ever more at a time.

    The pace grows, too: a few hundred that fell due one after the other find their turns at once. Before all of them
    there is time for those that ask to probe.
    """
    spread, paused_until = spread_of(block), block.paused_until or block.until
    place = isqrt(age_rank(block, due, paused_until) * _SCALE)
    return paused_until + spread // 4 + spread * 3 // 4 * place // _SCALE


def spread_of(block: Block) -> Millis:
    """As long as it was closed, so many have come together; a small outage is over soon."""
    return min((block.paused_until or block.until) - block.since, LONGEST_SPREAD)


def age_rank(block: Block, due: Millis, until: Millis) -> int:
    """From 0 for what fell due when the circuit opened, or before, to _SCALE for what falls due only now."""
    length = max(until - block.since, 1)
    return _SCALE * min(max(due - block.since, 0), length) // length


@frozen(kw_only=True)
class Health:
    """Of one target of one owner, in the memory of one execution environment."""

    failures: int = 0  # in a row
    last: Millis = 0  # of them

    def failed(self, now: Millis) -> "Health":
        """After another one."""
        before = self.failures if now - self.last < FORGOTTEN else 0
        return Health(failures=before + 1, last=now)

    @property
    def is_dead(self) -> bool:
        """Whether it is time to leave the target alone."""
        return self.failures >= IN_A_ROW
