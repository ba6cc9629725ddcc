"""A series in the world of fakes: its events step it, as the function does in AWS."""

import json
from collections.abc import Mapping

from attrs import define, field

from delayer.history.model import occurrence_of
from delayer.recurrence.rule import parse_rule
from delayer.schedule.instants import MINUTE, SECOND, Millis
from delayer.schedule.schedule_id import IdKind, kind_of
from delayer.series.ports import SeriesTransaction
from delayer.series.rules.rules import text_of
from delayer.series.rules.series import Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.change import ChangeSeries
from delayer.series.use_cases.halt import Halt
from delayer.series.use_cases.resume import Resume
from delayer.series.use_cases.run import RunSeries
from delayer.series.use_cases.step import StepSeries, occurrence
from delayer.wiring.build import build
from tests.samples import OWNER, a_definition
from tests.world import START, World

ID = "0a1b2c"
MINUTELY: Mapping[str, object] = {"every": "PT1M", "anchor": "2026-11-21T07:00:00Z", "from": "2026-11-21T07:00:00Z"}
Fired = tuple[int, Millis, str]  # number, time by the rule, payload


@define(slots=False)
class Stage:
    """One series, with its first occurrence, and all that is done to it."""

    overlap: Overlap = Overlap.ALLOW
    repeat: Mapping[str, object] = MINUTELY
    world: World = field(factory=World)
    events: list[Happened] = field(factory=list)  # that have come so far

    def __attrs_post_init__(self) -> None:
        self.step = build(StepSeries, self.world.ports("step"))
        self.halt = build(Halt, self.world.ports("halt"))
        self.resume = build(Resume, self.world.ports("resume"))
        self.change = build(ChangeSeries, self.world.ports("change"))
        self.run = build(RunSeries, self.world.ports("run"))
        definition = SeriesDefinition(
            owner=OWNER,
            repeat=text_of(parse_rule(self.repeat, START)),
            overlap=self.overlap,
            definition=a_definition(payload='"old"'),
            created_at=START,
        )
        first = occurrence(self.resume.ids, definition, ID, 1, START + MINUTE, START + MINUTE)
        self.first = first.id
        cursor = Cursor(
            series=ID, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=first.id, at=first.point_in_time
        )
        created = SeriesTransaction(cursor=cursor, over=None, put=(first,), definition=definition)
        assert self.world.series.create(created)

    @property
    def cursor(self) -> Cursor:
        found = self.world.series.cursor(OWNER, ID)
        assert found
        return found

    @property
    def definition(self) -> SeriesDefinition:
        found = self.world.series.definition(OWNER, ID)
        assert found
        return found

    def run_until(self, instant: Millis, every: Millis = SECOND) -> None:
        """Everything happens, and each event steps the series within `every`."""
        while self.world.clock.now() < instant:
            self.world.run_until(min(self.world.clock.now() + every, instant))
            self.deliver()

    def deliver(self) -> None:
        """The events that were written since the last time."""
        for record in self.world.lifecycle_records():
            event = record.event
            if event and kind_of(event.schedule_id) is IdKind.OCCURRENCE:
                happened = Happened(schedule_id=event.schedule_id, kind=event.type)
                self.events.append(happened)
                self.step(happened)

    @property
    def fired(self) -> list[Fired]:
        """Which occurrences reached the target, in this order."""
        found = []
        for _, message in self.world.target.reached:
            which = occurrence_of(message.schedule.definition)
            assert which
            found.append((which.number, which.time, json.loads(message.schedule.definition.payload)))
        return found

    @property
    def fired_ids(self) -> set[str]:
        return {message.schedule.id for _, message in self.world.target.reached}
