"""When a call is sent again, and what its answer means then. No I/O: both the sync and the async sender ask it."""

import random
from collections.abc import Mapping
from typing import Final, Generic, TypeVar

import httpx
import msgspec
from attrs import define, field, frozen

from delayer_client.api.models import Problem
from delayer_client.calls.call import Answer, Call, Repeat
from delayer_client.calls.encoding import encoded
from delayer_client.calls.schedules import new_key
from delayer_client.errors import NoAnswer, NotUnderstood, refusal

Value = TypeVar("Value")

# Those of which nothing has reached the API: it cannot have been applied.
NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,  # the proxy has refused the way to the API
    httpx.UnsupportedProtocol,
)
AGAIN: Final = frozenset({429, 500, 502, 503, 504})
KEY: Final = "Idempotency-Key"


@frozen(kw_only=True)
class Retrying:
    """How a call is repeated. Times are in seconds."""

    times: int = 5  # at most so many repeats; 0: none
    first_wait: float = 0.2  # it doubles with each repeat, and each is shortened by up to a half
    longest_wait: float = 20.0  # also of a Retry-After; if the API asks for more, its answer is raised


@frozen
class Wait:
    """Send it again after so many seconds."""

    seconds: float


@frozen
class Done(Generic[Value]):
    """The answer."""

    value: Value


@define
class Attempts(Generic[Value]):
    """All tries of one call."""

    call: Call[Value]
    retrying: Retrying
    _made: int = field(default=0, init=False)
    _unclear: bool = field(default=False, init=False)  # whether a try may have been applied without an answer
    _key: str = field(factory=new_key, init=False)  # the same for all tries
    content: bytes | None = field(init=False)  # the body, the same for all tries

    def __attrs_post_init__(self) -> None:
        self.content = None if self.call.body is None else encoded(self.call.body)

    @property
    def headers(self) -> Mapping[str, str]:
        """Of each try."""
        headers = dict(self.call.headers)
        if self.call.repeat is Repeat.WITH_KEY:
            headers.setdefault(KEY, self._key)
        if self.call.body is not None:
            headers["Content-Type"] = "application/json"
        return headers

    def failed(self, error: httpx.RequestError) -> Wait:
        """After a try without an answer. Raises NoAnswer if it is not sent again."""
        self._made += 1
        sent = not isinstance(error, NOT_SENT)
        self._unclear = self._unclear or (sent and self.call.method != "GET")
        if self._may_repeat():
            return Wait(self._pause())
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        tries = "once" if self._made == 1 else f"{self._made} times"
        tail = ". It is not known whether it was carried out." if self._unclear else "; nothing was changed."
        message = f"{self.call.name} was sent {tries}, without an answer ({what}){tail}"
        raise NoAnswer(message, may_be_applied=self._unclear)

    def answered(self, answer: Answer) -> Wait | Done[Value]:
        """After a try with an answer. Raises a Refused, or NotUnderstood."""
        self._made += 1
        if 200 <= answer.status < 300:
            return Done(self.call.read(answer))
        problem = refusal(problem_in(answer), retry_after(answer))
        unclear_before = self._unclear
        if answer.status in AGAIN:
            self._unclear = self._unclear or (answer.status >= 500 and self.call.method != "GET")
            pause = self._pause() if problem.retry_after is None else problem.retry_after
            if self._may_repeat() and pause <= self.retrying.longest_wait:
                return Wait(pause)
        problem.may_be_applied = self._unclear
        return Done(self.call.refused(problem, unclear_before))

    def _may_repeat(self) -> bool:
        return self._made <= self.retrying.times and not (self._unclear and self.call.repeat is Repeat.NEVER)

    def _pause(self) -> float:
        longest = min(self.retrying.first_wait * 2 ** (self._made - 1), self.retrying.longest_wait)
        return float(longest * random.uniform(0.5, 1))


def problem_in(answer: Answer) -> Problem:
    """The problem of an answer, also of one that API Gateway makes by itself (`{"message": …}`)."""
    try:
        found = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = None
    if isinstance(found, dict) and {"type", "title", "status", "detail"} <= found.keys():
        try:
            return msgspec.convert(found, Problem)
        except msgspec.ValidationError as error:
            raise NotUnderstood(f"The problem in the answer is not what Delayer gives: {error}") from error
    text = answer.body[:200].decode(errors="replace").strip()
    said = found.get("message") or found.get("Message") if isinstance(found, dict) else text
    title = f"HTTP {answer.status}"
    return Problem(type="about:blank", title=title, status=answer.status, detail=str(said or title))


def retry_after(answer: Answer) -> float | None:
    """Seconds."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isdecimal() else None
