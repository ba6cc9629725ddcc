"""Each minute: the net, the series that wait, and what a new tz database changes (ADR 0100)."""

from collections.abc import Callable
from typing import Final, Protocol

from attrs import frozen

from delayer.core.schedule.instants import HOUR, Millis
from delayer.core.series.upkeep.rounds import Directory, Round, waking_round, went_on, zone_round
from delayer.ports.clock import Clock, Parallel
from delayer.ports.observer import Observer
from delayer.ports.series_upkeep import ListsSeries, SeriesKey, TracksRounds
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.series.upkeep.alone import is_done

BUDGET: Final[Millis] = 45_000  # begins no further page after this long
HELD_FOR: Final[Millis] = HOUR  # so long a round waits for what fails, then it goes on without


class RenewsSeries(Protocol):
    """The use case Renew."""

    def wake(self, key: SeriesKey) -> None:
        """As there."""
        ...

    def recompute(self, key: SeriesKey) -> None:
        """As there."""
        ...


@frozen(kw_only=True)
class SeriesTick:
    """One tick."""

    clock: Clock
    net: Callable[[Millis], None]
    directories: ListsSeries
    progress: TracksRounds
    renew: RenewsSeries
    tz_version: Callable[[], str]
    parallel: Parallel
    observer: Observer

    def __call__(self) -> None:
        """Raises Unavailable if AWS failed; the next tick goes on where this one ended.

        Whatever fails of the net and of the two rounds, the others come first.
        """
        began = self.clock.now()
        try:
            self.net(began)
        finally:
            try:
                self._go_on(Directory.WAITING, lambda stored: waking_round(stored, began), self.renew.wake, began)
            finally:
                self._go_on(
                    Directory.ZONED,
                    lambda stored: zone_round(stored, self.tz_version(), began),
                    self.renew.recompute,
                    began,
                )

    def _go_on(
        self,
        directory: Directory,
        wanted: Callable[[Round | None], Round],
        renew: Callable[[SeriesKey], None],
        began: Millis,
    ) -> None:
        """Some pages of a round, and notes after each how far it came."""
        stored = self.progress.round(directory)
        current = wanted(stored)
        if stored != current:
            self.observer.note("a round through series begins", directory=directory, label=current.label)
            self.progress.note(directory, current)
        while not current.is_over and self.clock.now() <= began + BUDGET:
            page = self.directories.listed(directory, current.part, current.after)
            done = self.parallel.map(
                lambda key: is_done(lambda: renew(key), self.observer, series=key.series), page.keys
            )
            if not all(done) and self.clock.now() < current.began + HELD_FOR:
                raise Unavailable(f"{done.count(False)} series could not be renewed; the next tick tries again")
            current = went_on(current, directory, page.more)
            self.progress.note(directory, current)
