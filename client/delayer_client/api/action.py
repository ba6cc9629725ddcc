"""Actions and policies of any type: a team's own included."""

from typing import Any

from delayer_client.api import models
from delayer_client.api.base import Model
from delayer_client.api.masking import described

# What a stack has by itself, each with its fields.
BuiltInAction = (
    models.EventPut | models.HttpRequest | models.LambdaInvoke | models.SnsPublish | models.SqsSend | models.StepStart
)
BuiltInPolicy = models.NextBusinessHour | models.Spread


class Action:
    """An action of any type of `GET /actions`: `Action("slack-post", channel="#a")`.

    Fields are named as in the API, so `Action("http-request", timeoutSeconds=5)`.
    """

    def __init__(self, type: str, **fields: Any) -> None:  # noqa: A002 - the API's word
        self.type = type
        self.fields = fields

    def as_json(self) -> dict[str, Any]:
        """As the API takes it."""
        return {"type": self.type, **{name: plain(value) for name, value in self.fields.items()}}

    def __repr__(self) -> str:
        return described("Action", {"type": self.type, **self.fields})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Action) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash(self.type)


class Policy:
    """A policy of any name: `Policy("next-full-hour", timeZone="Europe/Lisbon")`."""

    def __init__(self, policy: str, **fields: Any) -> None:
        self.policy = policy
        self.fields = fields

    def as_json(self) -> dict[str, Any]:
        """As the API takes it."""
        return {"policy": self.policy, **{name: plain(value) for name, value in self.fields.items()}}

    def __repr__(self) -> str:
        return described("Policy", {"policy": self.policy, **self.fields})


AnyAction = BuiltInAction | Action
AnyPolicy = BuiltInPolicy | Policy


def plain(value: Any) -> Any:
    """The form of it that the API takes."""
    return value.as_json() if isinstance(value, (Model, Action, Policy)) else value
