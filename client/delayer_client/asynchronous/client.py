"""The client."""

import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import httpx

from delayer_client.api.action import AnyAction, AnyPolicy
from delayer_client.api.models import ActionType, OnLate, Retry, Schedule, SchedulePage, SigningSecret
from delayer_client.asynchronous.connections import AsyncConnections
from delayer_client.asynchronous.groups import AsyncGroups
from delayer_client.asynchronous.sending import AsyncSender
from delayer_client.asynchronous.series import AsyncSeriesCalls
from delayer_client.calls import owned, schedules
from delayer_client.calls.call import Call
from delayer_client.calls.schedules import NOT_GIVEN, BatchResult, Cancellation, NewSchedule
from delayer_client.calls.times import Seconds
from delayer_client.errors import NoAnswer, NotAllowed, Refused
from delayer_client.transport.attempts import Retrying
from delayer_client.transport.credentials import Credentials, address, auth_of, by_what_is_there, owner_header
from delayer_client.transport.proxies import httpx_proxy_of
from delayer_client.transport.sleeping import async_sleep, utc_now
from delayer_client.transport.waiting import next_look

Value = TypeVar("Value")

LOCAL = "http://localhost:8080"  # of `make local`
ROUNDS = 10  # that a name is looked up again, because another one has taken the place of the one that had it


