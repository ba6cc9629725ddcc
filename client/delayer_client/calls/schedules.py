"""The calls about schedules."""

import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import msgspec
from attrs import field, frozen

from delayer_client.api.action import AnyAction, AnyPolicy, plain
from delayer_client.api.base import Model
from delayer_client.api.models import OnLate, Problem, Retry, Schedule, SchedulePage
from delayer_client.calls.call import Answer, Call, Repeat, a, given, path
from delayer_client.calls.times import Seconds, instant, seconds
from delayer_client.errors import Conflict, Refused, WrongArgument, refusal


class Ungiven(msgspec.Struct, frozen=True):
    """Stands for a payload that is not given: None is the JSON value null."""

    def __repr__(self) -> str:
        return "not given"


NOT_GIVEN: Final = Ungiven()
MAX_BATCH: Final = 100


@frozen(kw_only=True)
class NewSchedule:
    """One schedule to be made: what is done, and when. Give exactly one of `at`, `delay` and `when`."""

    action: AnyAction
    at: datetime | str | None = None  # with a time zone, or RFC 3339
    delay: timedelta | Seconds | None = None  # from now
    when: AnyPolicy | None = None  # who decides
    payload: Any = NOT_GIVEN  # any JSON; None is null
    name: str | None = None
    group: str | None = None
    tags: Mapping[str, str] | None = None
    window: timedelta | Seconds | None = None  # it fires at some moment within so long after its time
    on_late: OnLate | None = None
    retry: Retry | None = None
    precision: Literal["precise", "relaxed"] | None = None
    idempotency_key: str | None = field(default=None)  # one of its own is made if it has none

    def body(self) -> dict[str, Any]:
        """As the API takes it. Raises WrongArgument."""
        if sum(one is not None for one in (self.at, self.delay, self.when)) != 1:
            raise WrongArgument("Give exactly one of at, delay and when.")
        return given(
            action=plain(self.action),
            **moment(self.at, self.delay),
            when=plain(self.when),
            name=self.name,
            group=self.group,
            tags=self.tags,
            window=None if self.window is None else {"seconds": whole(self.window)},
            onLate=plain(self.on_late),
            retry=plain(self.retry),
            precision=self.precision,
        ) | with_payload(self.payload)


def moment(at: datetime | str | None, delay: timedelta | Seconds | None) -> dict[str, Any]:
    """The field that says when."""
    return given(
        pointInTime=None if at is None else instant(at),
        delaySeconds=None if delay is None else seconds(delay),
    )


def with_payload(payload: Any) -> dict[str, Any]:
    """The field of a payload, if there is one."""
    return {} if payload is NOT_GIVEN else {"payload": payload}


def whole(duration: timedelta | Seconds) -> int:
    """Whole seconds. Raises WrongArgument."""
    exact = seconds(duration)
    if not math.isfinite(exact) or exact != int(exact):
        raise WrongArgument("This duration is a number of whole seconds.")
    return int(exact)


@frozen(kw_only=True)
class Cancellation:
    """The result of a cancel. True only if the schedule will never be handed over; else `reason` says why."""

    schedule: Schedule | None  # as it is now; None if it could not be cancelled
    reason: str = ""  # handed-over, ended or may-be-running
    problem: Problem | None = None
    retry_after: float | None = None  # seconds, with may-be-running

    def __bool__(self) -> bool:
        return self.schedule is not None

    @property
    def was_replaced(self) -> bool:
        """Whether another one has taken its place, so that the name is that one's now."""
        return self.problem is not None and self.problem.replaced_by is not None

    @property
    def claimed_at(self) -> datetime | None:
        """When it was handed over, with `handed-over`."""
        return self.problem.claimed_at if self.problem else None


@frozen(kw_only=True)
class BatchResult:
    """The result of one schedule of a batch: `schedule`, or `error`."""

    schedule: Schedule | None = None
    error: Refused | None = None


class _Result(Model, frozen=True):
    status: int
    schedule: Schedule | None = None
    problem: Problem | None = None


class _Results(Model, frozen=True):
    results: list[_Result]


def key_header(key: str | None) -> dict[str, str]:
    """The caller's own idempotency key, if there is one."""
    if key is None:
        return {}
    if not key or not key.isascii() or not key.isprintable():
        raise WrongArgument("An idempotency key is a text of printable ASCII characters, and not empty.")
    return {"Idempotency-Key": key}


