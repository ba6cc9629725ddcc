"""Calls of the API with the caller's own credentials, and what they were answered."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final, Protocol

import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from delayer_client.calls.times import http_date
from delayer_client.operator.verify.instants import Millis

TIMEOUT: Final = urllib3.Timeout(connect=5, read=30)
TRIES: Final = 4  # of a call that was answered 429 or 503, or not at all
AT_ONCE: Final = 32  # connections
LONGEST_WAIT: Final = 60  # seconds before such a call is repeated


class NoAnswer(Exception):
    """A call was not answered in any of its tries; the text says which and why."""


class Signs(Protocol):
    """How a call shows who makes it."""

    def __call__(self, request: AWSRequest) -> Mapping[str, str]:
        """The headers to send, those of the request among them."""
        ...


@dataclass(frozen=True, kw_only=True)
class WithSignature:
    """AWS Signature Version 4, for ApiAuthorization=AWS_IAM."""

    credentials: Credentials
    region: str

    def __call__(self, request: AWSRequest) -> Mapping[str, str]:
        """Signed with what the caller's boto3 is configured with."""
        SigV4Auth(self.credentials.get_frozen_credentials(), "execute-api", self.region).add_auth(request)
        return dict(request.headers.items())


@dataclass(frozen=True, kw_only=True)
class WithToken:
    """A token, for ApiAuthorization=JWT."""

    token: str = field(repr=False)

    def __call__(self, request: AWSRequest) -> Mapping[str, str]:
        """The same for every call."""
        return {**dict(request.headers.items()), "Authorization": f"Bearer {self.token}"}


def unsigned(request: AWSRequest) -> Mapping[str, str]:
    """No credentials, for one machine."""
    return dict(request.headers.items())


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a call."""

    status: int
    content: dict[str, Any]  # empty if the body was no JSON object

    def why(self) -> str:
        """One line for people."""
        detail = self.content.get("detail") or self.content.get("message") or json.dumps(self.content)
        return f"{self.status} {str(detail)[:200]}"


@dataclass(kw_only=True)
class Api:
    """The API at one address. It may be used by several threads."""

    url: str
    sign: Signs
    other_calls: int = 0  # beside the creations
    clock_differences: list[float] = field(default_factory=list)  # seconds that the other clock is ahead of this one
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=AT_ONCE, retries=False))

    def post(self, path: str, content: object, key: str = "") -> Answer:
        """A POST; with an idempotency key, so that a repeated one creates nothing twice."""
        return self.call("POST", path, content, {"Idempotency-Key": key} if key else {})

    def get(self, path: str) -> Answer:
        """A GET."""
        return self.call("GET", path)

    def delete(self, path: str) -> Answer:
        """A DELETE."""
        return self.call("DELETE", path)

    def call(self, method: str, path: str, content: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """One call; repeated as long as the answer says so. Errors: NoAnswer."""
        answer = NoAnswer("it was never tried")
        for number in range(TRIES):
            outcome, wait = self._try(method, path, content, {"Content-Type": "application/json", **(headers or {})})
            if isinstance(outcome, Answer) and not wait:
                return outcome
            answer = outcome if isinstance(outcome, NoAnswer) else NoAnswer(f"{method} {path}: {outcome.why()}")
            if number < TRIES - 1:
                time.sleep(min(wait, LONGEST_WAIT))
        raise answer

    def _try(
        self, method: str, path: str, content: object, headers: Mapping[str, str]
    ) -> tuple[Answer | NoAnswer, float]:
        """The answer, and the seconds to wait before it is tried again; 0 for an answer that stands."""
        body = b"" if content is None else json.dumps(content).encode()
        url = self.url + path
        began = time.time()
        self.other_calls += method != "POST"
        try:
            signed = self.sign(AWSRequest(method=method, url=url, data=body, headers=dict(headers)))
            response = self.pool.request(method, url, body=body, headers=signed, timeout=TIMEOUT, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            return NoAnswer(f"{method} {url}: {error}"), 1
        self._compare_clocks(response.headers.get("date", ""), (began + time.time()) / 2)
        answer = Answer(status=response.status, content=_object(response.data))
        repeated = response.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
        return answer, float(response.headers.get("retry-after", "1")) if repeated else 0

    def _compare_clocks(self, date: str, now: float) -> None:
        """The header shows whole seconds: on average it is half a second behind."""
        if date:
            self.clock_differences.append(http_date(date).timestamp() + 0.5 - now)

    def clock_difference(self) -> float:
        """Seconds that the clock of AWS is ahead of this machine's, to about a second; 0 before the first answer."""
        seen = sorted(self.clock_differences)
        return seen[len(seen) // 2] if seen else 0


def _object(data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data)
    except ValueError:
        return {"message": data[:200].decode(errors="replace")}
    return content if isinstance(content, dict) else {}


def now() -> Millis:
    """This machine's clock."""
    return time.time_ns() // 1_000_000
