"""Dead letters: the body first, then the end in the ledger."""

import pytest

from delayer.dead_letters.dead_letter import DeadLetters, Undeliverable
from delayer.dead_letters.model import decode
from delayer.ledger.model import ENDS, EventType, LedgerRow, State
from delayer.schedule.instants import DAY
from delayer.schedule.table_change import ChangeKind, RecordChange, known
from delayer.wiring.build import build
from tests.looking import all_rows, put_row
from tests.samples import NOW, OWNER, a_claim, a_schedule, an_id
from tests.transitions import take_out
from tests.world import World

COPY = Undeliverable(body="the whole body", reason="why", schedule_id=an_id(), owner=OWNER, nonce="n1")


def a_world() -> tuple[World, DeadLetters]:
    world = World()
    return world, build(DeadLetters, world.ports("delayer-relay"))


def test_the_body_and_the_end() -> None:
    world, dead_letters = a_world()
    dead_letters.take(COPY)
    [content] = world.store.objects.values()
    letter = decode(content)
    assert (letter.body, letter.reason, letter.source, letter.at) == ("the whole body", "why", "delayer-relay", NOW)
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.detail) == (State.DEAD_LETTERED, "why")
    assert world.observer.counts["DeadLettered"] == 1
    assert world.observer.warnings == ["dead-lettered"]


def test_twice_is_once() -> None:
    world, dead_letters = a_world()
    dead_letters.take(COPY)
    dead_letters.take(COPY)
    assert len(world.store.objects) == 1
    row = world.ledger.read(an_id())
    assert row
    assert row.revision == 1


def test_its_own_claim_ends() -> None:
    world, dead_letters = a_world()
    put_row(world.ledger, a_claim(nonce="n1"))
    dead_letters.take(COPY)
    row = world.ledger.read(an_id())
    assert row
    assert (row.state, row.revision, row.nonce) == (State.DEAD_LETTERED, 2, "n1")


@pytest.mark.parametrize("state", sorted(ENDS - {State.DEAD_LETTERED}))
def test_what_ended_otherwise_stays_ended(state: State) -> None:
    world, dead_letters = a_world()
    put_row(world.ledger, a_claim(state=state))
    dead_letters.take(COPY)
    assert world.store.objects == {}
    assert world.ledger.read(an_id()) == a_claim(state=state)
    assert world.observer.counts["DeadLettered"] == 0, "no alarm for a needless copy"


def test_another_copy_that_lives_makes_this_one_needless() -> None:
    world, dead_letters = a_world()
    put_row(world.ledger, a_claim(nonce="n2"))
    dead_letters.take(COPY)
    assert world.store.objects == {}
    assert world.ledger.read(an_id()) == a_claim(nonce="n2")


@pytest.mark.parametrize("schedule_id", ["", "no id", "../" * 300, "\ud800"])
def test_a_body_of_an_unknown_schedule_is_stored_without_a_row(schedule_id: str) -> None:
    """What a body gives for an id, and is none, names no row and no place in the store."""
    world, dead_letters = a_world()
    dead_letters.take(Undeliverable(body="the whole body", reason="why", schedule_id=schedule_id))
    [key] = world.store.objects
    assert key.startswith("dead-lettered/malformed/")
    assert all_rows(world.ledger) == {}


@pytest.mark.parametrize("row", [None, a_claim(nonce="n1")], ids=["no row", "its own claim"])
def test_a_mark_that_the_lifecycle_refuses_is_left_out(row: LedgerRow | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body is stored, the alarm is raised, and nothing is repeated: a redrive goes by the row that is there."""
    world, dead_letters = a_world()
    if row:
        put_row(world.ledger, row)
    take_out(monkeypatch, EventType.DEAD_LETTERED)
    dead_letters.take(COPY)
    dead_letters.take(COPY)
    [content] = world.store.objects.values()
    assert decode(content).body == "the whole body"
    assert world.ledger.read(an_id()) == row
    assert world.observer.counts["DeadLettered"] == 2
    assert world.observer.warnings == ["dead letter without a mark", "dead-lettered"] * 2
    [(_, schedule_id, facts), *_] = [one for one in world.observer.lines if one[0] == "dead letter without a mark"]
    assert schedule_id == an_id()
    assert str(facts["reason"]).startswith("no transition dead-lettered leads from ")


def test_a_record_that_the_stream_cannot_mark_does_not_stop_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record is reported as handled: the shard goes on."""
    world = World()
    far = a_schedule(NOW + DAY)
    take_out(monkeypatch, EventType.DEAD_LETTERED)
    batch = [
        RecordChange(kind=ChangeKind.REMOVE, sequence=str(at), read=known(row), record={})
        for at, row in enumerate((far, a_schedule()))
    ]
    assert world.enqueue(batch) == []
    assert world.delayer_queue.sent == 1
    assert len(world.store.objects) == world.observer.counts["DeadLettered"] == 1
    assert all_rows(world.ledger) == {}