class AsyncDelayer:
    """Calls the API of one stack.

    `url` is the stack's output `ApiUrl`; without it `DELAYER_URL`, or `http://localhost:8080`. `credentials` are found
    by what is there: `DELAYER_TOKEN`, or AWS's if the URL is one of API Gateway, or none. `owner` (`DELAYER_OWNER`)
    is read on one machine only. `timeout` is in seconds, for each try. `retrying=Retrying(times=0)` repeats nothing.
    `transport`, `sleep` and `now` are for tests: `delayer_client.testing`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        credentials: Credentials | None = None,
        owner: str | None = None,
        timeout: Seconds = 15,
        retrying: Retrying | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Coroutine[Any, Any, None]] = async_sleep,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.url = address(url or os.environ.get("DELAYER_URL") or LOCAL)
        owner = owner or os.environ.get("DELAYER_OWNER")
        http = httpx.AsyncClient(
            base_url=self.url,
            auth=auth_of(credentials or by_what_is_there(self.url), self.url),
            headers={"Accept": "application/json"} | dict(headers or {}) | owner_header(owner),
            timeout=timeout,
            transport=transport or httpx.AsyncHTTPTransport(proxy=httpx_proxy_of(self.url)),
        )
        self._sender = AsyncSender(http=http, retrying=retrying or Retrying(), sleep=sleep, now=now)
        self.series = AsyncSeriesCalls(self._sender)
        self.groups = AsyncGroups(self._sender)
        self.connections = AsyncConnections(self._sender)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._sender.http.aclose()

    async def send(self, call: Call[Value]) -> Value:
        """Sends a call of `delayer_client.calls`, with the same repeats: for what has no method here."""
        return await self._sender.send(call)

    async def schedule(
        self,
        action: AnyAction,
        *,
        at: datetime | str | None = None,
        delay: timedelta | Seconds | None = None,
        when: AnyPolicy | None = None,
        payload: Any = NOT_GIVEN,
        name: str | None = None,
        group: str | None = None,
        tags: Mapping[str, str] | None = None,
        window: timedelta | Seconds | None = None,
        on_late: OnLate | None = None,
        retry: Retry | None = None,
        precision: Literal["precise", "relaxed"] | None = None,
        idempotency_key: str | None = None,
    ) -> Schedule:
        """Schedules an action. Give exactly one of `at`, `delay` and `when`.

        Raises Invalid with the wrong fields, Conflict if a live schedule has the name, OverQuota, NoAnswer.
        """
        new = NewSchedule(
            action=action,
            at=at,
            delay=delay,
            when=when,
            payload=payload,
            name=name,
            group=group,
            tags=tags,
            window=window,
            on_late=on_late,
            retry=retry,
            precision=precision,
            idempotency_key=idempotency_key,
        )
        return await self._sender.send(schedules.schedule(new))

    async def batch(self, new: Sequence[NewSchedule]) -> Sequence[BatchResult]:
        """Schedules up to 100 actions, each by itself: its result is a schedule or an error, in the same order."""
        return await self._sender.send(schedules.batch(new))

    async def get(self, schedule_id: str) -> Schedule:
        """Looks up a schedule. Raises NotFound, Expired."""
        return await self._sender.send(schedules.get(schedule_id))

    async def get_named(self, name: str) -> Schedule:
        """The schedule that has the name, or had it last. Raises NotFound."""
        return await self._sender.send(schedules.get_named(name))

    def list(
        self,
        *,
        group: str | None = None,
        state: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[Schedule]:
        """All schedules, or those of a group, in due order; pages are fetched as they are needed.

        `since` and `until` (not included) are about when they are due. `page_size` is 1 to 100.
        """
        return self._sender.items(
            lambda cursor: schedules.page(group, state, since, until, page_size, cursor), lambda page: page.schedules
        )

    async def page(
        self,
        *,
        group: str | None = None,
        state: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        page_size: int | None = None,
        cursor: str | None = None,
    ) -> SchedulePage:
        """One page of `list`. `cursor` is the `next_cursor` of the page before; without it, the first."""
        return await self._sender.send(schedules.page(group, state, since, until, page_size, cursor))

    async def cancel(self, schedule_id: str) -> Cancellation:
        """True only if it will never be handed over; else its `reason` says why. Raises NotFound, Expired, NoAnswer."""
        return await self._sender.send(schedules.cancel(schedule_id))

    async def cancel_named(self, name: str) -> Cancellation:
        """As `cancel`, of the schedule that has the name.

        Its id is looked up, and cancelled: a repeat cannot meet a namesake that somebody has made since. A caller that
        may not look it up cancels by the name, which is not repeated after a lost answer.
        """
        for _ in range(ROUNDS):
            try:
                found = await self.get_named(name)
            except NotAllowed:
                return await self._sender.send(schedules.cancel_named(name))
            answer = await self.cancel(found.id)
            if not answer.was_replaced:
                break
        return answer

    async def replace(
        self,
        name: str,
        action: AnyAction,
        *,
        at: datetime | str | None = None,
        delay: timedelta | Seconds | None = None,
        when: AnyPolicy | None = None,
        payload: Any = NOT_GIVEN,
        group: str | None = None,
        tags: Mapping[str, str] | None = None,
        window: timedelta | Seconds | None = None,
        on_late: OnLate | None = None,
        retry: Retry | None = None,
        precision: Literal["precise", "relaxed"] | None = None,
        only_new: bool = False,
        idempotency_key: str | None = None,
    ) -> Schedule:
        """Creates the schedule with a name, or takes the place of the one that has it: at most one of them fires.

        With `only_new` a live schedule of that name is left alone. Raises Conflict then, and if it is too late.
        """
        new = NewSchedule(
            action=action,
            at=at,
            delay=delay,
            when=when,
            payload=payload,
            group=group,
            tags=tags,
            window=window,
            on_late=on_late,
            retry=retry,
            precision=precision,
            idempotency_key=idempotency_key,
        )
        return await self._sender.send(schedules.replace(name, new, only_new=only_new))

    async def change(
        self,
        schedule_id: str,
        *,
        at: datetime | str | None = None,
        delay: timedelta | Seconds | None = None,
        payload: Any = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Schedule:
        """Gives it another point in time, another payload, or both. The schedule in the answer has a new id.

        Raises Conflict if it is too late, or if its definition is not known; NotFound, Expired, Invalid.
        """
        return await self._sender.send(schedules.change(schedule_id, at, delay, payload, idempotency_key))

    async def stop(self, schedule_id: str) -> Schedule:
        """Keeps further attempts from starting. Raises Conflict if it is not handed over, or has ended."""
        return await self._sender.send(schedules.stop(schedule_id))

    async def wait(self, schedule_id: str, timeout: timedelta | Seconds | None = None) -> Schedule:
        """Waits until it has ended, and asks the API now and then. Raises NotEnded."""
        began = self._sender.now()
        while True:
            found = await self.get(schedule_id)
            pause = next_look(found, began, self._sender.now(), timeout)
            if pause is None:
                return found
            await self._sender.sleep(pause)

    async def actions(self) -> Sequence[ActionType]:
        """Lists the actions that this stack accepts, each type with its JSON Schema."""
        return await self._sender.send(owned.actions())

    async def signing_secret(self) -> SigningSecret:
        """The secret that signs the requests of your schedules."""
        return await self._sender.send(owned.signing_secret())

    async def rotate_signing_secret(self, overlap: timedelta | Seconds | None = None) -> SigningSecret:
        """Makes a new one; the one before signs, too, for the overlap: a day, if it is not given.

        It is not repeated after a lost answer: `signing_secret()` shows what came of it then.
        """
        try:
            return await self._sender.send(owned.rotate_signing_secret(overlap))
        except (NoAnswer, Refused) as error:
            if error.may_be_applied:
                error.add_note("signing_secret() shows whether it was rotated.")
            raise
