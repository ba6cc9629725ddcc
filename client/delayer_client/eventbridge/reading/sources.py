"""The facts that EventBridge says of schedules, rules and API destinations, under the names that AWS gives the fields.

Only the fields that matter for a move are named; all others are passed over. Source: the API references of EventBridge
Scheduler (GetSchedule, ListSchedules) and of EventBridge (ListRules, ListTargetsByRule, DescribeApiDestination,
DescribeConnection).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, field

from delayer_client.errors import DelayerError

DEFAULT: Final = "default"  # the name of the group, and of the event bus, that every account has
Instant = Annotated[datetime, Meta(tz=True)]


class ReadingError(DelayerError, ValueError):
    """The text that was read is not what AWS prints; or the account cannot be read. The text says where and
    what to do.
    """


class _Of(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A structure of AWS's."""


class RetryPolicy(_Of, frozen=True):
    """How often, and for how long, EventBridge repeats a call that failed."""

    maximum_retry_attempts: Annotated[int, Meta(ge=0, le=185)] = 185
    maximum_event_age_in_seconds: Annotated[int, Meta(ge=60, le=86_400)] = 86_400


class DeadLetterConfig(_Of, frozen=True):
    """The queue that gets what has failed for good."""

    arn: str = ""


class SqsParameters(_Of, frozen=True):
    """Of a queue, FIFO or fair."""

    message_group_id: str = ""


class EventBridgeParameters(_Of, frozen=True):
    """Of an event on a bus."""

    source: str
    detail_type: str


class FlexibleTimeWindow(_Of, frozen=True):
    """Within how many minutes after its time a schedule fires."""

    mode: Literal["OFF", "FLEXIBLE"] = "OFF"
    maximum_window_in_minutes: Annotated[int, Meta(ge=1, le=1_440)] | None = None


class Target(_Of, frozen=True):
    """The target that a schedule of EventBridge Scheduler calls."""

    arn: str
    role_arn: str = ""
    input: str | None = None
    retry_policy: RetryPolicy = RetryPolicy()
    dead_letter_config: DeadLetterConfig = DeadLetterConfig()
    sqs_parameters: SqsParameters = SqsParameters()
    event_bridge_parameters: EventBridgeParameters | None = None


class Schedule(_Of, frozen=True):
    """A schedule of EventBridge Scheduler, as `get-schedule` prints it."""

    name: str
    schedule_expression: str
    target: Target
    arn: str = ""
    group_name: str = DEFAULT
    schedule_expression_timezone: str = "UTC"
    state: str = "ENABLED"
    description: str = ""
    start_date: Instant | None = None
    end_date: Instant | None = None
    creation_date: Instant | None = None
    flexible_time_window: FlexibleTimeWindow = FlexibleTimeWindow()
    action_after_completion: str = "NONE"
    kms_key_arn: str = ""


class InputTransformer(_Of, frozen=True):
    """A template, and the paths of the event that are put into it."""

    input_template: str
    input_paths_map: Mapping[str, str] = {}


class HttpParameters(_Of, frozen=True):
    """The parts that are added to the request to an API destination."""

    path_parameter_values: tuple[str, ...] = ()
    header_parameters: Mapping[str, str] = {}
    query_string_parameters: Mapping[str, str] = {}


class RuleTarget(_Of, frozen=True):
    """One of up to five targets of a rule."""

    id: str
    arn: str
    role_arn: str = ""
    input: str | None = None
    input_path: str | None = None
    input_transformer: InputTransformer | None = None
    retry_policy: RetryPolicy = RetryPolicy()
    dead_letter_config: DeadLetterConfig = DeadLetterConfig()
    sqs_parameters: SqsParameters = SqsParameters()
    http_parameters: HttpParameters = HttpParameters()


class Rule(_Of, frozen=True):
    """A rule of an event bus, as `list-rules` and `describe-rule` print it, with its targets beside it."""

    name: str
    arn: str = ""
    event_bus_name: str = DEFAULT
    schedule_expression: str = ""
    event_pattern: str = ""
    state: str = "ENABLED"
    description: str = ""
    managed_by: str = ""
    targets: tuple[RuleTarget, ...] | None = None  # None: they have not been read


class ApiDestination(_Of, frozen=True):
    """Where an API destination leads, as `describe-api-destination` prints it."""

    api_destination_arn: str
    name: str
    invocation_endpoint: str
    http_method: str
    connection_arn: str
    invocation_rate_limit_per_second: int | None = None


class Parameter(_Of, frozen=True):
    """A header, or a field of the query or of the body, that a connection adds. AWS shows no secret values."""

    key: str
    value: str = ""
    is_value_secret: bool = False


class ConnectionParameters(_Of, frozen=True):
    """The parts that a connection adds to each request."""

    header_parameters: tuple[Parameter, ...] = ()
    query_string_parameters: tuple[Parameter, ...] = ()
    body_parameters: tuple[Parameter, ...] = ()


class ApiKeyAuth(_Of, frozen=True):
    """The header with the key."""

    api_key_name: str = ""


class OAuth(_Of, frozen=True):
    """Where tokens are fetched."""

    authorization_endpoint: str = ""


class AuthParameters(_Of, frozen=True):
    """The part of the credentials that AWS shows."""

    api_key_auth_parameters: ApiKeyAuth = ApiKeyAuth()
    oauth_parameters: OAuth = field(default=OAuth(), name="OAuthParameters")
    invocation_http_parameters: ConnectionParameters = ConnectionParameters()


class Connection(_Of, frozen=True):
    """The credentials of an API destination, without the secret, as `describe-connection` prints it."""

    connection_arn: str
    name: str
    authorization_type: str
    auth_parameters: AuthParameters = AuthParameters()
    invocation_connectivity_parameters: Mapping[str, object] | None = None  # given for private APIs


class Gap(Struct, frozen=True, kw_only=True):
    """Something that there is, or may be, and could not be read."""

    what: str
    why: str
    remedy: str


class Found(Struct, frozen=True, kw_only=True):
    """All that was read."""

    schedules: tuple[Schedule, ...] = ()
    rules: tuple[Rule, ...] = ()
    destinations: Mapping[str, ApiDestination] = {}  # by ARN
    connections: Mapping[str, Connection] = {}  # by ARN
    cut_off: frozenset[tuple[str, str]] = frozenset()  # bus and name of rules that may have more targets than were read
    gaps: tuple[Gap, ...] = ()
