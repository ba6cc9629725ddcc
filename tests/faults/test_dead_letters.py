"""What a function dies of is stored, marked, and can be redriven."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.actions.rules.model import Refused, Retry
from delayer.dead_letters import model as dead_letter
from delayer.dead_letters.dead_letter import DeadLetters
from delayer.dead_letters.model import Contents
from delayer.dead_letters.redrive import Impossible
from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.ledger.ports import WriteResult
from delayer.ledger.repository import StoredLedger
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.table_change import ChangeKind
from delayer.schedule.tables import SCHEDULES
from delayer.wiring.build import build
from tests.fakes.faults import Crash
from tests.faults.cases import every_fault
from tests.faults.scenarios import check_fired_once, check_sound
from tests.looking import all_rows, empty
from tests.world import START, World


def relay_is_broken(world: World) -> None:
    """The relay dies of both messages, and comes to the end of others in between."""
    healthy = world.relay

    def dies(batch: list[ReceivedMessage]) -> list[str]:
        world.trials.note_pass("relay", world.clock.now() + 1)
        raise Crash("it dies of it")

    world.relay = dies  # type: ignore[assignment] # only called
    world.post(START + MINUTE)
    world.delayer_queue.send([Outgoing(body="{}", delay_seconds=0)])
    world.run_out(START + HOUR)
    world.relay = healthy


def test_every_fault() -> None:
    """What the relay dies of is stored and marked, once. It takes two seconds, for 184 faults."""
    for case, world in every_fault("relay", relay_is_broken):
        check_sound(case, world)
        row = world.row(world.accepted[0])
        assert row is not None
        assert row.state is State.DEAD_LETTERED, case
        assert len(world.store.objects) == 2, case
        assert world.target.reached == [], case


def test_a_redrive_that_is_repeated_fires_once() -> None:
    world = World()
    relay_is_broken(world)
    redrive = world.redrive
    (key,) = [entry["key"] for entry in redrive.list()["deadLetters"] if entry["scheduleId"]]
    content = world.store.objects[key]
    redrive.redrive(key)
    world.store.objects[key] = content  # it died before it deleted the body
    redrive.redrive(key)
    world.run_out(world.clock.now() + HOUR)
    check_fired_once("redriven", world)


def test_a_discarded_schedule_is_dropped() -> None:
    world = World()
    relay_is_broken(world)
    redrive = world.redrive
    for entry in redrive.list()["deadLetters"]:
        redrive.discard(entry["key"])
    row = world.row(world.accepted[0])
    assert row is not None
    assert row.state is State.DROPPED
    assert world.store.objects == {}


def test_two_redrives_at_a_time_fire_once() -> None:
    """The second read the row before the first changed it: its compare-and-set fails."""
    world = World()
    relay_is_broken(world)
    redrive = world.redrive
    (key,) = [entry["key"] for entry in redrive.list()["deadLetters"] if entry["scheduleId"]]
    seen = world.ledger.read(world.accepted[0].id)
    assert seen is not None
    [schedule] = redrive.read_dead_letter(world.store.objects[key]).schedules
    redrive.redrive(key)
    world.run_out(world.clock.now() + HOUR)
    stale = evolve(redrive, ledger=ReadBefore(world.ledger, seen))  # type: ignore[arg-type] # it has what is called
    with pytest.raises(Impossible, match="became executed in the meantime"):
        stale.redrive_one(schedule)
    check_fired_once("two redrives", world)


@define
class ReadBefore:
    """The ledger of somebody who read a row some time ago."""

    ledger: StoredLedger
    seen: LedgerRow

    def read(self, schedule_id: str) -> LedgerRow | None:
        return self.seen

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        return self.ledger.write(changes)


def test_a_schedule_that_is_far_ahead_is_redriven_into_the_table() -> None:
    """Removed by hand, then redriven: it waits there as before, and fires at its time."""
    world = World()
    schedule = world.post(START + 2 * HOUR)
    assert schedule is not None
    world.table.delete(list(all_rows(world.table)))
    world.run_until(START + MINUTE)
    redrive = world.redrive
    (key,) = [entry["key"] for entry in redrive.list()["deadLetters"]]
    letter = dead_letter.decode(world.store.objects[key])
    assert json.loads(letter.body) in [change.record for change in world.feed.records[SCHEDULES]], "the whole record"
    body = encode(DelayerMessage(schedule=schedule, nonce=""))  # the fake's record is none that could be read
    world.store.objects[key] = dead_letter.encode(evolve(letter, body=body))
    assert redrive.redrive(key)["stillStored"] is False
    assert list(all_rows(world.table).values()) == [schedule], "also when it was accepted"
    world.run_out(START + 3 * HOUR)
    check_fired_once("redriven into the table", world)
    assert world.reached(schedule) == [schedule.point_in_time]


def test_a_stale_message_among_the_suspects_does_not_end_a_live_chain() -> None:
    """The message of the first attempt turns up there while the fifth is on its way."""
    world = World()
    world.target.answers = [Retry(detail="HTTP 503")] * 4
    world.post(START + SECOND)
    world.run_until(START + 3 * SECOND)
    first = encode(world.target.reached[0][1])
    world.run_until(START + 30 * SECOND)
    world.suspects.send([Outgoing(body=first)])
    world.run_out(START + HOUR)
    check_fired_once("stale message", world, reached_at_most=5)
    assert world.store.objects == {}


def test_a_schedule_that_is_discarded_without_a_row_has_an_end() -> None:
    """What Lambda gave up on has no ledger row; after this, nobody has to wonder where it is."""
    world = World()
    schedule = world.post(START + HOUR)
    assert schedule is not None
    empty(world.table)  # gone, and its stream record with it
    world.store.objects["aws/lambda/batch"] = b"stands for the batch"
    redrive = evolve(world.redrive, read_dead_letter=lambda _: Contents(schedules=(schedule,)))
    redrive.discard("aws/lambda/batch")
    row = world.row(schedule)
    assert row is not None
    assert row.state is State.DROPPED
    assert world.store.objects == {}


def test_a_body_that_is_not_settled_stays_stored() -> None:
    """One of its records cannot be read by this version: the object stays for the next one."""
    world = World()
    schedule = world.post(START + HOUR)
    assert schedule is not None
    empty(world.table)
    world.store.objects["batch"] = b"stands for the batch"
    redrive = evolve(world.redrive, read_dead_letter=lambda _: Contents(schedules=(schedule,), malformed=1))
    assert redrive.redrive("batch")["stillStored"] is True
    assert redrive.redrive("batch")["stillStored"] is True
    assert "batch" in world.store.objects
    world.run_out(START + 2 * HOUR)
    check_fired_once("redriven twice", world)


@define
class Interrupted:
    """A store in which somebody else is at work just before or after one call."""

    store: Any
    before: dict[str, Callable[[], object]] = field(factory=dict)
    after: dict[str, Callable[[], object]] = field(factory=dict)

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.before.pop(name, lambda: None)()
            answer = getattr(self.store, name)(*arguments)
            self.after.pop(name, lambda: None)()
            return answer

        return call


@pytest.mark.parametrize("moment", ["between body and mark", "between mark and the second look"])
def test_a_redrive_while_the_same_record_is_dead_lettered_once_more(moment: str) -> None:
    """Far ahead, removed by hand, and delivered again by the stream: whoever wins, it fires or its body is stored."""
    world = World()
    schedule = world.post(START + 2 * HOUR)
    assert schedule is not None
    world.table.delete(list(all_rows(world.table)))
    world.run_until(START + MINUTE)
    redrive = evolve(world.redrive, read_dead_letter=lambda content: Contents(schedules=(schedule,)))
    (key,) = [entry["key"] for entry in redrive.list()["deadLetters"]]
    removal = [change for change in world.feed.records[SCHEDULES] if change.kind is ChangeKind.REMOVE][-1:]
    store = Interrupted(world.store)

    def redriven_meanwhile() -> object:
        return redrive.redrive(key)

    (store.after if moment == "between body and mark" else store.before)["put"] = redriven_meanwhile
    again = evolve(build(DeadLetters, world.ports("enqueue")), dead_letter_store=store)
    with suppress(Impossible):
        evolve(world.enqueue, dead_letters=again)(removal)
    world.run_out(START + 3 * HOUR)
    row = world.row(schedule)
    assert row
    fired = row.state is State.EXECUTED and world.reached(schedule) == [schedule.point_in_time]
    stored = row.state is State.DEAD_LETTERED and bool(world.store.objects)
    assert fired or stored, row


def test_a_redrive_while_an_executor_gives_up() -> None:
    """The body is stored, the end is not written yet: the redrive leaves both alone."""
    world = World()
    world.target.answers = [Refused("HTTP 404")]
    schedule = world.post(START + SECOND)
    assert schedule is not None
    redrive = world.redrive
    store = Interrupted(world.store)

    def redriven_meanwhile() -> object:
        (key,) = world.store.objects
        return redrive.redrive(key)

    store.after["put"] = redriven_meanwhile
    letters = evolve(build(DeadLetters, world.ports("execute")), dead_letter_store=store)
    world.execute = evolve(world.execute, dead_letters=letters)
    world.run_until(START + MINUTE)
    row = world.row(schedule)
    assert row
    assert row.state is State.FAILED
    assert len(world.store.objects) == 1
