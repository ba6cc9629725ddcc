"""Dead letters end in the set-aside store."""

from delayer.core.lifecycle import State
from delayer.core.set_aside import decode
from delayer.core.wire import encode
from delayer.ports import Delivery
from tests.samples import a_claim, a_delayer_message, an_executor_message, an_id
from tests.world import World


def test_either_kind_of_message_is_known_by_its_id() -> None:
    for body in (encode(a_delayer_message()), encode(an_executor_message())):
        world = World()
        assert world.drain([Delivery("m", body, source="dead")]) == []
        [content] = world.store.objects.values()
        kept = decode(content)
        assert (kept.body, kept.schedule_id) == (body, an_id())
        assert "dead" in kept.reason
        row = world.ledger.read(an_id())
        assert row
        assert row.state is State.SET_ASIDE


def test_what_cannot_be_read_is_kept_whole_and_its_neighbours_go_on() -> None:
    world = World()
    bodies = ["{not json", "", encode(an_executor_message(id="no id")), encode(a_delayer_message())]
    batch = [Delivery(str(at), body, source="dead") for at, body in enumerate(bodies)]
    assert world.drain(batch) == []
    assert sorted(decode(one).body for one in world.store.objects.values()) == sorted(bodies)
    assert list(world.ledger.rows) == [an_id()]


def test_a_message_whose_schedule_ended_is_thrown_away() -> None:
    """It only failed to be deleted from its queue."""
    world = World()
    world.ledger.put_if_absent(a_claim(state=State.EXECUTED))
    assert world.drain([Delivery("m", encode(an_executor_message()), source="dead")]) == []
    assert world.store.objects == {}
