"""What a subscriber is told of a schedule without a time."""

import pytest
from attrs import evolve

from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, Original
from delayer.history.received import decode
from delayer.ledger.model import EventType, State
from delayer.schedule.schedule_id import IdKind
from tests.samples import NOW, a_schedule, an_id

ACCEPTED = an_id(NOW, kind=IdKind.UNDECIDED)
BEGINNING = LifecycleEvent(
    id="e",
    type=EventType.SCHEDULED,
    schedule_id=ACCEPTED,
    owner="owner",
    at=NOW,
    state=State.UNDECIDED,
    original=Original(schedule=evolve(a_schedule(NOW), id=ACCEPTED)),
    source="urn:delayer:test",
)


@pytest.mark.parametrize(
    "event", [BEGINNING, evolve(BEGINNING, type=EventType.FAILED, state=State.FAILED, revision=1, original=None)]
)
def test_its_acceptance_is_not_when_it_is_due(event: LifecycleEvent) -> None:
    received = decode(cloud_events.encode(event))
    assert (received.point_in_time, received.due) == (0, "")
