"""A lookup says what a schedule, or the current occurrence of a series, waits for; on time it costs no read."""

import json
from typing import Any

import pytest

from delayer.accept import routes as schedules
from delayer.accept.rules.status import Status
from delayer.accept.use_cases.lookup import Lookup
from delayer.flow.repository import StoredBlocks
from delayer.flow.rules.block import CROWDED, EVERY, BlockKind, Party, crowded, opened
from delayer.flow.words import suspended
from delayer.http import answers
from delayer.ledger.rules import retried
from delayer.schedule.instants import HOUR, MINUTE, SECOND, format_instant
from delayer.schedule.schedule import Schedule
from delayer.series import routes as shown_as
from delayer.series.rules.series import SeriesState
from delayer.series.use_cases.read import ReadSeries, SeriesFound
from delayer.wiring.build import build
from tests.looking import put_row
from tests.openapi import openapi
from tests.samples import claimed
from tests.tables import on_sqlite
from tests.unit.flow.use_cases.test_flow import reads_of
from tests.unit.series.use_cases.test_create import body, created
from tests.world import START, World

OWNER = "owner"  # as the clients of the world are called
TARGET = "http-request target"
OF_OWNER = suspended(Party(owner=OWNER, target=EVERY), START, "it floods", "eve")
OF_TARGET = suspended(Party(owner=EVERY, target=TARGET), START, "moved", "eve")
OF_BOTH = opened(Party(owner=OWNER, target=TARGET), START + MINUTE, "HTTP 503")
OF_ANOTHER = opened(Party(owner="another", target=TARGET), START + MINUTE, "HTTP 500")


def looked_up(world: World, schedule: Schedule) -> Status:
    found = build(Lookup, world.ports("lookup")).by_id(schedule.id, OWNER)
    assert isinstance(found, Status)
    return found


def shown(world: World, schedule: Schedule) -> Any:
    return json.loads(answers.response(200, schedules.shown(looked_up(world, schedule))).body)


def posted(world: World, **more: Any) -> Schedule:
    schedule = world.post(START + MINUTE, **more)
    assert schedule
    return schedule


def test_what_is_on_time_costs_no_read() -> None:
    world = World()
    reads = reads_of(world, OF_OWNER)
    schedule = posted(world)
    assert looked_up(world, schedule).waiting is None
    put_row(world.ledger, claimed(schedule))
    world.clock.move(2 * MINUTE)
    assert looked_up(world, schedule).waiting is None, "it is being attempted"
    assert reads.number == 0


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (OF_OWNER, {"for": "suspension", "reason": "it floods", "since": format_instant(START)}),
        (OF_TARGET, {"for": "suspension", "reason": "moved", "since": format_instant(START)}),
    ],
    ids=["owner", "target"],
)
def test_what_is_overdue_says_what_it_waits_for(block: Any, expected: dict[str, str]) -> None:
    world = World()
    reads = reads_of(world, block)
    schedule = posted(world)
    world.clock.move(2 * MINUTE)
    content = shown(world, schedule)
    assert content["overdue"] is True
    assert content["waiting"] == expected
    assert reads.number == 1


def test_a_circuit_says_until_when() -> None:
    world = World()
    reads_of(world, OF_BOTH, OF_ANOTHER)
    schedule = posted(world)
    world.clock.move(MINUTE + SECOND)
    assert shown(world, schedule)["waiting"] == {
        "for": "circuit",
        "reason": "HTTP 503",
        "since": format_instant(START + MINUTE),
        "until": format_instant(START + MINUTE + 10 * SECOND),
    }


def test_a_crowd_is_said_as_the_contract_has_it() -> None:
    world = World()
    crowd = crowded(Party(owner=OWNER, target=TARGET), START + MINUTE, None)
    assert crowd
    reads_of(world, crowd)
    schedule = posted(world)
    world.clock.move(MINUTE + SECOND)
    content = shown(world, schedule)
    assert content["waiting"] == {
        "for": "crowd",
        "reason": CROWDED,
        "since": format_instant(START + MINUTE),
        "until": format_instant(START + MINUTE + 5 * SECOND),
    }
    contract = openapi()["components"]["schemas"]["Waiting"]
    assert set(contract["properties"]["for"]["enum"]) == set(BlockKind)
    world.clock.move(10 * SECOND)
    assert "waiting" not in shown(world, schedule)


