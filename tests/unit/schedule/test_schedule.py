"""A schedule knows its address and its margins."""

from typing import Any

import pytest
from attrs import evolve

from delayer.accept.rules.admission import MAX_AHEAD, MAX_PAST
from delayer.schedule.instants import (
    DAY,
    MAX_DELAY_SECONDS,
    MINUTE,
    NEARLY_DUE,
    ROW_LIFETIME,
    SECOND,
    STALE_AFTER,
    TTL_MARGIN,
    Malformed,
)
from delayer.schedule.retrying import MAX_AGE_SECONDS
from delayer.schedule.schedule_id import Address
from tests.samples import NOW, a_definition, a_schedule, an_id


def test_its_address_is_in_its_id() -> None:
    assert a_schedule(NOW + 1, shard=2).address == Address(due=NOW + 1, shard=2)


def test_the_net_is_spread_a_week_after_due() -> None:
    assert a_schedule(NOW).expires_at == NOW + 7 * DAY


def test_an_overdue_one_expires_by_its_address() -> None:
    """Accepted late, it still has its week."""
    late = a_schedule(NOW, point_in_time=NOW - MAX_PAST)
    assert late.expires_at == NOW + TTL_MARGIN


def test_the_margins_and_their_order() -> None:
    """What TTL deletes late still fires; what is later than that is dead-lettered while its ledger row lasts."""
    assert DAY < TTL_MARGIN < STALE_AFTER < ROW_LIFETIME
    assert TTL_MARGIN + 2 * DAY < STALE_AFTER, "TTL takes days"
    assert ROW_LIFETIME - STALE_AFTER >= DAY
    assert ROW_LIFETIME > MAX_AGE_SECONDS * SECOND + 14 * DAY, "and then as long as SQS keeps it"
    assert MAX_DELAY_SECONDS * SECOND < NEARLY_DUE < MAX_AHEAD
    assert NEARLY_DUE == 30 * MINUTE


@pytest.mark.parametrize(
    "change",
    [
        {"owner": ""},
        {"owner": "x" * 1025},
        {"point_in_time": -1},
        {"definition": None},
        {"created_at": None},
        {"id": None},
    ],
)
def test_bounds(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        evolve(a_schedule(), **change)


@pytest.mark.parametrize(
    "change",
    [
        {"action": None},
        {"payload": None},
        {"group": None},
        {"group": "g" * 129},
        {"on_late": None},
        {"tags": None},
    ],
)
def test_bounds_of_the_definition(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        a_definition(**change)


@pytest.mark.parametrize(
    "action", ["", "null", "[]", "{", "{}", '{"type": 1}', '{"type": ""}', "\ud800", "[" * 100_000]
)
def test_an_action_without_a_type_is_malformed(action: str) -> None:
    """The relay chooses the executor's queue by the type."""
    with pytest.raises(Malformed, match="not an action"):
        _ = a_definition(action=action).action_type


def test_an_id_that_is_none_has_no_address() -> None:
    with pytest.raises(ValueError, match="id"):
        _ = a_schedule(id="x" * len(an_id())).address
