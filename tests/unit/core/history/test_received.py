"""What a subscriber is told of a schedule without a time."""

import pytest
from attrs import evolve

from delayer.core.history import cloud_events
from delayer.core.history.events import Event, Original
from delayer.core.history.received import decode
from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.schedule.schedule_id import Kind
from tests.samples import NOW, a_schedule, an_id

ACCEPTED = an_id(NOW, kind=Kind.UNDECIDED)
BEGINNING = Event(
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
def test_its_acceptance_is_not_when_it_is_due(event: Event) -> None:
    received = decode(cloud_events.encode(event))
    assert (received.point_in_time, received.due) == (0, "")
