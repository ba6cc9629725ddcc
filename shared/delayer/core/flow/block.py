"""What is stored about a party whose schedules wait although they are due (ADR 0110)."""

from enum import StrEnum
from typing import Final

from attrs import evolve, frozen

from delayer.core.flow.party import Party
from delayer.core.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.core.schedule.messages import DelayerMessage, ExecutorMessage

FIRST_PAUSE: Final[Millis] = 10 * SECOND  # of a circuit; each that follows without a success is twice as long
LONGEST_PAUSE: Final[Millis] = 5 * MINUTE
CROWDED_FOR: Final[Millis] = 5 * SECOND  # from when a function had no room for an attempt
SAID_AGAIN: Final[Millis] = 3 * SECOND  # before that is over, if there is no room still: so it is written rarely
CROWDED: Final = "its target, or others of its owner, take too long for all that is due"
PROBE_OVER: Final[Millis] = MINUTE  # the function that makes a probe has ended by then, whatever became of it
FORGOTTEN_AFTER: Final[Millis] = DAY  # a circuit that nobody has asked for since
CROWD_FORGOTTEN_AFTER: Final[Millis] = MINUTE
COMEBACK_FORGOTTEN_AFTER: Final[Millis] = 5 * MINUTE  # without an attempt that says how its target is


class Kind(StrEnum):
    """Why."""

    SUSPENSION = "suspension"  # an operator has said so
    CIRCUIT = "circuit"  # the target did not answer several times in a row
    LIMIT = "limit"  # an operator has said how many attempts there may be (ADR 0114)
    CROWD = "crowd"  # too many attempts at it are under way: it takes longer than others to answer


BEFORE_A_CLAIM: Final = frozenset(Kind) - {Kind.LIMIT}  # a limit keeps back nothing by itself: it has a line
AFTER_A_CLAIM: Final = frozenset({Kind.SUSPENSION, Kind.CIRCUIT})  # what was claimed finds room, or does not


@frozen(kw_only=True)
class Block:
    """One row. Every change is a compare-and-set on its revision."""

    kind: Kind
    party: Party
    revision: int  # 1 for the first write
    since: Millis
    reason: str  # to be read by people
    until: Millis = 0  # a circuit is open until then; after that one schedule at a time probes it. A crowd is over
    pauses: int = 0  # of a circuit: how often it was opened before its comeback came to its end
    probe: str = ""  # the nonce of the schedule that probes it
    probe_until: Millis = 0  # then another one may
    paused_until: Millis = 0  # of a comeback: when its last pause was over; the order goes by it
    by: str = ""  # the operator, as far as it is known
    every: int = 0  # of a limit or a comeback: microseconds from one attempt to the next; 0: as often as anybody likes
    concurrency: int = 0  # of a limit: attempts at a time; 0: it says nothing about them (ADR 0115)

    @property
    def key(self) -> str:
        """Of its row: there is one of each kind for a party."""
        return f"{self.kind}#{self.party.key}"

    @property
    def expires_at(self) -> Millis:
        """When its row may be forgotten; 0: never."""
        match self.kind:
            case Kind.SUSPENSION | Kind.LIMIT:
                return 0
            case Kind.CIRCUIT:
                after = 2 * COMEBACK_FORGOTTEN_AFTER if self.is_comeback else FORGOTTEN_AFTER
                return max(self.until, self.probe_until) + after
            case Kind.CROWD:
                return self.until + CROWD_FORGOTTEN_AFTER

    @property
    def is_comeback(self) -> bool:
        """Whether it is a circuit whose target answers again: what has waited comes back at a pace (ADR 0154)."""
        return self.kind is Kind.CIRCUIT and self.every > 0

    def is_over(self, now: Millis) -> bool:
        """Whether it keeps back nobody any more, though its row is still there. A circuit waits to be probed."""
        if self.is_comeback:
            return now >= self.until + COMEBACK_FORGOTTEN_AFTER
        return self.kind is Kind.CROWD and now >= self.until


def suspended(party: Party, now: Millis, reason: str, by: str) -> Block:
    """What an operator's command writes."""
    return Block(kind=Kind.SUSPENSION, party=party, revision=1, since=now, reason=reason, by=by)


def opened(party: Party, now: Millis, reason: str, over: Block | None = None) -> Block:
    """A circuit after several failures in a row; `over` is what is left of one before."""
    pause, revision = pause_after(0), over.revision + 1 if over else 1
    return Block(
        kind=Kind.CIRCUIT, party=party, revision=revision, since=now, reason=reason, until=now + pause, pauses=1
    )


def crowded(party: Party, now: Millis, over: Block | None) -> Block | None:
    """What a function writes that has no room for another attempt; None if it stands there already."""
    if over is None:
        return Block(kind=Kind.CROWD, party=party, revision=1, since=now, reason=CROWDED, until=now + CROWDED_FOR)
    if over.until - now > SAID_AGAIN:
        return None
    since = over.since if now < over.until else now
    return evolve(over, revision=over.revision + 1, since=since, until=now + CROWDED_FOR)


def probing(block: Block, nonce: str, now: Millis) -> Block:
    """The row before the schedule with this nonce may reach the target."""
    return evolve(block, revision=block.revision + 1, probe=nonce, probe_until=now + PROBE_OVER)


def unprobed(block: Block) -> Block:
    """The row after a schedule that was to probe has turned out to have ended: another one is to."""
    return evolve(block, revision=block.revision + 1, probe="", probe_until=0)


def opened_again(block: Block, now: Millis, reason: str) -> Block:
    """The row after a probe that failed, or after a comeback at its slowest pace."""
    return evolve(
        block,
        revision=block.revision + 1,
        until=now + pause_after(block.pauses),
        pauses=block.pauses + 1,
        reason=reason,
        probe="",
        probe_until=0,
        paused_until=0,
        every=0,
    )


def pause_after(pauses: int) -> Millis:
    """How long a circuit stays open, after it was opened so often before."""
    return min(FIRST_PAUSE << min(pauses, 10), LONGEST_PAUSE)


def kept_back_from(message: DelayerMessage | ExecutorMessage, block: Block, now: Millis) -> Millis:
    """Since when it waits for this: what an outage has made late, or was late when it was accepted, is not older.

    A limit may have been there for years: its message says when it has had to wait for it.
    """
    if block.kind is Kind.LIMIT:
        return message.age_from or now
    return max(message.schedule.address.due, block.since)
