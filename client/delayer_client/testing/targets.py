"""The targets of all actions: each attempt is remembered, and answered as the test says."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from attrs import define, evolve, field

from delayer.actions.rules.model import Message, Refused, Result
from delayer.engines.ports import Clock
from delayer.masking.anyhow import MOST_BODY, kept
from delayer.masking.secrets import header_without_secrets, without_secrets
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import ExecutorMessage
from delayer.targets.http_answer import HttpAnswer, seconds_of
from delayer.targets.http_request import Request, TargetForbidden, headers_of, result_of, target_of
from delayer_client.calls.decoding import decoded
from delayer_client.testing.attempts import Answer, Answers, Attempt

HTTP: Final = "http-request"
SECONDS_OF_TOKENS: Final = 3600


def datetime_of(instant: Millis) -> datetime:
    """In UTC."""
    return datetime.fromtimestamp(instant / SECOND, UTC).replace(microsecond=instant % SECOND * 1000)


@define(kw_only=True)
class Targets:
    """Port Target, for all types of actions."""

    clock: Clock
    ask_test: Answers  # what a test says
    reached: list[Attempt] = field(factory=list)
    http: Callable[[ExecutorMessage], Result] | None = None  # the executor of http-request
    _action: Mapping[str, Any] = field(factory=dict)  # of the attempt that is being made

    def __call__(self, message: ExecutorMessage) -> Result:
        """One attempt. Of an http-request it is made by its executor, up to the connection."""
        action = json.loads(message.schedule.definition.action)
        if action["type"] == HTTP and self.http:
            self._action = action
            return self.http(message)
        schedule = message.schedule
        seen = Message[None](
            action=None,
            payload=schedule.definition.payload,
            schedule_id=schedule.id,
            owner=schedule.owner,
            point_in_time=schedule.point_in_time,
            attempt=message.attempt,
        )
        answer = self._answer(self._attempt(action, seen))
        return answer.result or result_of(_answered(answer), ())

    def send(self, request: Request, message: Message[Any]) -> Result:
        """As HttpTarget does: the request that would be sent, and what follows from the answer."""
        try:
            headers = headers_of(target_of(request), request, message)
        except TargetForbidden as error:
            return Refused(str(error), reached=False)
        action = self._action if message.action else {"type": HTTP, "url": request.url}  # none: a connection is tried
        attempt = evolve(
            self._attempt(action, message),
            headers={name.lower(): value for name, value in headers.items()},
            body=message.payload.encode(),
        )
        answer = self._answer(attempt)
        result = answer.result or result_of(_answered(answer), request.done)
        return result if request.keep is None or not answer.status else evolve(result, answer=_kept(answer, request))

    def ask(self, request: Request, body: bytes, at_most: int) -> tuple[int, bytes]:  # noqa: ARG002 - as HttpTarget
        """Every token endpoint gives a token."""
        token = {"access_token": f"token-of-{request.url}", "token_type": "Bearer", "expires_in": SECONDS_OF_TOKENS}
        return 200, json.dumps(token).encode()

    def _attempt(self, action: Mapping[str, Any], message: Message[Any]) -> Attempt:
        return Attempt(
            schedule_id=message.schedule_id,
            owner=message.owner,
            action_type=action["type"],
            action={name: value for name, value in action.items() if name != "type"},
            payload=decoded(message.payload, object) if message.payload else None,
            number=message.attempt,
            at=datetime_of(self.clock.now()),
            due=datetime_of(message.point_in_time),
        )

    def _answer(self, attempt: Attempt) -> Answer:
        self.reached.append(attempt)
        return self.ask_test(attempt)


def _answered(answer: Answer) -> HttpAnswer:
    return HttpAnswer(status=answer.status, retry_after=seconds_of(answer.headers.get("retry-after", "")))


def _kept(answer: Answer, request: Request) -> str:
    """Of an answer that its client wants to see."""
    names, secrets = request.keep or (), request.secrets
    shown = without_secrets(answer.body[:MOST_BODY], secrets, is_whole=len(answer.body) <= MOST_BODY)
    headers = [
        (name, header_without_secrets(value, secrets)) for name, value in answer.headers.items() if name in names
    ]
    return kept(answer.status, 0, headers, shown, is_whole=len(answer.body) <= MOST_BODY)
