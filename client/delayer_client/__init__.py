"""The client of Delayer: schedules actions, and asks what became of them.

    delayer = Delayer("http://localhost:8080")
    schedule = delayer.schedule(HttpRequest(url="https://example.com/hook"), delay=timedelta(minutes=5))
    delayer.cancel(schedule.id)  # true only if it will never be handed over

`AsyncDelayer` is the same with `await`. Every exception is a `DelayerError`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if sys.version_info < (3, 11):  # noqa: UP036 - a checkout can be tried with it; pip refuses to install the package
    TOO_OLD = f"Delayer needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Take another one."
    if sys.argv[:1] != ["-m"]:
        raise ImportError(TOO_OLD)
    sys.stderr.write(TOO_OLD + "\n")  # whoever types `python -m delayer_client.cli` needs no stack trace
    raise SystemExit(2)

if TYPE_CHECKING:
    from delayer_client.api.action import Action, Policy
    from delayer_client.api.models import (
        ApiKeyConnection,
        Backoff,
        BasicConnection,
        BearerConnection,
        Connection,
        Dst,
        EventPut,
        HttpRequest,
        Job,
        LambdaInvoke,
        NextBusinessHour,
        OAuth2Connection,
        OnLate,
        Problem,
        Repeat,
        Retry,
        Schedule,
        Series,
        SnsPublish,
        Spread,
        SqsSend,
        StepStart,
    )
    from delayer_client.asynchronous.client import AsyncDelayer
    from delayer_client.calls.schedules import NOT_GIVEN, BatchResult, Cancellation, NewSchedule
    from delayer_client.calls.series import REMOVED, NewSeries, PutSeries
    from delayer_client.errors import (
        Conflict,
        DelayerError,
        Expired,
        Invalid,
        NoAnswer,
        NoCredentials,
        NotAllowed,
        NotEnded,
        NotFound,
        NotUnderstood,
        OverQuota,
        Refused,
        Unavailable,
        WrongArgument,
    )
    from delayer_client.synchronous.client import Delayer
    from delayer_client.transport.attempts import Retrying
    from delayer_client.transport.credentials import Aws, Nothing, Token

__all__ = [
    "NOT_GIVEN",
    "REMOVED",
    "Action",
    "ApiKeyConnection",
    "AsyncDelayer",
    "Aws",
    "Backoff",
    "BasicConnection",
    "BatchResult",
    "BearerConnection",
    "Cancellation",
    "Conflict",
    "Connection",
    "Delayer",
    "DelayerError",
    "Dst",
    "EventPut",
    "Expired",
    "HttpRequest",
    "Invalid",
    "Job",
    "LambdaInvoke",
    "NewSchedule",
    "NewSeries",
    "NextBusinessHour",
    "NoAnswer",
    "NoCredentials",
    "NotAllowed",
    "NotEnded",
    "NotFound",
    "NotUnderstood",
    "Nothing",
    "OAuth2Connection",
    "OnLate",
    "OverQuota",
    "Policy",
    "Problem",
    "PutSeries",
    "Refused",
    "Repeat",
    "Retry",
    "Retrying",
    "Schedule",
    "Series",
    "SnsPublish",
    "Spread",
    "SqsSend",
    "StepStart",
    "Token",
    "Unavailable",
    "WrongArgument",
]

# A name is looked up when it is used first: whoever only asks the command line for help does not wait for httpx.
_ROOMS: Final = (
    "errors",
    "api.action",
    "api.models",
    "calls.schedules",
    "calls.series",
    "transport.credentials",
    "transport.attempts",
    "asynchronous.client",
    "synchronous.client",
)


def __getattr__(name: str) -> Any:
    """As Python asks for a name that the module does not have yet."""
    if name in __all__:
        for room in _ROOMS:
            found = vars(import_module(f"{__name__}.{room}")).get(name)
            if found is not None:
                return globals().setdefault(name, found)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """For completion."""
    return sorted({*globals(), *__all__})
