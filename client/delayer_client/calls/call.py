"""One request to the API, as data: nothing is sent here."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import msgspec
from attrs import field, frozen

from delayer_client.calls.decoding import decoded
from delayer_client.errors import NotUnderstood, Refused, WrongArgument

Value = TypeVar("Value")


class Repeat(Enum):
    """Whether a call may be sent again when it is not known what became of it."""

    ALWAYS = auto()  # the same call again has the same effect and a true answer
    WITH_KEY = auto()  # so it has with an Idempotency-Key, which is added
    NEVER = auto()  # the caller has to look first


@frozen
class Answer:
    """The answer that came back."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(factory=dict)  # names in lower case


def _raise(problem: Refused, _unclear: bool) -> Any:
    raise problem


@frozen(kw_only=True)
class Call(Generic[Value]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Answer], Value]
    query: Mapping[str, str] = field(factory=dict)
    body: Any = None  # what is encoded as JSON; None: no body
    headers: Mapping[str, str] = field(factory=dict)
    repeat: Repeat = Repeat.ALWAYS
    # What a refusal says: `unclear` if an earlier try may have been applied. Raises it, or returns an answer.
    refused: Callable[[Refused, bool], Value] = _raise

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.method} {self.path}"


def a(kind: type[Value]) -> Callable[[Answer], Value]:
    """Reads an answer as this class."""

    def read(answer: Answer) -> Value:
        try:
            return decoded(answer.body, kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotUnderstood(f"The answer is not what Delayer gives: {error}") from error

    return read


def nothing(_answer: Answer) -> None:
    """Reads an answer without a body."""


def path(*parts: str) -> str:
    """A path with each part quoted. Raises WrongArgument for an id or a name that would be another path."""
    if any(part in ("", ".", "..") for part in parts):
        raise WrongArgument("An id or a name is not empty, and neither . nor ..")
    return "/" + "/".join(quote(part, safe="") for part in parts)


def given(**values: Any) -> dict[str, Any]:
    """Returns the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}
