"""Why a call of the API is refused: errors that carry what their client is told (RFC 9457, ADR 0028)."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from attrs import frozen


@frozen(kw_only=True)
class FieldError:
    """One error: the place, the text, and what is allowed."""

    field: str  # a path like `action.url`; empty for the body as a whole
    problem: str
    allowed: str = ""

    def shown(self) -> dict[str, str]:
        """As an answer has it."""
        shown = {"field": self.field, "problem": self.problem}
        return {**shown, "allowed": self.allowed} if self.allowed else shown


class Problem(Exception):
    """The call is refused, and nothing was done. Its text is the `detail` of the answer."""

    status: ClassVar[int]  # of HTTP
    kind: ClassVar[str]  # the end of its `type`
    title: ClassVar[str]

    @property
    def members(self) -> Mapping[str, object]:
        """The members that its answer has beside those of every problem."""
        return {}

    @property
    def retry_after_seconds(self) -> int | None:
        """When the same call may succeed; None: it never will."""
        return None


class NotJson(Problem):
    """The body is not a JSON object in UTF-8. Its text is the reason."""

    status = 400
    kind = "not-json"
    title = "The body is not a JSON object"


class TooLarge(Problem):
    """The body is over MAX_BODY_BYTES. Its text says by how much."""

    status = 413
    kind = "body-too-large"
    title = "The body is too large"


class Invalid(Problem):
    """One or more fields are wrong."""

    status = 422
    kind = "invalid-fields"
    title = "One or more fields are wrong"

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        first = "; ".join(f"{one.field or 'the body'}: {one.problem}" for one in self.errors[:3])
        more = len(self.errors) - 3
        super().__init__(first + (f"; and {more} more" if more > 0 else ""))

    @property
    def members(self) -> Mapping[str, object]:
        """All that is wrong at once."""
        return {"errors": [one.shown() for one in self.errors]}