def schedule(new: NewSchedule) -> Call[Schedule]:
    """POST /schedules."""
    return Call(
        method="POST",
        path="/schedules",
        body=new.body(),
        headers=key_header(new.idempotency_key),
        repeat=Repeat.WITH_KEY,
        read=a(Schedule),
    )


def batch(new: Sequence[NewSchedule]) -> Call[list[BatchResult]]:
    """POST /schedules/batch: each has a key, so that the call can be repeated."""
    if not 1 <= len(new) <= MAX_BATCH:
        raise WrongArgument(f"A batch has 1 to {MAX_BATCH} schedules; this one has {len(new)}.")
    return Call(
        method="POST",
        path="/schedules/batch",
        body={"schedules": [{**one.body(), "idempotencyKey": _key_of(one)} for one in new]},
        read=_results,
    )


def _key_of(new: NewSchedule) -> str:
    return key_header(new.idempotency_key).get("Idempotency-Key") or new_key()


def _results(answer: Answer) -> list[BatchResult]:
    return [
        BatchResult(schedule=one.schedule, error=refusal(one.problem) if one.problem else None)
        for one in a(_Results)(answer).results
    ]


def new_key() -> str:
    """An idempotency key."""
    return uuid.uuid4().hex


def get(schedule_id: str) -> Call[Schedule]:
    """GET /schedules/{id}."""
    return Call(method="GET", path=path("schedules", schedule_id), read=a(Schedule))


def get_named(name: str) -> Call[Schedule]:
    """GET /schedules/by-name/{name}."""
    return Call(method="GET", path=path("schedules", "by-name", name), read=a(Schedule))


def page(
    group: str | None,
    state: str | None,
    since: datetime | str | None,
    until: datetime | str | None,
    limit: int | None,
    cursor: str | None,
) -> Call[SchedulePage]:
    """GET /schedules."""
    query = given(
        group=group,
        state=state,
        **{"from": None if since is None else instant(since, "since")},
        to=None if until is None else instant(until, "until"),
        limit=None if limit is None else str(limit),
        cursor=cursor,
    )
    return Call(method="GET", path="/schedules", query=query, read=a(SchedulePage))


def cancel(schedule_id: str) -> Call[Cancellation]:
    """DELETE /schedules/{id}. A repeat asks again, and its answer is the truth: nobody can undo a cancel."""
    return _cancel(path("schedules", schedule_id), Repeat.ALWAYS)


def cancel_named(name: str) -> Call[Cancellation]:
    """DELETE /schedules/by-name/{name}. It is not repeated: somebody may have given the name to another one since."""
    return _cancel(path("schedules", "by-name", name), Repeat.NEVER)


def _cancel(where: str, repeat: Repeat) -> Call[Cancellation]:
    read: Callable[[Answer], Schedule] = a(Schedule)
    return Call(
        method="DELETE",
        path=where,
        repeat=repeat,
        read=lambda answer: Cancellation(schedule=read(answer)),
        refused=_not_cancelled,
    )


def _not_cancelled(refused: Refused, _unclear: bool) -> Cancellation:
    if not isinstance(refused, Conflict):
        raise refused
    return Cancellation(schedule=None, reason=refused.reason, problem=refused.problem, retry_after=refused.retry_after)


def replace(name: str, new: NewSchedule, *, only_new: bool) -> Call[Schedule]:
    """PUT /schedules/by-name/{name}."""
    return Call(
        method="PUT",
        path=path("schedules", "by-name", name),
        body=new.body(),
        headers=key_header(new.idempotency_key) | ({"If-None-Match": "*"} if only_new else {}),
        repeat=Repeat.WITH_KEY,
        read=a(Schedule),
    )


def change(
    schedule_id: str,
    at: datetime | str | None,
    delay: timedelta | Seconds | None,
    payload: Any,
    key: str | None,
) -> Call[Schedule]:
    """PATCH /schedules/{id}."""
    if at is not None and delay is not None:
        raise WrongArgument("Give at or delay, not both.")
    body = moment(at, delay) | with_payload(payload)
    if not body:
        raise WrongArgument("Give what is to change: at, delay or payload.")
    return Call(
        method="PATCH",
        path=path("schedules", schedule_id),
        body=body,
        headers=key_header(key),
        repeat=Repeat.WITH_KEY,
        read=a(Schedule),
    )


def stop(schedule_id: str) -> Call[Schedule]:
    """POST /schedules/{id}/stop. A repeat is harmless: what is stopped is never redriven."""
    return Call(method="POST", path=path("schedules", schedule_id, "stop"), read=a(Schedule))
