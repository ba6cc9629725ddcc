"""The use cases of which more is decided than `build` can know: what a part of theirs is for, or which one of two.

All others are made by `build(Accept, ports)` where they are used. A use case is imported by its own factory, so that a
function imports no more.
"""

from typing import TYPE_CHECKING

from delayer.wiring.build import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from delayer.actions.ports import Target
    from delayer.actions.rules.model import ActionType
    from delayer.connections.credentials import Credentials
    from delayer.connections.ports import AsksForTokens
    from delayer.connections.put_and_delete import PutConnection
    from delayer.dead_letters.commands import Bulk
    from delayer.dead_letters.redrive import Redrive
    from delayer.execute.execute import Execute
    from delayer.execute.refill import Refill
    from delayer.flow.room import Line, Room
    from delayer.flow.use_cases.gate import Gate
    from delayer.history.deliver import Deliver
    from delayer.history.received import Event
    from delayer.history.write_journal import WriteJournal
    from delayer.owners.commands import OwnerPolicyCommands
    from delayer.recovery.guard import Guard
    from delayer.relay.relay import Relay
    from delayer.schedule.instants import Millis
    from delayer.schedule.messages import ExecutorMessage
    from delayer.schedule.schedule import Definition
    from delayer.series.use_cases.occurrences import Occurrences
    from delayer.signing.sign import Sign
    from delayer.wiring.bundle import Bundle


# ------------------------------------------------------------ firing


def gate(ports: "Bundle", actions: "Mapping[str, ActionType] | None" = None, *, claimed: bool = False) -> "Gate":
    """Asks what makes schedules wait that are due. `actions` are those that may come, if not all; `claimed`: they were
    claimed.
    """
    from delayer.flow.rules.block import AFTER_A_CLAIM, BEFORE_A_CLAIM
    from delayer.flow.use_cases.gate import Gate

    known = ports.actions if actions is None else actions
    return build(Gate, ports, actions=known, heeds=AFTER_A_CLAIM if claimed else BEFORE_A_CLAIM)


def line(ports: "Bundle") -> "Line":
    """Of a relay: what waits unclaimed."""
    from delayer.flow.room import Line

    return build(Line, ports, gate=gate(ports))


def room(ports: "Bundle", actions: "Mapping[str, ActionType] | None" = None) -> "Room":
    """Of an executor: one for each environment. `actions` are those that may come, if not all."""
    from delayer.flow.room import Room
    from delayer.flow.use_cases.breaker import Breaker

    asked = gate(ports, actions, claimed=True)
    return build(Room, ports, gate=asked, breaker=build(Breaker, ports, gate=asked))


def relay(ports: "Bundle") -> "Relay":
    """The delayer queue."""
    from delayer.relay.relay import Relay

    return build(Relay, ports, line=line(ports))


def execute(
    ports: "Bundle",
    target: "Target",
    check: "Callable[[ExecutorMessage], None]" = lambda _: None,
    has_time: "Callable[[], bool]" = lambda: True,
    actions: "Mapping[str, ActionType] | None" = None,
    seconds: float = 0,
) -> "Execute":
    """The queue of an action. `actions` are those that may come, if not all; `seconds` may an attempt take."""
    from delayer.execute.execute import Execute
    from delayer.owners.known import Permit

    known = ports.actions if actions is None else actions
    return build(
        Execute,
        ports,
        target=target,
        room=room(ports, known),
        check=check,
        has_time=has_time,
        seconds=seconds,
        permit=build(Permit, ports, action_of=known.get),
    )


def refill(ports: "Bundle", guard: "Guard", has_time: "Callable[[], bool]") -> "Refill":
    """Beside a batch of an action's queue, while a target keeps it waiting."""
    from delayer.execute.refill import Refill

    return build(Refill, ports, guard=guard, has_time=lambda: not guard.is_trying and has_time())


# ------------------------------------------------------------ for `delayer.extension`, which knows no use case


def sign(ports: "Bundle") -> "Sign":
    """For an executor whose requests are signed."""
    from delayer.signing.sign import Sign

    return build(Sign, ports)


def deliver(ports: "Bundle", read: "Callable[[Event], object]") -> "Deliver":
    """The lifecycle events, for one subscriber."""
    from delayer.history.deliver import Deliver

    return build(Deliver, ports, read=read)


# ------------------------------------------------------------ recovery


def redrive(ports: "Bundle") -> "Redrive":
    """The operator's commands for one."""
    from delayer.dead_letters.redrive import Redrive

    return build(Redrive, ports, occurrences=occurrences(ports))


def bulk(ports: "Bundle") -> "Bulk":
    """The operator's commands, for one and for many."""
    from delayer.dead_letters.commands import Bulk

    return build(Bulk, ports, redrive=redrive(ports))


# ------------------------------------------------------------ owners, connections and history


def owner_policy_commands(ports: "Bundle") -> "OwnerPolicyCommands":
    """Commands on owner policies. What would be POSTed is read with what the API validates with, when it is needed."""
    from delayer.owners.commands import OwnerPolicyCommands

    policies, lanes = ports.settings.policies, ports.settings.lanes

    def read_request(body: object, now: "Millis") -> "tuple[Definition, Millis]":
        from delayer.series.use_cases.as_posted import AsPosted

        return build(AsPosted, ports, policies=policies, lanes=lanes)(body, now)

    counts_live = ports.settings.max_live > 0
    return build(OwnerPolicyCommands, ports, counts_live=counts_live, read_request=read_request)


def put_connection(ports: "Bundle") -> "PutConnection":
    """PUT."""
    from delayer.connections.put_and_delete import PutConnection

    randomness = ports.randomness
    return build(PutConnection, ports, new_id=ports.new_series_id, new_key=lambda: randomness(32).hex())


def credentials(ports: "Bundle", ask: "AsksForTokens") -> "Credentials":
    """For functions that make requests with the credentials of owners. `ask` is how they reach token endpoints."""
    from delayer.connections.credentials import AccessTokens, Credentials

    return build(Credentials, ports, tokens=build(AccessTokens, ports, ask=ask))


def write_journal(ports: "Bundle") -> "WriteJournal":
    """The lifecycle events."""
    from delayer.history.write_journal import WriteJournal

    return build(WriteJournal, ports, live_count=ports.live_count if ports.settings.max_live else None)


# ------------------------------------------------------------ series


def occurrences(ports: "Bundle") -> "Occurrences":
    """For calls that change an occurrence by its own id. They do not know for how long a history is kept."""
    from delayer.series.use_cases.occurrences import Occurrences
    from delayer.series.use_cases.stored import Retention

    return build(Occurrences, ports, retention=Retention(clock=ports.clock))
