"""All there is of one call that the client repeats, and of the schedules that have its name, at one moment."""

from attrs import frozen

FIRST = "a"
LIVE, OVER, REPLACED = "live", "over", "replaced"  # of a series: it runs, or it is paused
BY_NAME = ""  # in the place of an id: whichever has the name when the request arrives


@frozen(kw_only=True, cache_hash=True)
class Budget:
    """What may still happen, and how often."""

    route: str = "cancel"  # or `by name`, or `pause`
    tries: int = 3  # of the client
    late: int = 1  # tries of which the client hears nothing, and which arrive later than it thinks
    lost: int = 2  # answers
    namesakes: int = 1  # that somebody makes once the name is free
    replaced: int = 1  # schedules of the name in whose place somebody puts another
    turned_back: int = 0  # a pause that somebody ends


@frozen(kw_only=True, cache_hash=True)
class World:
    """One moment."""

    budget: Budget
    states: tuple[tuple[str, str], ...] = ((FIRST, LIVE),)
    name: str = FIRST  # the schedule that has the name
    at: str = "begun"  # where the client is
    known: str = BY_NAME  # the id that it has looked up
    wire: tuple[str, ...] = ()  # what its requests are about that have not arrived
    answer: tuple[str, str] = ("", "")  # that is on its way: about which schedule, and what it is
    done: tuple[str, ...] = ()  # what the call has ended, in this order
    broken: str = ""

    def state(self, schedule: str) -> str:
        """What the ledger says."""
        return dict(self.states)[schedule]
