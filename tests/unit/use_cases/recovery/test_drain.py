"""Dead letters end in the dead-letter store."""

from delayer.core.ledger.lifecycle import State
from delayer.core.recovery.dead_letter import decode
from delayer.core.schedule.messages import encode
from delayer.ports.queue import ReceivedMessage
from tests.samples import a_claim, a_delayer_message, an_executor_message, an_id
from tests.world import World


def test_either_kind_of_message_is_known_by_its_id() -> None:
    for body in (encode(a_delayer_message()), encode(an_executor_message())):
        world = World()
        assert world.drain([ReceivedMessage(message_id="m", body=body, source="dead")]) == []
        [content] = world.store.objects.values()
        letter = decode(content)
        assert (letter.body, letter.schedule_id) == (body, an_id())
        assert "dead" in letter.reason
        row = world.ledger.read(an_id())
        assert row
        assert row.state is State.DEAD_LETTERED


def test_what_cannot_be_read_is_stored_whole_and_its_neighbours_go_on() -> None:
    world = World()
    bodies = ["{not json", "", encode(an_executor_message(id="no id")), encode(a_delayer_message())]
    batch = [ReceivedMessage(message_id=str(at), body=body, source="dead") for at, body in enumerate(bodies)]
    assert world.drain(batch) == []
    assert sorted(decode(one).body for one in world.store.objects.values()) == sorted(bodies)
    assert list(world.ledger.rows) == [an_id()]


def test_a_message_whose_schedule_ended_is_discarded() -> None:
    """It only failed to be deleted from its queue."""
    world = World()
    world.ledger.store(a_claim(state=State.EXECUTED))
    assert world.drain([ReceivedMessage(message_id="m", body=encode(an_executor_message()), source="dead")]) == []
    assert world.store.objects == {}
