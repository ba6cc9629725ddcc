"""What a function without a queue of suspects leaves for long is counted, so that an alarm rings (ADR 0157)."""

from collections.abc import Sequence

import pytest

from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import ReceivedMessage
from delayer.recovery.dispatch import CountWaiting
from delayer.schedule.instants import MINUTE
from tests.samples import NOW

AGES = ((31, 2, 1), (30, 2, 0), (31, 1, 0), (500, 900, 1))  # minutes in the queue, receives, whether it counts


def received(minutes: int, receives: int) -> ReceivedMessage:
    return ReceivedMessage(message_id="m", body="", source="queue", sent_at=NOW - minutes * MINUTE, receives=receives)


@pytest.mark.parametrize(("minutes", "receives", "counts"), AGES)
@pytest.mark.parametrize("ends", ["left", "raises", "done"])
def test_what_has_come_back_and_is_old_counts_if_it_is_left(
    minutes: int, receives: int, counts: int, ends: str
) -> None:
    observer = MemoryObserver()

    def handle(batch: Sequence[ReceivedMessage]) -> list[str]:
        if ends == "raises":
            raise KeyError("a defect")
        return ["m"] if ends == "left" else []

    count = CountWaiting(clock=ManualClock(NOW), observer=observer, handle=handle)
    if ends == "raises":
        with pytest.raises(KeyError):
            count([received(minutes, receives)])
    else:
        assert count([received(minutes, receives)]) == (["m"] if ends == "left" else [])
    assert observer.counts.get("NotHandled", 0) == (0 if ends == "done" else counts)
