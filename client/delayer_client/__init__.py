"""The client of Delayer: schedules actions, and asks what became of them.

    delayer = Delayer("http://localhost:8080")
    schedule = delayer.schedule(HttpRequest(url="https://example.com/hook"), delay=timedelta(minutes=5))
    delayer.cancel(schedule.id)  # true only if it will never be handed over

`AsyncDelayer` is the same with `await`. Every exception is a `DelayerError`.
"""

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
