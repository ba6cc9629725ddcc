"""What goes wrong in a story."""

from attrs import frozen

from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.simulation.engine.chance import Chance


@frozen(kw_only=True)
class Weather:
    """Rates are those of one call. All nothing: a fair story."""

    kills: float = 0  # share of the lives that end by a kill
    full: float = 0  # of writes and commits
    full_for_long: bool = False  # once, for some seconds
    jumps: float = 0  # of the clock, each minute
    retries: float = 0  # of attempts that do not succeed
    refusals: float = 0  # of attempts
    hangs: float = 0  # of attempts
    outages: bool = False  # a target is down for minutes
    slow: Millis = 0  # an attempt takes up to this long
    attempts: int = 64  # at a time

    @property
    def is_fair(self) -> bool:
        """Whether nothing goes wrong but targets."""
        quick = self.slow <= 300 and self.attempts > 8
        return quick and not (self.kills or self.full or self.full_for_long or self.jumps or self.outages or self.hangs)


def weather_of(seed: int, chance: Chance) -> Weather:
    """By the seed: some of all kinds; every sixth story is fair."""
    if seed % 6 == 0:
        return Weather(retries=0.2, refusals=0.05, slow=200)

    def has(label: str, share: float) -> bool:
        return chance.part(label) < share

    return Weather(
        kills=0.9 if has("has kills", 0.7) else 0,
        full=chance.one_of("full", (0.01, 0.05)) if has("has full", 0.35) else 0,
        full_for_long=has("has full for long", 0.25),
        jumps=0.15 if has("has jumps", 0.3) else 0,
        retries=0.25,
        refusals=0.05,
        hangs=0.05 if has("has hangs", 0.4) else 0,
        outages=has("has outages", 0.4),
        slow=chance.one_of("slow", (5, 300, 3 * SECOND)),
        attempts=chance.one_of("attempts", (2, 8, 64)),
    )


LENGTH: Millis = 12 * MINUTE  # in which clients do something
