"""Tests a policy as Delayer asks it, without AWS (docs/use/policies.md).

    noon = instant("2026-11-21T12:00:00Z")
    assert ask(handler, {"seconds": 60}, now=noon) == At(…)

The function is the real one, and so are the checks of the API before it.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from attrs import evolve

from delayer.engines.memory import ManualClock
from delayer.extension.harness import NotAccepted
from delayer.extension.policy import LambdaPolicy
from delayer.http.field_errors import errors_of, policy_validator_of
from delayer.schedule.instants import Millis, parse_instant
from delayer.schedule.schedule import Definition, Schedule
from delayer.schedule.schedule_id import RANDOM_BYTES, Address, IdKind, mint
from delayer.timing.rules import Chosen, within_reach

OWNER: Final = "owner"
NOW: Final[Millis] = 1_795_251_600_000  # 2026-11-21T09:00:00Z


def instant(text: str) -> Millis:
    """RFC 3339 as milliseconds since 1970: `instant("2026-11-21T12:00:00Z")`."""
    return parse_instant(text)


def ask(
    handler: LambdaPolicy[Any],
    fields: Mapping[str, Any] | None = None,
    *,
    now: Millis = NOW,
    accepted_at: Millis | None = None,
    payload: Any = None,
    number: int = 1,
) -> Chosen:
    """Says what becomes of the schedule. Raises NotAccepted if the API would refuse it, and the errors of the
    function.

    `number` tells schedules apart: another one has another random part in its id.
    """
    target = handler.target
    when = {"policy": target.name, **(fields or {})}
    if wrong := list(errors_of(policy_validator_of(target.schema), when, "when")):
        raise NotAccepted("; ".join(f"{one.field}: {one.problem}; allowed: {one.allowed}" for one in wrong))
    accepted = now if accepted_at is None else accepted_at
    schedule_id = mint(
        Address(due=accepted, shard=0),
        OWNER,
        point_in_time=accepted,
        key=bytes(32),
        randomness=number.to_bytes(RANDOM_BYTES, "big"),
        kind=IdKind.UNDECIDED,
    )
    body = "" if payload is None else msgspec.json.encode(payload).decode()
    definition = Definition(action='{"type":"http-request"}', payload=body, when=msgspec.json.encode(when).decode())
    waiting = Schedule(id=schedule_id, owner=OWNER, point_in_time=accepted, created_at=accepted, definition=definition)
    return within_reach(evolve(target, clock=lambda: ManualClock(now))(waiting), now)
