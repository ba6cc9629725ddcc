"""The blocks as one environment knows them, while they can be read, and while they cannot."""

from attrs import define

from delayer.engines.ports import Unavailable
from delayer.flow.ports import Rows
from delayer.flow.use_cases.view import FRESH_FOR, PAUSE, BlocksInView
from tests.world import World


@define
class ReadOnce:
    """Port Blocks, of which only the first read is answered."""

    asked: int = 0

    def rows(self, *, latest: bool) -> Rows:
        self.asked += 1
        if self.asked > 1:
            raise Unavailable("down")
        return Rows()


def test_after_a_read_that_failed_there_is_a_pause() -> None:
    """Each message of each batch would ask again, in an outage."""
    world, blocks = World(), ReadOnce()
    view = BlocksInView(clock=world.clock, blocks=blocks, observer=world.observer)  # type: ignore[arg-type] # only read
    view()
    world.clock.move(FRESH_FOR)
    for _ in range(10):
        assert view() == ()
    assert blocks.asked == 2
    world.clock.move(PAUSE)
    view()
    assert blocks.asked == 3
