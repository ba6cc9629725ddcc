"""What an execution environment remembers of the messages that it has sent again."""

from delayer.relay.relay import Successors
from tests.samples import NOW, a_delayer_message


def test_as_many_are_remembered_as_there_is_room_for_and_the_oldest_is_forgotten() -> None:
    waiting = Successors(at_most=2)
    first, second, third = (a_delayer_message(NOW + at, hops=3) for at in range(3))
    for message in (first, second):
        waiting.sent(message)
    assert [waiting.has_successor(one) for one in (first, second, third)] == [True, True, False]
    waiting.sent(third)
    assert [waiting.has_successor(one) for one in (first, second, third)] == [False, True, True]


def test_one_that_counts_more_makes_the_others_needless() -> None:
    """In whatever order they are sent."""
    waiting = Successors()
    for hops in (5, 3):
        waiting.sent(a_delayer_message(hops=hops))
    assert [waiting.has_successor(a_delayer_message(hops=hops)) for hops in (3, 5, 6)] == [True, True, False]
