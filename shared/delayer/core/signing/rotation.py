"""The versions of an owner's secret: which of them sign, and for how long (ADR 0104).

Who signs knows an owner's row of up to USABLE ago. So it signs with the version that comes next, too: a receiver that
has fetched the new secret a moment after the rotation finds a signature by it in each request. Two rotations are
NEXT_AFTER apart, and a version before signs for SHORTEST_OVERLAP at least: both are longer than USABLE, so that what
anybody signs with an old row is what the new one says of that moment.
"""

from typing import Final

from attrs import evolve, frozen

from delayer.core.schedule.instants import DAY, MINUTE, Millis, format_instant
from delayer.core.signing.keys import NotRotated, sooner, still_signs

FRESH: Final[Millis] = MINUTE  # who signs reads a row again after this long
USABLE: Final[Millis] = 5 * MINUTE  # if it cannot be read, it goes on with what it has for this long
NEXT_AFTER: Final[Millis] = 10 * MINUTE
OVERLAP: Final[Millis] = DAY
SHORTEST_OVERLAP: Final[Millis] = 10 * MINUTE
LONGEST_OVERLAP: Final[Millis] = 30 * DAY
MOST_BEFORE: Final = 3  # versions that still sign beside the current one: each makes a signature longer


@frozen(kw_only=True)
class Superseded:
    """A version that was current before."""

    version: int
    signs_until: Millis


@frozen(kw_only=True)
class Rotation:
    """What is known of an owner; without a row, that of one who has never rotated."""

    version: int = 1  # the current one
    rotated_at: Millis = 0  # 0: never
    before: tuple[Superseded, ...] = ()  # oldest first

    def signing(self, now: Millis) -> tuple[int, ...]:
        """The versions that sign: the current one, those before it, and the one that comes next."""
        before = [one.version for one in reversed(self.before) if still_signs(one.signs_until, now)]
        return (self.version, *before, self.version + 1)

    @property
    def last(self) -> Superseded | None:
        """The version that was current before this one."""
        return self.before[-1] if self.before else None


def rotated(known: Rotation, now: Millis, overlap: Millis = OVERLAP) -> Rotation:
    """With the next version as the current one; those before sign for the overlap at most. Raises NotRotated.

    Each keeps the end that it has if that is sooner. So nothing that was promised is put off, and an owner whose secret
    was stolen ends all older ones soon with a short overlap.
    """
    if known.rotated_at and now < (again_at := known.rotated_at + NEXT_AFTER):
        at = format_instant(known.rotated_at)
        raise NotRotated(f"it was rotated at {at}, and GET shows the secrets", again_at)
    until = now + overlap
    before = [one for one in known.before if still_signs(one.signs_until, now)]
    kept = [evolve(one, signs_until=sooner(one.signs_until, until)) for one in before]
    # Those that are over by the next rotation do not count: a short overlap ends all of them, however many there are.
    lasting = [one for one in before if sooner(one.signs_until, until) > now + NEXT_AFTER]
    if len(lasting) >= MOST_BEFORE:
        again_at = min(one.signs_until for one in lasting) - NEXT_AFTER
        count = f"{len(lasting)} secrets from before still sign"
        raise NotRotated(f"{count}; try again at {format_instant(again_at)}, or with a shorter overlap", again_at)
    ended = Superseded(version=known.version, signs_until=until)
    return Rotation(version=known.version + 1, rotated_at=now, before=(*kept, ended))
