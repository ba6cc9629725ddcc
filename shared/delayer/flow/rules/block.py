"""The facts that are stored about a party whose schedules wait although they are due, and the answer to its owner (ADR
0110).
"""

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import Final

import msgspec
from attrs import evolve, frozen

from delayer.actions.rules.addresses import HOST, the_same, usual_resource
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.schedule.schedule import Definition, Schedule

LONGEST_SPREAD: Final[Millis] = 2 * MINUTE  # of what waits because of a circuit, in the order in which it fell due
EVERY: Final = ""  # every owner, or every target
LONGEST_SHOWN: Final = 200  # characters of a target in rows and answers

_AUTHORITY: Final = re.compile(r"(https?)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:]*)(?::([0-9]+))?", re.IGNORECASE)
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
FIRST_PAUSE: Final[Millis] = 10 * SECOND  # of a circuit; each that follows without a success is twice as long
LONGEST_PAUSE: Final[Millis] = 5 * MINUTE
CROWDED_FOR: Final[Millis] = 5 * SECOND  # from when a function had no room for an attempt
SAID_AGAIN: Final[Millis] = 3 * SECOND  # before that is over, if there is no room still: so it is written rarely
CROWDED: Final = "its target, or others of its owner, take too long for all that is due"
PROBE_OVER: Final[Millis] = MINUTE  # the function that makes a probe has ended by then, whatever became of it
FORGOTTEN_AFTER: Final[Millis] = DAY  # a circuit that nobody has asked for since
CROWD_FORGOTTEN_AFTER: Final[Millis] = MINUTE
COMEBACK_FORGOTTEN_AFTER: Final[Millis] = 5 * MINUTE  # without an attempt that says how its target is
ASKED_SOON: Final[Millis] = 2 * LONGEST_SPREAD  # after the end of a pause, all that waited for it has asked again
FORGOTTEN: Final[Millis] = MINUTE  # what failed longer ago than this counts no more


@frozen(kw_only=True)
class Party:
    """An owner and a target. Either may be EVERY."""

    owner: str
    target: str  # a type of action, and the host or the resource: `http-request api.example.com`

    @property
    def key(self) -> str:
        """32 characters that are the same for the same party, and for no other."""
        text = f"{len(self.owner)}#{self.owner}#{self.target}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def covers(self, other: "Party") -> bool:
        """Whether what is said about this party is said about the other, too."""
        return self.owner in (EVERY, other.owner) and self.target in (EVERY, other.target)


def party_of(schedule: Schedule, fair_by: str) -> Party:
    """Of a schedule. `fair_by` is as in ActionType: what names the target of its action."""
    return party_in(schedule.owner, schedule.definition, fair_by)


def party_in(owner: str, definition: Definition, fair_by: str) -> Party:
    """The same, of what will be a schedule of this owner."""
    return Party(owner=owner, target=target_named(definition.action_type, target_in(definition.action, fair_by)))


def target_named(kind: str, resource: str) -> str:
    """As it is written in rows: the type of the action, and what names the target in it, if anything does."""
    return f"{kind} {resource}".rstrip()


def target_in(action: str, fair_by: str) -> str:
    """Finds the name of the target in an action in JSON; of a URL the host, and its port if that is not the usual one.

    A queue, a function and a state machine are one target, however they are spelled.

    Empty if nothing names it: then all schedules of this type have one target.
    """
    if not fair_by:
        return ""
    try:
        value = msgspec.json.decode(action, type=dict[str, object]).get(fair_by.removeprefix(HOST), "")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ""
    if not isinstance(value, str):
        return ""
    return (host_in(value) if fair_by.startswith(HOST) else usual_resource(value))[:LONGEST_SHOWN]


@lru_cache(maxsize=1_000)  # most schedules have a target that others had
def host_in(url: str) -> str:
    """`api.example.com` or `api.example.com:8443`, in lower case and ASCII; empty if it is no URL.

    An address is the same target however it is spelled.
    """
    found = _AUTHORITY.match(url)
    if not found:
        return ""
    scheme, host, port = found[1].lower(), found[2].lower().rstrip("."), _port(found[3])
    try:
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return ""
    host = the_same(host)
    return host if port in ("", _DEFAULT_PORTS[scheme]) else f"{host}:{port}"


def _port(digits: str | None) -> str:
    """`0443` is `443`."""
    return (digits.lstrip("0") or "0") if digits else ""


class BlockKind(StrEnum):
    """Why."""

    SUSPENSION = "suspension"  # an operator has said so
    CIRCUIT = "circuit"  # the target did not answer several times in a row
    LIMIT = "limit"  # an operator has said how many attempts there may be (ADR 0114)
    CROWD = "crowd"  # too many attempts at it are under way: it takes longer than others to answer


BEFORE_A_CLAIM: Final = frozenset(BlockKind) - {BlockKind.LIMIT}  # a limit alone makes nothing wait: it has a line
AFTER_A_CLAIM: Final = frozenset({BlockKind.SUSPENSION, BlockKind.CIRCUIT})  # what was claimed finds room, or does not


