"""A Delayer, as the import of EventBridge's schedules needs it: bodies are passed on byte for byte."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from attrs import frozen

from delayer_client.calls.call import Answer as Response
from delayer_client.calls.call import Call, Repeat, a, path
from delayer_client.errors import Conflict, Invalid, NoAnswer, Refused, Unavailable
from delayer_client.eventbridge import Answer, Unanswered

if TYPE_CHECKING:
    from delayer_client import Delayer


@frozen
class ToDelayer:
    """Protocol Destination."""

    delayer: "Delayer"

    def put_schedule(self, name: str, body: bytes) -> Answer:
        """Only if no live one has the name."""
        return self._send("PUT", path("schedules", "by-name", name), body, {"If-None-Match": "*"})

    def put_series(self, name: str, body: bytes) -> Answer:
        """Only if no live one has the name."""
        return self._send("PUT", path("series", "by-name", name), body, {"If-None-Match": "*"})

    def get_schedule(self, name: str) -> Answer:
        """The one that has the name."""
        return self._send("GET", path("schedules", "by-name", name))

    def get_series(self, name: str) -> Answer:
        """The one that has the name."""
        return self._send("GET", path("series", "by-name", name))

    def preview_series(self, body: bytes) -> Answer:
        """The next times of a rule."""
        return self._send("POST", path("series", "preview"), body)

    def _send(self, method: str, where: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        call = Call(
            method=method,
            path=where,
            body=msgspec.Raw(body) if body else None,
            headers=headers or {},
            repeat=Repeat.WITH_KEY if method == "PUT" else Repeat.ALWAYS,
            read=_read,
            refused=_refused,
        )
        try:
            return self.delayer.send(call)
        except NoAnswer as error:
            raise Unanswered(str(error)) from error


def _read(response: Response) -> Answer:
    return Answer(response.status, a(dict[str, Any])(response))


def _refused(refused: Refused, unclear: bool) -> Answer:
    """After a try that may have been applied, only what is said of the request itself, or of its name, is an answer."""
    if isinstance(refused, Unavailable) or (unclear and not isinstance(refused, Invalid | Conflict)):
        raise Unanswered(str(refused)) from refused
    return Answer(refused.status, refused.problem.as_json())