def test_nothing_of_other_owners_is_said() -> None:
    world = World()
    reads_of(world, OF_ANOTHER, suspended(Party(owner="another", target=EVERY), START, "secret", ""))
    schedule = posted(world)
    world.clock.move(2 * MINUTE)
    assert "waiting" not in shown(world, schedule)


def test_what_waits_for_an_attempt_says_it_too() -> None:
    world = World()
    reads = reads_of(world, OF_BOTH)
    schedule = posted(world)
    world.update_journal()
    world.clock.move(MINUTE)
    first = claimed(schedule)
    put_row(
        world.ledger,
        retried(first, "f2", world.clock.now(), "HTTP 503", retry_at=START + MINUTE + 10 * SECOND, after=first.fence),
    )
    content = shown(world, schedule)
    assert (content["state"], content["waiting"]["for"]) == ("claimed", "circuit")
    assert reads.number == 1


def test_in_the_delayer_queue_only_what_is_said_of_its_owner_is_known_without_a_journal() -> None:
    """Nobody has its definition there but the message."""
    world = World()
    schedule = posted(world)
    world.run_until(START + SECOND)
    world.clock.move(2 * MINUTE)
    reads_of(world, OF_TARGET)
    assert looked_up(world, schedule).waiting is None
    reads_of(world, OF_OWNER, OF_TARGET)
    found = looked_up(world, schedule).waiting
    assert found
    assert found.reason == "it floods"


def test_with_a_journal_its_target_is_known_there() -> None:
    world = World()
    schedule = posted(world)
    world.run_until(START + SECOND)
    world.update_journal()
    world.clock.move(2 * MINUTE)
    reads_of(world, OF_TARGET)
    found = looked_up(world, schedule).waiting
    assert found
    assert (found.kind, found.reason) == (BlockKind.SUSPENSION, "moved")


def test_if_the_blocks_do_not_answer_only_this_is_missing() -> None:
    world = World()
    reads_of(world, OF_OWNER).is_down = True
    schedule = posted(world)
    world.clock.move(2 * MINUTE)
    content = shown(world, schedule)
    assert content["overdue"] is True
    assert "waiting" not in content


def test_many_lookups_share_a_read() -> None:
    world = World()
    reads = reads_of(world, OF_OWNER)
    schedule = posted(world)
    world.clock.move(2 * MINUTE)
    lookup = build(Lookup, world.ports("lookup"))
    for _ in range(9):
        lookup.by_id(schedule.id, OWNER)
    assert reads.number == 1


# ------------------------------------------------------------ series


def found_in(world: World, series: str) -> SeriesFound:
    answer = build(ReadSeries, world.ports("read series")).by_id(series, OWNER)
    assert isinstance(answer, SeriesFound)
    return answer


def test_a_series_whose_occurrence_waits_says_so() -> None:
    world = World()
    series = created(world, body(), owner=OWNER).series
    reads = reads_of(world, OF_OWNER)
    assert found_in(world, series).waiting is None
    assert reads.number == 0
    at = found_in(world, series).cursor.at
    world.clock.sleep_until(at + HOUR)
    content = json.loads(answers.response(200, shown_as.shown_series(found_in(world, series))).body)
    assert content["occurrence"]["waiting"]["reason"] == "it floods"
    assert content["state"] == SeriesState.ACTIVE


def test_of_an_occurrence_that_is_under_way_it_says_nothing() -> None:
    world = World()
    series = created(world, body(), owner=OWNER).series
    cursor = found_in(world, series).cursor
    world.clock.sleep_until(cursor.at + SECOND)
    reads_of(world, OF_OWNER)
    first = claimed(world.stored(cursor.current))
    put_row(world.ledger, first)
    assert found_in(world, series).waiting is None
    planned = retried(first, "f2", world.clock.now(), "x", retry_at=world.clock.now() + MINUTE, after=first.fence)
    put_row(world.ledger, planned)
    assert found_in(world, series).waiting is not None
    world.blocks = on_sqlite(StoredBlocks)
    assert found_in(world, series).waiting is None