@frozen(kw_only=True)
class Block:
    """One row. Every change is a compare-and-set on its revision."""

    kind: BlockKind
    party: Party
    revision: int  # 1 for the first write
    since: Millis
    reason: str  # to be read by people
    until: Millis = 0  # a circuit is open until then; after that one schedule at a time probes it. A crowd is over
    pauses: int = 0  # of a circuit: how often it was opened before its comeback came to its end
    probe: str = ""  # the nonce of the schedule that probes it
    probe_until: Millis = 0  # then another one may
    held_by: str = ""  # the delivery for which an executor holds the probe; empty: it is on its way to one
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
            case BlockKind.SUSPENSION | BlockKind.LIMIT:
                return 0
            case BlockKind.CIRCUIT:
                after = 2 * COMEBACK_FORGOTTEN_AFTER if self.is_comeback else FORGOTTEN_AFTER
                return max(self.until, self.probe_until) + after
            case BlockKind.CROWD:
                return self.until + CROWD_FORGOTTEN_AFTER

    @property
    def is_comeback(self) -> bool:
        """Whether it is a circuit whose target answers again: what has waited comes back at a pace (ADR 0154)."""
        return self.kind is BlockKind.CIRCUIT and self.every > 0

    def is_over(self, now: Millis) -> bool:
        """Whether nobody waits for it any more, though its row is still there. A circuit waits to be probed."""
        if self.is_comeback:
            return now >= self.until + COMEBACK_FORGOTTEN_AFTER
        return self.kind is BlockKind.CROWD and now >= self.until


def opened(party: Party, now: Millis, reason: str, over: Block | None = None) -> Block:
    """A circuit after several failures in a row; `over` is what is left of one before."""
    pause, revision = pause_after(0), over.revision + 1 if over else 1
    return Block(
        kind=BlockKind.CIRCUIT, party=party, revision=revision, since=now, reason=reason, until=now + pause, pauses=1
    )


def crowded(party: Party, now: Millis, over: Block | None) -> Block | None:
    """The row that a function writes which has no room for another attempt; None if it stands there already."""
    if over is None:
        return Block(kind=BlockKind.CROWD, party=party, revision=1, since=now, reason=CROWDED, until=now + CROWDED_FOR)
    if over.until - now > SAID_AGAIN:
        return None
    since = over.since if now < over.until else now
    return evolve(over, revision=over.revision + 1, since=since, until=now + CROWDED_FOR)


def probing(block: Block, nonce: str, now: Millis, held_by: str = "") -> Block:
    """The row before the schedule with this nonce may reach the target; `held_by` is empty in a relay."""
    return evolve(block, revision=block.revision + 1, probe=nonce, probe_until=now + PROBE_OVER, held_by=held_by)


def unprobed(block: Block) -> Block:
    """The row after a schedule that was to probe has turned out to have ended: another one is to."""
    return evolve(block, revision=block.revision + 1, probe="", probe_until=0, held_by="")


def holder_of(receipt: str) -> str:
    """16 characters that are the same for the same delivery of a message. A receipt of SQS has up to 1,024."""
    return hashlib.sha256(receipt.encode("utf-8", "surrogatepass")).hexdigest()[:16] if receipt else ""


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
        held_by="",
        paused_until=0,
        every=0,
    )


def pause_after(pauses: int) -> Millis:
    """How long a circuit stays open, after it was opened so often before."""
    return min(FIRST_PAUSE << min(pauses, 10), LONGEST_PAUSE)


def waits_since(message: DelayerMessage | ExecutorMessage, block: Block, now: Millis) -> Millis:
    """Since when it waits for this: what an outage has made late, or was late when it was accepted, is not older.

    A limit may have been there for years: a message says since when it has had to wait because of it.
    """
    if block.kind is BlockKind.LIMIT:
        return aging_from(message, now)
    return max(message.schedule.address.due, block.since)


def aging_from(message: DelayerMessage | ExecutorMessage, now: Millis) -> Millis:
    """From when on its age counts, if a limit looks at it now: from its first look, but not before it is due."""
    return message.age_from or max(now, message.schedule.point_in_time)


@frozen(kw_only=True)
class Waiting:
    """Why, as far as its owner may know it."""

    kind: BlockKind
    reason: str
    since: Millis  # from then on, whoever is due waits
    until: Millis = 0  # of a circuit: when it is probed; of a crowd: when it is over; 0: not known, or any moment now


def waiting_for(blocks: Iterable[Block], party: Party, next_attempt_at: Millis, now: Millis) -> Waiting | None:
    """Says why a schedule waits that is due now, or that waits for the attempt at `next_attempt_at`; None: nothing
    makes it wait.

    An attempt that is planned for later than the end of a pause waits for its own time, and not for the circuit. A
    crowd that is over counts for no schedule, though its row is still there.
    """
    about = sorted((block for block in blocks if block.party.covers(party)), key=_in_order)
    for block in about:
        if block.is_over(now):
            continue
        if block.kind is not BlockKind.SUSPENSION and next_attempt_at > max(block.until, now) + ASKED_SOON:
            continue
        until = block.until if block.until > now and not block.is_comeback else 0
        return Waiting(kind=block.kind, reason=block.reason, since=block.since, until=until)
    return None


def _in_order(block: Block) -> tuple[bool, bool, Millis]:
    """The block that lasts longest comes first, and a limit last: only what has come too fast waits because of it."""
    return block.kind is not BlockKind.SUSPENSION, block.kind is BlockKind.LIMIT, block.since
