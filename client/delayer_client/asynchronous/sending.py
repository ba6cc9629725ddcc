"""Sends calls with httpx, and repeats them as `transport.attempts` says."""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

import httpx
from attrs import frozen

from delayer_client.calls.call import Answer, Call
from delayer_client.transport.attempts import Attempts, Retrying, Wait
from delayer_client.transport.sleeping import async_sleep, utc_now

Value = TypeVar("Value")
Item = TypeVar("Item")


class HasCursor(Protocol):
    """A page of a list."""

    @property
    def next_cursor(self) -> str | None:
        """Of the page after it; None: it is the last."""


Page = TypeVar("Page", bound=HasCursor)


@frozen(kw_only=True)
class AsyncSender:
    """One connection pool."""

    http: httpx.AsyncClient
    retrying: Retrying
    sleep: Callable[[float], Coroutine[Any, Any, None]] = async_sleep  # seconds
    now: Callable[[], datetime] = utc_now

    async def send(self, call: Call[Value]) -> Value:
        """The answer. Raises a Refused, NoAnswer, NotUnderstood."""
        attempts = Attempts(call, self.retrying)
        while True:
            try:
                response = await self.http.request(
                    call.method,
                    call.path,
                    params=dict(call.query) or None,
                    content=attempts.content,
                    headers=dict(attempts.headers),
                )
            except httpx.RequestError as error:
                then = attempts.failed(error)
            else:
                headers = {name.lower(): value for name, value in response.headers.items()}
                answered = attempts.answered(Answer(response.status_code, response.content, headers))
                if not isinstance(answered, Wait):
                    return answered.value
                then = answered
            await self.sleep(then.seconds)

    async def items(
        self, page_after: Callable[[str | None], Call[Page]], items_of: Callable[[Page], Sequence[Item]]
    ) -> AsyncIterator[Item]:
        """Those of all pages, each fetched when it is needed. `page_after` makes the call for a cursor, or for none."""
        cursor = None
        while True:
            page = await self.send(page_after(cursor))
            for one in items_of(page):
                yield one
            cursor = page.next_cursor
            if not cursor:
                return
