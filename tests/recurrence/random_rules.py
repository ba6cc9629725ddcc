"""Rules of cron at random, from one seed, each in a zone and beginning near a change of its clocks."""

import random
from collections.abc import Iterator

from attrs import frozen

from delayer.recurrence.rule import RecurrenceRule, parse_rule
from delayer.recurrence.terms import BadRule
from delayer.recurrence.times import check_not_empty
from delayer.recurrence.zones import span_at
from delayer.schedule.instants import DAY, HOUR, MINUTE, Millis, parse_instant

ZONES = [
    "Europe/Lisbon",
    "Europe/Dublin",  # its winter time is the one with an offset of its own in the database
    "America/New_York",
    "America/St_Johns",  # half an hour beside the full one
    "America/Santiago",  # changed at midnight
    "America/Nuuk",  # put back from midnight to eleven
    "Africa/Cairo",  # put forward at midnight
    "Asia/Beirut",
    "Australia/Lord_Howe",  # by half an hour
    "Pacific/Chatham",  # three quarters of an hour beside the full one
    "Antarctica/Troll",  # by two hours
    "Asia/Tokyo",  # never
]
FIRST = parse_instant("2024-01-01T00:00:00Z")
LAST = parse_instant("2031-01-01T00:00:00Z")


def changes(zone: str) -> list[Millis]:
    """When the clocks of a zone are changed in the years 2024 to 2030."""
    found, at = [], FIRST
    while at < LAST:
        span = span_at(zone, at)
        if span.offset != span.before and span.begin >= FIRST:
            found.append(span.begin)
        at = span.end
    return found


@frozen(kw_only=True)
class Sample:
    """A rule, and the instant after which its times are asked for."""

    cron: str
    zone: str
    start: Millis

    def rule(self, **more: object) -> RecurrenceRule:
        return parse_rule({"cron": self.cron, "timeZone": self.zone} | more, self.start)


def samples(seed: int, number: int) -> Iterator[Sample]:
    """Those that have times; each begins in the two days before a change of its zone, some in the hours after it."""
    chance = random.Random(seed)
    made = 0
    while made < number:
        zone = ZONES[made % len(ZONES)]
        near = chance.choice(changes(zone) or [chance.randrange(FIRST, LAST, MINUTE)])
        sample = Sample(cron=cron(chance), zone=zone, start=near + chance.randrange(-2 * DAY, 3 * HOUR, MINUTE))
        try:
            check_not_empty(sample.rule())
        except BadRule:
            continue
        made += 1
        yield sample


def cron(chance: random.Random) -> str:
    """Five fields; the hours are often those of the night, in which clocks are changed."""
    hour = chance.choice([_field(chance, 0, 23), _field(chance, 0, 4), "*"])
    day = chance.choice(["*", "*", "*", _field(chance, 1, 31), "L", f"{chance.randint(1, 31)}W"])
    month = chance.choice(["*", "*", "*", _field(chance, 1, 12)])
    number, nth = chance.randint(0, 6), chance.randint(1, 5)
    weekday = chance.choice(["*", "*", _field(chance, 0, 6), "MON-FRI", f"{number}#{nth}", f"{number}L"])
    return f"{_field(chance, 0, 59)} {hour} {day} {month} {weekday}"


def _field(chance: random.Random, least: int, most: int) -> str:
    first, last = sorted(chance.sample(range(least, most + 1), 2))
    some = sorted(chance.sample(range(least, most + 1), chance.randint(2, 3)))
    step = chance.randint(2, max(2, (most - least) // 2))
    listed = ",".join(map(str, some))
    choices = ["*", "*", str(first), str(first), listed, f"*/{step}", f"{first}-{last}", f"{first}-{last}/2"]
    return chance.choice(choices)
