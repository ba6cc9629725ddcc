"""PATCH and PUT with an idempotency key: done once, and answered the same, whoever comes in between (ADR 0126)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve, field, frozen

from delayer.accept.ports import RequestRow
from delayer.accept.use_cases.once import KEY_LIFETIME, Call, KnownKey, Once
from delayer.engines.memory import ManualClock
from delayer.http.problem import Invalid
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.schedule_id import is_occurrence
from delayer.schedule.tables import SCHEDULES
from tests.fakes.faults import Crash
from tests.looking import all_definitions, all_rows, put_row
from tests.samples import ACTION
from tests.unit.handlers import Observed, handler_of
from tests.world import START, World

OWNER = "owner"
SCHEDULE = {"delaySeconds": 7200, "action": ACTION}
SERIES = {"repeat": {"every": "PT1M", "anchor": "2026-11-21T07:00:00Z"}, "action": ACTION, "payload": 1}
Answer = tuple[int, dict[str, Any], dict[str, str]]


@define(slots=False)
class Crowd(World):
    """A world in which others may come before any call of a port."""

    calls: int = 0
    meanwhile: dict[int, Callable[[], object]] = field(factory=dict)

    def port_for(self, function: str, port: Any) -> Any:
        return Between(port, self)

    def before(self) -> None:
        self.calls += 1
        if comes := self.meanwhile.pop(self.calls, None):
            comes()


@frozen
class Between:
    """A port, and others before each of its calls."""

    port: Any
    crowd: Crowd

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.port, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            self.crowd.before()
            return found(*arguments, **named)

        return call


@frozen(kw_only=True)
class Kind:
    """A call that may have a key, and what was there before."""

    function: str
    route: str
    body: Any
    if_none: bool = False
    before: tuple[tuple[str, str, Any], ...] = ()  # function, route and body of calls; `*` stands for the id
    status: int = 200


PUT_SCHEDULE, PUT_SERIES = "PUT /schedules/by-name/{name}", "PUT /series/by-name/{name}"
PATCH_SCHEDULE, PATCH_SERIES = "PATCH /schedules/{id}", "PATCH /series/{seriesId}"
NAMED = ("api-schedule-put", PUT_SCHEDULE, SCHEDULE)
RUNNING = ("api-series-put", PUT_SERIES, SERIES)
PAUSED = ("api-series-pause", "POST /series/{seriesId}/pause", None)
KINDS = {
    "PATCH": Kind(
        function="api-schedule-patch",
        route=PATCH_SCHEDULE,
        body={"payload": 2},
        before=(("api-schedule-post", "POST /schedules", SCHEDULE),),
    ),
    "PATCH of a named one": Kind(
        function="api-schedule-patch", route=PATCH_SCHEDULE, body={"delaySeconds": 60}, before=(NAMED,)
    ),
    "PATCH of an occurrence": Kind(
        function="api-schedule-patch", route=PATCH_SCHEDULE, body={"delaySeconds": 3600}, before=(RUNNING,)
    ),
    "PUT that creates": Kind(function="api-schedule-put", route=PUT_SCHEDULE, body=SCHEDULE, status=201),
    "PUT that replaces": Kind(function="api-schedule-put", route=PUT_SCHEDULE, body=SCHEDULE, before=(NAMED,)),
    "PUT if none": Kind(function="api-schedule-put", route=PUT_SCHEDULE, body=SCHEDULE, if_none=True, status=201),
    "POST": Kind(
        function="api-schedule-post", route="POST /schedules", body={**SCHEDULE, "name": "nightly"}, status=201
    ),
    "POST of a series": Kind(
        function="api-series-post", route="POST /series", body={**SERIES, "name": "nightly"}, status=201
    ),
    "PATCH of a series": Kind(function="api-series-patch", route=PATCH_SERIES, body={"payload": 2}, before=(RUNNING,)),
    "PATCH of a series that is paused": Kind(
        function="api-series-patch", route=PATCH_SERIES, body={"payload": 2}, before=(RUNNING, PAUSED)
    ),
    "PUT that creates a series": Kind(function="api-series-put", route=PUT_SERIES, body=SERIES, status=201),
    "PUT of a series if none": Kind(function="api-series-put", route=PUT_SERIES, body=SERIES, if_none=True, status=201),
    "PUT that changes a series": Kind(
        function="api-series-put", route=PUT_SERIES, body={**SERIES, "payload": 2}, before=(RUNNING,)
    ),
}
of_each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


@define
class Stage:
    """One of the kinds, ready to be called."""

    kind: Kind
    world: Crowd = field(factory=Crowd)
    ids: dict[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.world.observer = Observed()
        self.world.build()
        self.world.clock.move(SECOND)
        for function, route, body in self.kind.before:
            status, answer, _ = self.call(function, route, body)
            assert status in (200, 201), answer
            self.ids |= {name: str(one) for name, one in answer.items() if name in ("scheduleId", "seriesId")}
            self.ids |= {"scheduleId": answer["occurrence"]["scheduleId"]} if "occurrence" in answer else {}
        self.world.calls = 0

    def call(self, function: str, route: str, body: Any, **headers: str) -> Answer:
        """As the gateway does."""
        made = handler_of(self.world, function)(
            {
                "routeKey": route,
                "pathParameters": {
                    "name": "nightly",
                    "id": self.ids.get("scheduleId", ""),
                    "seriesId": self.ids.get("seriesId", ""),
                },
                "headers": {"delayer-owner": OWNER, **headers},
                "body": json.dumps(body) if body is not None else None,
            },
            None,
        )
        return made["statusCode"], json.loads(made["body"]), made["headers"]

    def ask(self, key: str = "k", body: Any = None) -> Answer:
        """The call of this kind."""
        headers = {"idempotency-key": key} | ({"if-none-match": "*"} if self.kind.if_none else {})
        return self.call(self.kind.function, self.kind.route, body or self.kind.body, **headers)

    @property
    def done(self) -> int:
        """How often it has been done: definitions of series that were written, and schedules of clients."""
        if self.kind.function.startswith("api-series"):
            return sum(one.revision for one in all_definitions(self.world.series).values()) - (
                RUNNING in self.kind.before
            )
        rows = [one.row for one in self.world.feed.records[SCHEDULES] if one.kind == "INSERT"]
        return len(rows) - len([one for one in self.kind.before if one != PAUSED])


@of_each_kind
def test_a_repeat_has_the_same_answer(kind: Kind) -> None:
    stage = Stage(kind)
    first = stage.ask()
    assert first[0] == kind.status
    stage.world.clock.move(MINUTE)
    assert stage.ask() == first
    assert stage.done == 1
    status, problem, _ = stage.ask(body={**kind.body, "onLate": {"after": "PT1H", "do": "drop"}})
    assert (status, problem["type"].rpartition(":")[2]) == (422, "key-reused")


@of_each_kind
def test_a_repeat_is_answered_the_same_after_the_new_one_has_fired(kind: Kind) -> None:
    """And after another call has taken its place, and when the times of the body have passed."""
    stage = Stage(kind)
    first = stage.ask()
    other = {"payload": 3} if kind.route.startswith("PATCH") else {**kind.body, "payload": 3}
    stage.call(kind.function, kind.route, other)
    stage.world.run_until(START + 3 * HOUR)
    assert stage.ask() == first


@of_each_kind
def test_after_a_day_the_key_is_a_new_one(kind: Kind) -> None:
    stage = Stage(kind)
    assert stage.ask()[0] == kind.status
    stage.world.clock.move(KEY_LIFETIME)
    status, _, _ = stage.ask()
    assert stage.done == 2 or status >= 400, "it is refused as a new call is"


@of_each_kind
def test_of_two_equal_calls_at_the_same_time_one_is_done_and_both_are_answered_the_same(kind: Kind) -> None:
    """The second comes before any call that the first makes to a port."""
    at = 0
    while True:
        at += 1
        stage, other = Stage(kind), list[Answer]()
        stage.world.meanwhile = {at: lambda stage=stage, other=other: other.append(stage.ask())}  # type: ignore[misc]
        first = stage.ask()
        if not other:
            break
        assert other == [first], f"before call {at}"
        assert (first[0], stage.done) == (kind.status, 1), f"before call {at}"
    assert at > 4


@of_each_kind
def test_a_call_that_dies_is_repeated(kind: Kind) -> None:
    """Before any call of a port: it was done, or it was not, and the repeat finds out."""
    at = 0
    while True:
        at += 1
        stage = Stage(kind)

        def die() -> None:
            raise Crash("its function dies")

        stage.world.meanwhile = {at: die}
        try:
            stage.ask()
        except Crash:
            again = stage.ask()
            assert (again[0], stage.done) == (kind.status, 1), f"before call {at}"
            assert stage.ask() == again
        else:
            break


@of_each_kind
def test_two_keys_are_two_calls(kind: Kind) -> None:
    stage = Stage(kind)
    first = stage.ask("k1")
    second = stage.ask("k2")
    assert stage.done == 2 or second[0] >= 400
    assert stage.ask("k1") == first
    assert stage.ask("k2") == second or second[0] >= 400, "a refusal is not kept"


def test_an_occurrence_stays_the_current_one() -> None:
    stage = Stage(KINDS["PATCH of an occurrence"])
    _, answer, _ = stage.ask()
    [cursor] = all_rows(stage.world.series).values()
    assert is_occurrence(answer["scheduleId"])
    assert cursor.current == answer["scheduleId"]


def test_a_key_of_another_route_is_a_mistake() -> None:
    """The keys of all calls are in one list."""
    stage = Stage(evolve(KINDS["PUT that creates"], before=(NAMED,)))
    assert stage.call("api-schedule-post", "POST /schedules", SCHEDULE, **{"idempotency-key": "k"})[0] == 201
    assert stage.ask()[0] == 422
    assert stage.ask("another")[0] == 200


def test_a_refusal_is_not_kept() -> None:
    """Nothing was done: the same call may be answered otherwise later."""
    stage = Stage(evolve(KINDS["PUT if none"], before=(NAMED,)))
    assert stage.ask()[0] == 412
    [row] = all_rows(stage.world.ledger).values()
    put_row(stage.world.ledger, evolve(row, state=State.CANCELLED, revision=row.revision + 1))
    status, _, _ = stage.ask()
    assert status == 201


def test_an_exception_after_an_equal_call_is_done_is_no_answer() -> None:
    """Its time has passed meanwhile, or a quota is used up: by the call that is asked about."""
    call = Call(owner="me", what="PATCH /schedules/i", body=b"{}", key="k")
    row = RequestRow(owner="me", key="k", digest=call.digest, schedule_id="new", point_in_time=1, expires_at=START + 1)

    def admitted(_known: KnownKey) -> str:
        raise Invalid([])

    for known, expected in (([None, row], row), ([None, None], None)):
        once = Once(clock=ManualClock(START), registry=Scripted(iter(known).__next__))  # type: ignore[arg-type] # it has what is called
        if expected:
            assert once(call, admitted) == expected
        else:
            with pytest.raises(Invalid):
                once(call, admitted)


@frozen
class Scripted:
    """Port Registry, as others change it."""

    answer: Callable[[], RequestRow | None]

    def requested(self, owner: str, key: str) -> RequestRow | None:
        return self.answer()
