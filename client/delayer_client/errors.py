"""The exceptions of this package: each of them is a DelayerError."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from delayer_client.api.models import FieldProblem, Problem


def install(*extras: str) -> str:
    """How extras of this package are installed: by the path of its folder in Delayer's repository, or of its wheel.

    It is on no index: a package of its name there would be that of somebody else.
    """
    return f"In Delayer's repository: pip install './client[{','.join(extras)}]'"


class DelayerError(Exception):
    """Anything that this package raises by itself."""


class WrongArgument(DelayerError, ValueError):
    """The call cannot be made from these arguments. Nothing was sent."""


class NoCredentials(DelayerError):
    """The API asks for credentials, and none were found; or the package that signs is not installed."""


class NoAnswer(DelayerError):
    """The API did not answer, also after the repeats.

    `may_be_applied` says whether the call may have been carried out nevertheless.
    """

    def __init__(self, message: str, may_be_applied: bool = True) -> None:
        super().__init__(message, may_be_applied)
        self.may_be_applied = may_be_applied

    def __str__(self) -> str:
        return str(self.args[0])


class NotEnded(DelayerError, TimeoutError):
    """The schedule has not ended within the timeout of the wait. It goes on."""


class NotUnderstood(DelayerError):
    """The answer is not what Delayer answers: perhaps the URL is that of something else."""


class Refused(DelayerError):
    """The API has answered with a problem (RFC 9457). Its fields are in `problem`.

    `may_be_applied` says whether the call, or an earlier try of it without an answer, may have been carried out.
    """

    def __init__(self, problem: "Problem", retry_after: float | None = None, may_be_applied: bool = False) -> None:
        super().__init__(problem, retry_after, may_be_applied)
        self.problem = problem
        self.retry_after = retry_after  # seconds
        self.may_be_applied = may_be_applied

    def __str__(self) -> str:
        unclear = " It is not known whether it was carried out, or an earlier try of it." if self.may_be_applied else ""
        return sentence(self.problem) + unclear

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.problem.status

    @property
    def reason(self) -> str:
        """The problem's type in short, such as `handed-over`; its status if it has none."""
        _, found, short = self.problem.type.rpartition(":problem:")
        return short if found else str(self.problem.status)

    @property
    def errors(self) -> "Sequence[FieldProblem]":
        """Each wrong field, with what is allowed."""
        return self.problem.errors or ()


class Invalid(Refused):
    """422, 400 or 413: fields are wrong, each named in `errors`; or an idempotency key came with another body."""


class NotAllowed(Refused):
    """401 or 403: the caller is not known, may not call, or its owner policy is against it."""


class NotFound(Refused):
    """404: it was never issued here, or it belongs to another owner."""


class Conflict(Refused):
    """409 or 412: what it is at present does not allow the call. Nothing was changed."""


class Expired(Refused):
    """410: it was due more than 29 days ago."""


class OverQuota(Refused):
    """429: too many calls or schedules; `retry_after` says when to try again."""


class Unavailable(Refused):
    """5xx, also after the repeats. The call may have been carried out."""


_BY_STATUS: dict[int, type[Refused]] = {
    400: Invalid,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    405: NotFound,
    409: Conflict,
    410: Expired,
    412: Conflict,
    413: Invalid,
    422: Invalid,
    429: OverQuota,
}


def refusal(problem: "Problem", retry_after: float | None = None) -> Refused:
    """The exception for a problem."""
    kind = Unavailable if problem.status >= 500 else _BY_STATUS.get(problem.status, Refused)
    return kind(problem, retry_after)


def sentence(problem: "Problem") -> str:
    """The problem for a person, each wrong field with what is allowed."""
    fields = "".join(
        f"\n  {one.field}: {one.problem}" + (f"; allowed: {one.allowed}" if one.allowed else "")
        for one in problem.errors or ()
    )
    return f"{problem.detail or problem.title} ({problem.status}){fields}"
