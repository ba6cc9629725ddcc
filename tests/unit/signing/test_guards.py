"""Each thing that keeps receivers safe is taken away in turn, and the search for rotations finds that it is gone."""

from itertools import product
from typing import Any

import pytest

from delayer.schedule.instants import MINUTE, Millis
from delayer.signing.rules import Rotation
from tests.unit.signing.test_rotating import EVENTS, play

SIGNING = Rotation.signing


def without_the_next(self: Rotation, now: Millis) -> tuple[int, ...]:
    return SIGNING(self, now)[:-1]


def without_those_before(self: Rotation, now: Millis) -> tuple[int, ...]:
    return (self.version, self.version + 1)


GUARDS: dict[str, dict[str, Any]] = {
    "the signature of the next secret": {"delayer.signing.rules.Rotation.signing": without_the_next},
    "the signatures of those before": {"delayer.signing.rules.Rotation.signing": without_those_before},
    "the age of an old row": {
        "delayer.signing.sign.USABLE": 25 * MINUTE,
        "tests.unit.signing.receivers.USABLE": 25 * MINUTE,
    },
    "the time between two rotations": {"delayer.signing.rules.NEXT_AFTER": MINUTE},
    "the time until a key is current": {
        "delayer.signing.rules.CURRENT_AFTER": 0,
        "tests.unit.signing.receivers.CURRENT_AFTER": 0,
    },
    "the sooner of two ends": {"delayer.signing.rules.sooner": lambda _until, limit: limit},
}


def play_all() -> None:
    for first, second, gap in product(EVENTS, EVENTS, (0, 1, 2, 9)):
        play((2, first), (gap, second))


@pytest.mark.parametrize("guard", GUARDS)
def test_without_it_a_receiver_is_wrong(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes some seconds, as all interleavings of the rotation are played."""
    for name, value in GUARDS[guard].items():
        monkeypatch.setattr(name, value)
    with pytest.raises(AssertionError):
        play_all()
