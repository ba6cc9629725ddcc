"""Attempts are handed over, and targets answer them."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Self

from attrs import field, frozen

from delayer.actions.rules.model import Done, Refused, Result, Retry


@frozen(kw_only=True)
class Attempt:
    """One attempt, at the moment when its target is reached."""

    schedule_id: str
    owner: str
    action_type: str  # such as "http-request"
    action: Mapping[str, Any]  # its fields as the API spells them, without `type`
    payload: Any  # as it was given; None if there is none
    number: int  # 1 for the first
    at: datetime  # when the target is reached, UTC
    due: datetime  # the point in time
    headers: Mapping[str, str] = field(factory=dict)  # that an http-request arrives with, names in lower case
    body: bytes = b""  # that it arrives with: byte for byte what was given as its payload

    @property
    def idempotency_key(self) -> str:
        """The same for all attempts of one schedule: a target that has seen it does nothing for it a second time."""
        return self.headers.get("idempotency-key", self.schedule_id)

    @property
    def late_by(self) -> timedelta:
        """How long after the point in time."""
        return self.at - self.due


@frozen(kw_only=True)
class Answer:
    """The answer of a target to one attempt."""

    result: Result | None = None
    status: int = 0  # of HTTP, if `result` follows from it as it does for an http-request
    headers: Mapping[str, str] = field(factory=dict)
    body: bytes = b""

    @classmethod
    def succeed(cls, detail: str = "ok") -> Self:
        """The answer of a target that has done what was asked."""
        return cls(result=Done(detail))

    @classmethod
    def fail_for_good(cls, detail: str = "refused") -> Self:
        """The target will never accept it: there is no other attempt."""
        return cls(result=Refused(detail))

    @classmethod
    def retry(cls, detail: str = "not now", after: timedelta | None = None) -> Self:
        """The target may accept it later; `after` is the delay that it asks for, as by `Retry-After`."""
        seconds = None if after is None else -(-after // timedelta(seconds=1))
        return cls(result=Retry(detail=detail, after_seconds=seconds))

    @classmethod
    def http(cls, status: int, body: str | bytes = b"", **headers: str) -> Self:
        """The answer of a web server; what follows from it is decided as for an http-request (2xx: it is done).

        `retry_after="30"` is the header `Retry-After`.
        """
        content = body.encode() if isinstance(body, str) else body
        named = {name.lower().replace("_", "-"): value for name, value in headers.items()}
        return cls(status=status, body=content, headers=named)


Answers = Callable[[Attempt], Answer]
