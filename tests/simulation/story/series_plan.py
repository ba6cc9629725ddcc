"""What a story has of series: none, one or two, and what their owners do at the worst moments."""

from attrs import evolve, frozen

from delayer.schedule.instants import MINUTE, SECOND, Millis
from tests.simulation.engine.chance import Chance
from tests.simulation.story.plan import Act, Do, Wishes
from tests.world import LEAD, START

SHARE = 0.3  # of the stories have series
FIRST = 100  # the number of the first series among the subjects


@frozen(kw_only=True)
class Repeat:
    """When a series is due, and what is done about times that are missed."""

    anchor: Millis
    minutes: int
    count: int
    on_missed: str = "skip"
    overlap: str = "allow"

    def time(self, number: int) -> Millis:
        """The times begin with 0."""
        return self.anchor + number * self.minutes * MINUTE


@frozen(kw_only=True)
class SeriesAct(Act):
    """What somebody does about a series."""

    repeat: Repeat
    version: int = 1  # of the payload
    is_impatient: bool = False  # what is not answered is not asked again


def series_acts_of(chance: Chance) -> list[Act]:
    """In no order."""
    if chance.part("series") >= SHARE:
        return []
    acts: list[Act] = []
    for subject in range(FIRST, FIRST + chance.one_of("series together", (1, 1, 1, 2))):
        label = f"series {subject}"
        at = START + chance.whole(f"{label} posted", 0, 5 * MINUTE)
        repeat = _repeat(chance, label, at)
        wishes = Wishes(
            key=f"series-{subject}" if chance.part(f"{label} key") < 0.7 else "",
            group=chance.one_of(f"{label} group", ("", "", "red", "blue")),
            drop_after=chance.one_of(f"{label} drop after", (0, 0, 0, 0, 120)),
        )
        attempts = chance.whole(f"{label} attempts", 1, 3)
        acts.append(SeriesAct(at, Do.SERIES, subject, attempts=attempts, wishes=wishes, repeat=repeat))
        if wishes.group and chance.part(f"{label} group cancelled") < 0.3:
            cancelled_at = max(_moment(chance, f"{label} group", repeat), at + 20)
            acts.append(Act(cancelled_at, Do.CANCEL_GROUP, subject, wishes=wishes))
        for number in range(chance.one_of(f"{label} acts", (0, 1, 1, 2, 2, 3, 4))):
            acts += _acts(chance, f"{label} act {number}", subject, at, repeat)
    return acts


def _repeat(chance: Chance, label: str, at: Millis) -> Repeat:
    soon = chance.one_of(f"{label} begins", (20 * SECOND, 3 * MINUTE, 20 * MINUTE))
    return Repeat(
        anchor=at + SECOND + chance.whole(f"{label} anchor", 0, soon),
        minutes=chance.one_of(f"{label} minutes", (1, 1, 1, 2, 5, 15)),
        count=chance.whole(f"{label} count", 2, 5),
        on_missed=chance.one_of(f"{label} missed", ("skip", "once", "all")),
        overlap=chance.one_of(f"{label} overlap", ("allow", "allow", "allow", "skip", "queue-one")),
    )


def _acts(chance: Chance, label: str, subject: int, posted: Millis, repeat: Repeat) -> list[Act]:
    at = max(_moment(chance, label, repeat), posted + 20)
    do = chance.one_of(
        f"{label} do",
        (
            Do.PAUSE,
            Do.PAUSE,
            Do.END,
            Do.CHANGE_PAYLOAD,
            Do.CHANGE_RULE,
            Do.RUN_NOW,
            Do.BACKFILL,
            Do.CANCEL_ONE,
            Do.MOVE_ONE,
        ),
    )
    other = Repeat(
        anchor=at + chance.whole(f"{label} new anchor", 0, 2 * MINUTE),
        minutes=chance.one_of(f"{label} new minutes", (1, 2, 5)),
        count=chance.whole(f"{label} new count", 1, 3),
        on_missed=repeat.on_missed,
        overlap=repeat.overlap,
    )
    if chance.part(f"{label} only another end") < 0.4:
        other = evolve(repeat, count=repeat.count + other.count)
    due = at + chance.whole(f"{label} due", -2 * SECOND, 5 * MINUTE)
    key = Wishes(key=f"{subject} {label}")
    is_impatient = chance.part(f"{label} impatient") < 0.4
    act = SeriesAct(at, do, subject, due, wishes=key, repeat=other, version=2, is_impatient=is_impatient)
    acts: list[Act] = [act]
    if do in (Do.RUN_NOW, Do.BACKFILL, Do.CHANGE_PAYLOAD, Do.CHANGE_RULE) and chance.part(f"{label} once more") < 0.4:
        acts.append(evolve(act, at=at + chance.whole(f"{label} when once more", 1, MINUTE)))
    if do is Do.PAUSE and chance.part(f"{label} resumed") < 0.75:
        again = at + chance.whole(f"{label} pause", 1, chance.one_of(f"{label} how long", (60, SECOND, 3 * MINUTE)))
        acts.append(SeriesAct(again, Do.RESUME, subject, repeat=other))
    return acts


def _moment(chance: Chance, label: str, repeat: Repeat) -> Millis:
    """At a claim, while the series is stepped, at the point in time; or anywhere."""
    due = repeat.time(chance.whole(f"{label} which", 0, repeat.count - 1))
    kind = chance.part(f"{label} moment")
    if kind < 0.6:
        return due - LEAD + chance.whole(f"{label} jitter", -40, chance.one_of(f"{label} step", (40, 150)))
    if kind < 0.7:
        return due + chance.whole(f"{label} jitter", -40, 40)
    return due + chance.whole(f"{label} away", -repeat.minutes * MINUTE, repeat.minutes * MINUTE)
