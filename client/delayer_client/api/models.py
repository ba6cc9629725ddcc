"""The classes of the API. Made by `make contract` from openapi.yaml: do not edit."""

# ruff: noqa
from __future__ import annotations
from datetime import date, datetime
from typing import Any, Literal, TypeAlias
from delayer_client.api.base import Model
from msgspec import field as named


class BackfillRequest(Model, frozen=True, kw_only=True):
    """A range of the past."""

    from_: str = named(name="from")
    "Its first instant: RFC 3339 with an offset."
    until: str
    "The first instant after it, which must have passed: RFC 3339 with an offset."


class Dst(Model, frozen=True, kw_only=True):
    """The rule for times that a change of the clocks leaves out, or shows twice."""

    gap: str | None = None
    "`shift`: at the first instant after the change, once for all that were left out. `skip`: not at all, which is the default for `cron(…)`."
    overlap: str | None = None
    "`first`: once. `both`: twice."


class Repeat(Model, frozen=True, kw_only=True):
    """A rule of recurrence. Give exactly one of `cron` and `every`. There is at most one time in a minute. In an answer, all is stated that a request may leave out."""

    cron: str | None = None
    "Five fields, as in Debian's cron: names, lists, steps, `L`, `W` and `#` are allowed. Or a nickname of cron, such as `@daily`, which is shown as its five fields. Or an expression of EventBridge, `cron(…)` of six fields or `rate(…)`."
    every: str | None = None
    "An ISO 8601 duration of at least one minute. Hours, minutes and seconds are exact. Days, weeks, months and years are counted by the clock of `timeZone`, which is then required."
    time_zone: str | None = named(name="timeZone", default=None)
    "A zone of the IANA database."
    anchor: str | None = None
    "With `every`: a time of the rule, from which the others are counted. Without it, `from` or the creation of the series, which is then no time itself."
    from_: str | None = named(name="from", default=None)
    "No time is before it. RFC 3339, or by the clock of `timeZone` a date with or without a time. One that the clock leaves out is the first instant after the change."
    until: str | None = None
    "No time is after it, as `from`. A date is the whole day."
    count: int | None = None
    "How many times there are in all, missed ones included."
    on_missed: str | None = named(name="onMissed", default=None)
    "The rule for times that passed during an outage. `skip`: nothing. `once`: the last of them is made up. `all`: all of them, at most 1,000."
    dst: Dst | None = None
    "The rule for times that a change of the clocks leaves out, or shows twice."


Overlap: TypeAlias = str
"The rule for an occurrence that is due while the one before it still runs. `allow`: both run. `skip`: the later one is left out. `queue-one`: the last one that became due meanwhile runs afterwards."
Name: TypeAlias = str
Group: TypeAlias = str
Tags: TypeAlias = dict[str, str]
"The client's own texts. They are shown with the schedule and its events; nothing in Delayer reads them."


class Window(Model, frozen=True, kw_only=True):
    """A flexible window: the schedule fires once within so many seconds after its time, and never before it. Where in the window follows from the random part of its id, so that many schedules for the same time are spread evenly."""

    seconds: int


class NextBusinessHour(Model, frozen=True, kw_only=True, tag_field="policy", tag="next-business-hour"):
    """At once within business hours, otherwise when they begin next."""

    time_zone: str | None = named(name="timeZone", default=None)
    "Of the IANA database. UTC if it is left out."
    hours: dict[str, list[str]] | None = None
    "By day, MON to SUN; a day that is not there is closed. Monday to Friday, 09:00-17:00, if it is left out."
    holidays: list[date] | None = None
    "Dates that are closed."


class Spread(Model, frozen=True, kw_only=True, tag_field="policy", tag="spread"):
    """Some time within so many seconds after the schedule was accepted, evenly over all schedules."""

    seconds: int
    "How long the window is, a year at most."


class OnLate(Model, frozen=True, kw_only=True):
    """The rule for a schedule that would be handed over later than `after`, an ISO 8601 duration of days, hours, minutes and seconds. `fire`: it fires nevertheless. `drop`: it ends as `dropped`. Without this rule, and after a redrive, it fires however late it is."""

    after: str
    do: str


class Backoff(Model, frozen=True, kw_only=True):
    """The delay between two attempts. Each is shortened by up to a quarter, so that schedules that failed together do not come back together. If the target asks for a delay with `Retry-After`, that one is used."""

    first: int | None = None
    "Seconds before the second attempt."
    factor: float | None = None
    "How many times as long as the one before each delay is. Fractions are allowed."
    max: int | None = None
    "Seconds beyond which no delay grows; `first`, if that is more."


class Retry(Model, frozen=True, kw_only=True):
    """How an attempt that may succeed later is repeated. The schedule fails after `maxAttempts` attempts, or when the next one would be made later than `maxAgeSeconds` after the first, whatever comes first. The first is always made."""

    max_attempts: int | None = named(name="maxAttempts", default=None)
    "The number of attempts."
    max_age_seconds: int | None = named(name="maxAgeSeconds", default=None)
    "Seconds from the first attempt to the last that may follow. 24 hours by default, 14 days at most."
    backoff: Backoff | None = None
    "The delay between two attempts. Each is shortened by up to a quarter, so that schedules that failed together do not come back together. If the target asks for a delay with `Retry-After`, that one is used."


class EventPut(Model, frozen=True, kw_only=True, tag_field="type", tag="event-put"):
    """An event on an EventBridge bus, whose detail is the payload."""

    event_bus_arn: str = named(name="eventBusArn")
    source: str
    detail_type: str = named(name="detailType")
    role_arn: str | None = named(name="roleArn", default=None)
    "A role that is assumed for the call, such as one of another account. The stack must allow it, and its trust policy must ask for the owner as the external id."


class HttpRequest(Model, frozen=True, kw_only=True, tag_field="type", tag="http-request"):
    """An HTTP request. Every answer except 2xx is a failure; redirects are not followed."""

    url: str
    "An absolute http or https URL in ASCII, without user name and password. It is sent byte for byte. Nobody but the target sees its query."
    method: Literal["DELETE", "GET", "PATCH", "POST", "PUT"] | None = None
    headers: dict[str, str] | None = None
    "Headers of the request. Nobody but the target sees the value of one with a sensitive name, such as Authorization, Cookie or X-Api-Key. Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and those that begin with Delayer- or Webhook- cannot be given, because Delayer sets them."
    timeout_seconds: int | None = named(name="timeoutSeconds", default=None)
    "How long the target may take to answer one attempt."
    keep_answer: bool | None = named(name="keepAnswer", default=None)
    "Whether the answer to each attempt is kept in the history: its status, its duration in milliseconds, some headers, and the first KB of its body if that is a text. What has a name like a secret's is masked."
    keep_headers: list[str] | None = named(name="keepHeaders", default=None)
    "With keepAnswer, names of headers that are kept beside Content-Type, Content-Length, Content-Encoding, Retry-After and X-Request-Id."
    connection: str | None = None
    "The name of a connection of the same owner: see PUT /connections/{name}. It sets a header with a secret that is stored apart. The same header cannot be given by hand."


class LambdaInvoke(Model, frozen=True, kw_only=True, tag_field="type", tag="lambda-invoke"):
    """A call of a Lambda function. It gets an object with the payload, and with what Delayer says of the schedule."""

    function_arn: str = named(name="functionArn")
    invocation_type: Literal["Event", "RequestResponse"] | None = named(name="invocationType", default=None)
    "With RequestResponse, the attempt waits for the function, for 25 seconds at most, and fails if the function fails."
    role_arn: str | None = named(name="roleArn", default=None)
    "A role that is assumed for the call, such as one of another account. The stack must allow it, and its trust policy must ask for the owner as the external id."


class SnsPublish(Model, frozen=True, kw_only=True, tag_field="type", tag="sns-publish"):
    """A message to an SNS topic, standard or FIFO, whose text is the payload."""

    topic_arn: str = named(name="topicArn")
    subject: str | None = None
    "The subject of e-mails."
    attributes: dict[str, str] | None = None
    "Attributes of the message, as texts: filters of subscriptions can ask for them."
    message_group_id: str | None = named(name="messageGroupId", default=None)
    "The message group, on a FIFO topic the schedule's own if none is given; on a standard topic for fair queues."
    role_arn: str | None = named(name="roleArn", default=None)
    "A role that is assumed for the call, such as one of another account. The stack must allow it, and its trust policy must ask for the owner as the external id."


class SqsSend(Model, frozen=True, kw_only=True, tag_field="type", tag="sqs-send"):
    """A message to an SQS queue, standard or FIFO, whose body is the payload."""

    queue_url: str = named(name="queueUrl")
    "The URL of the queue. It must be in the account of the stack, or of the role, and in a region that the stack allows, its name must match the pattern of the queues that the stack may send to, and it must not be a queue of the stack itself."
    message_group_id: str | None = named(name="messageGroupId", default=None)
    "Required for a FIFO queue. On a standard queue it is the message group of a fair queue."
    role_arn: str | None = named(name="roleArn", default=None)
    "A role that is assumed for the call, such as one of another account. The stack must allow it, and its trust policy must ask for the owner as the external id."


class StepStart(Model, frozen=True, kw_only=True, tag_field="type", tag="step-start"):
    """An execution of a standard state machine. Its input has the payload, and what Delayer says of the schedule."""

    state_machine_arn: str = named(name="stateMachineArn")
    role_arn: str | None = named(name="roleArn", default=None)
    "A role that is assumed for the call, such as one of another account. The stack must allow it, and its trust policy must ask for the owner as the external id."


class OpenWindow(Model, frozen=True, kw_only=True):
    """The window within which it fires, and where that opens, once it has a time."""

    seconds: int
    from_: datetime | None = named(name="from", default=None)


class ListedTarget(Model, frozen=True, kw_only=True):
    """Its action, and where that goes. Only in lists: there each schedule has it, also after it has left the table, if the journal knows it."""

    type: str
    "The type of its action."
    name: str | None = None
    "The name of the target of an action of this type: the host of a URL, without user and password, and its port if that is not the usual one; the URL of a queue; the ARN of a topic, a function, a state machine or an event bus. It is left out if nothing names a target, or if that is a secret."


class Waiting(Model, frozen=True, kw_only=True):
    """The reason why it still waits, if it is overdue or waits for an attempt. Only in a lookup by id or by name. As long as there was no claim, it can be cancelled."""

    for_: str = named(name="for")
    "`suspension`: an operator has suspended its owner or its target. `circuit`: its target did not answer several times in a row, and is left alone for a while. `crowd`: its target, or others of its owner, take too long for all that is due. `limit`: an operator has said how many attempts reach its target, and more are due."
    reason: str
    "Of a suspension, what the operator has written; of a circuit, the last failure; of a crowd, what it is; of a limit, how many attempts there may be."
    since: datetime
    "From when on it waits, if it was due by then."
    until: datetime | None = None
    "Of a circuit: when its target is probed. Of a crowd: until when nothing more is handed over. Of a limit it is not said. Without it: any moment now."


class Answer(Model, frozen=True, kw_only=True):
    """The part of the answer to the attempt that is kept, if `keepAnswer` asked for it. Secrets are masked."""

    status: int
    duration_ms: int = named(name="durationMs")
    "Until the status and the headers had come."
    headers: dict[str, str] | None = None
    body: str | None = None
    "Its first KB, as a text."
    body_cut: bool | None = named(name="bodyCut", default=None)
    "Whether there was more of it, or not all came in time."
    body_omitted: str | None = named(name="bodyOmitted", default=None)
    "Why there is no body: it is not a text, or no time was left to mask it."


class HistoryEntry(Model, frozen=True, kw_only=True):
    """One transition. Fields that do not apply are left out."""

    event: str
    at: datetime
    "When the transition was made; for `enqueued`, rounded down to the second."
    state: str
    "The state after it."
    estimated: bool | None = None
    "With `enqueued`, before the claim: when it left the table is not known exactly yet."
    attempt: int | None = None
    "The attempt that the event is about."
    probe: bool | None = None
    "With `attempt-failed`. It was made only to see whether the target answers again, and uses up none of `maxAttempts`."
    lateness_ms: int | None = named(name="latenessMs", default=None)
    "How late the first attempt was, in milliseconds."
    attempt_lateness_ms: int | None = named(name="attemptLatenessMs", default=None)
    "With an event that an attempt has led to: how late this one was, in milliseconds. The first is late after the point in time, each other one after the time that its schedule had as `nextAttemptAt`."
    next_attempt_at: datetime | None = named(name="nextAttemptAt", default=None)
    "With `attempt-failed`: when the next attempt is to be made."
    detail: str | None = None
    "The target's answer, or the reason, as a text."
    replaced_by: str | None = named(name="replacedBy", default=None)
    "The id of the schedule that replaced it."
    answer: Answer | None = None
    "The part of the answer to the attempt that is kept, if `keepAnswer` asked for it. Secrets are masked."
    decided_as: str | None = named(name="decidedAs", default=None)
    "With `decided`: the id of the schedule that has its time."
    by: str | None = None
    "The one who asked for it: the caller, with AWS_IAM its session, too; or an operator."


class OccurrenceOf(Model, frozen=True, kw_only=True):
    """Of which series it is an occurrence, and which one. No client can give it."""

    series_id: str = named(name="seriesId")
    number: int
    "Counted from 1; 0 for one that is not a time of the rule."
    time: datetime
    "Its time by the rule, wherever its owner has moved it."


class Occurrence(Model, frozen=True, kw_only=True):
    """Its current occurrence, an ordinary schedule."""

    schedule_id: str = named(name="scheduleId")
    number: int
    "Counted from 1."
    time: datetime
    "Its time by the rule."
    point_in_time: datetime = named(name="pointInTime")
    "When it is due: later than its time in a window, or if its owner has moved it."
    waiting: Waiting | None = None


class Backfill(Model, frozen=True, kw_only=True):
    """The backfill that is under way: its range, and the occurrence that it has put last."""

    from_: datetime = named(name="from")
    until: datetime
    schedule_id: str = named(name="scheduleId")
    time: datetime
    "Its time by the rule."


SeriesState: TypeAlias = str


class ClaimedItem(Model, frozen=True, kw_only=True):
    schedule_id: str = named(name="scheduleId")
    state: str
    claimed_at: datetime | None = named(name="claimedAt", default=None)
    stop: str | None = None
    "If it may still be handed over: a POST here keeps its next attempt from starting."


class SeriesHalted(Model, frozen=True, kw_only=True):
    """A series that is paused or cancelled, and what became of the schedules that might still have been claimed."""

    series_id: str = named(name="seriesId")
    state: SeriesState
    claimed_up_to: int = named(name="claimedUpTo")
    "All occurrences up to this number had been claimed, or had ended, before."
    cancelled: list[str]
    "The ids of those that will never reach an executor."
    claimed: list[ClaimedItem]
    "Those that had been claimed, or had ended, before."


class SeriesOccurrence(Model, frozen=True, kw_only=True):
    """The current occurrence of a series, an ordinary schedule."""

    schedule_id: str = named(name="scheduleId")
    number: int
    "Counted from 1."
    time: datetime
    "Its time by the rule."
    point_in_time: datetime = named(name="pointInTime")
    "When it is due."


class SeriesResumed(Model, frozen=True, kw_only=True):
    """A series that is not paused."""

    series_id: str = named(name="seriesId")
    state: SeriesState
    missed: int
    "How many times of the rule passed since the last one that was used. They are not made up."
    occurrence: SeriesOccurrence | None = None


class TakesEffectAt(Model, frozen=True, kw_only=True):
    """The first occurrence that goes by it. With its id, if it is put already."""

    number: int
    schedule_id: str | None = named(name="scheduleId", default=None)
    time: datetime | None = None
    "Its time by the rule."
    point_in_time: datetime | None = named(name="pointInTime", default=None)
    "When it is due."


class SeriesRun(Model, frozen=True, kw_only=True):
    """An occurrence that is due at once."""

    series_id: str = named(name="seriesId")
    schedule_id: str = named(name="scheduleId")
    time: datetime


class SeriesBackfill(Model, frozen=True, kw_only=True):
    """A backfill that has begun."""

    series_id: str = named(name="seriesId")
    from_: datetime = named(name="from")
    until: datetime
    schedule_id: str = named(name="scheduleId")
    "Its first occurrence."
    time: datetime
    "The time of that one."


class Times(Model, frozen=True, kw_only=True):
    """The next times of a rule."""

    times: list[datetime]
    "In order. Fewer than were asked for, if the rule has no more."
    description: str
    "The rule in words."
    time_zone_database: str = named(name="timeZoneDatabase")
    "The release of the tz database that they are reckoned with."


ConnectionHosts: TypeAlias = list[str]
"The hosts that it is for, as the rule `hosts` of owner policies names them. An action for another host that names the connection is refused, and so is an attempt and a test. Without them it is for any host."


class ApiKeyConnection(Model, frozen=True, kw_only=True, tag_field="type", tag="api-key"):
    """A header with a key."""

    header_name: str = named(name="headerName")
    value: str
    hosts: ConnectionHosts | None = None


class BasicConnection(Model, frozen=True, kw_only=True, tag_field="type", tag="basic"):
    """A user name and a password, in the header Authorization (RFC 7617)."""

    username: str
    password: str
    hosts: ConnectionHosts | None = None


class BearerConnection(Model, frozen=True, kw_only=True, tag_field="type", tag="bearer"):
    """A token that does not change, in the header Authorization (RFC 6750)."""

    token: str
    hosts: ConnectionHosts | None = None


class OAuth2Connection(Model, frozen=True, kw_only=True, tag_field="type", tag="oauth2-client-credentials"):
    """Tokens that an endpoint issues for a client id and its secret (RFC 6749, 4.4), in the header Authorization. One is fetched at most once a minute, and used until a minute before it expires."""

    token_url: str = named(name="tokenUrl")
    "Reached as any target is. Redirects are not followed."
    client_id: str = named(name="clientId")
    client_secret: str = named(name="clientSecret")
    hosts: ConnectionHosts | None = None
    scope: str | None = None
    audience: str | None = None
    client_authentication: Literal["basic", "body"] | None = named(name="clientAuthentication", default=None)
    "Whether the client names itself by the header Authorization, or by fields of the body."


class InUse(Model, frozen=True, kw_only=True):
    """How many live schedules and series name it, of the hundred that are due last. Only in a lookup by name."""

    schedules: int
    series: int
    more: bool | None = None
    "More have named it than were looked at."


class Connection(Model, frozen=True, kw_only=True):
    """A connection, without its secrets. Which fields it has follows from its type."""

    name: str
    type: str
    created_at: datetime = named(name="createdAt")
    changed_at: datetime = named(name="changedAt")
    "When its values were given."
    hosts: list[str] | None = None
    "The hosts that it is for. Without them it is for any host."
    header_name: str | None = named(name="headerName", default=None)
    username: str | None = None
    token_url: str | None = named(name="tokenUrl", default=None)
    "With `***` in the place of its query."
    client_id: str | None = named(name="clientId", default=None)
    scope: str | None = None
    audience: str | None = None
    client_authentication: str | None = named(name="clientAuthentication", default=None)
    closing: bool | None = None
    "A DELETE of it has not ended: nothing new may name it. Repeat the DELETE, or PUT it."
    in_use: InUse | None = named(name="inUse", default=None)
    "How many live schedules and series name it, of the hundred that are due last. Only in a lookup by name."


class ConnectionPage(Model, frozen=True, kw_only=True):
    connections: list[Connection]
    next_cursor: str | None = named(name="nextCursor", default=None)
    "The cursor of the next page. Without it, this page was the last."


class ConnectionTestRequest(Model, frozen=True, kw_only=True):
    """The call that is to be made."""

    url: str
    "As that of an `http-request`."


class ConnectionTest(Model, frozen=True, kw_only=True):
    """The result of a call with a connection."""

    succeeded: bool
    "Whether the target answered 2xx."
    detail: str
    "Its status, or why there was none."
    url: str
    "With `***` in the place of its query."


Hints: TypeAlias = list[str]
"Hints for the client about the secrets that it has sent."


class Job(Model, frozen=True, kw_only=True):
    """A job that cancels a group. `found` is the sum of `cancelled`, `handedOver` and `ended`."""

    id: str = named(name="jobId")
    group: str
    state: str
    found: int
    "Members that the job has handled so far in this pass."
    cancelled: int
    "Cancelled by this job."
    handed_over: int = named(name="handedOver")
    "Claimed before, whatever happened to them afterwards."
    ended: int
    "Ended before without being handed over: cancelled, replaced or dropped."
    created_at: datetime = named(name="createdAt")
    finished_at: datetime | None = named(name="finishedAt", default=None)


class SigningSecret(Model, frozen=True, kw_only=True):
    """The secrets that were shown to the owner and sign now."""

    current: str
    "The key that a receiver verifies with: `whsec_` and 32 bytes in base64."
    previous: str | None
    "The one before it, which still signs; null if there is none."
    previous_until: datetime | None = named(name="previousUntil", default=None)
    "Until when that one signs."
    rotated_at: datetime | None = named(name="rotatedAt", default=None)
    "When the owner last rotated; not there if never."


class RotationRequest(Model, frozen=True, kw_only=True):
    """How the rotation is made."""

    overlap_seconds: int | None = named(name="overlapSeconds", default=None)
    "How long the secret before signs each request, too. It has to be longer than you need to give your receivers the new one."


class ActionType(Model, frozen=True, kw_only=True):
    """A type of action, and what it accepts."""

    type: str
    stack: str
    "The name of the stack that brings it."
    schema: dict[str, Any]
    "JSON Schema of the action."
    largest_payload: int = named(name="largestPayload")
    "Bytes that the payload may have."
    payload: dict[str, Any] | None = None
    "JSON Schema of the payload. Without it, any payload will do, or none."


class FieldProblem(Model, frozen=True, kw_only=True):
    field: str
    problem: str
    allowed: str | None = None


class Problem(Model, frozen=True, kw_only=True):
    """RFC 9457. A problem about a schedule also has fields of Schedule."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem] | None = None
    "Each wrong field, with what is allowed."
    rule: str | None = None
    "The rule of the owner policy that is against it."
    scope: str | None = None
    "The scope that the token lacks."
    schedule_id: str | None = named(name="scheduleId", default=None)
    "The holder of the name."
    series_id: str | None = named(name="seriesId", default=None)
    "The series that it is about, or that has the name."
    schedules: list[str] | None = None
    "Schedules that are not settled yet."
    series: list[str] | None = None
    "Series that are live."
    state: str | None = None
    since: datetime | None = None
    name: str | None = None
    claimed_at: datetime | None = named(name="claimedAt", default=None)
    attempt: int | None = None
    probes: int | None = None
    lateness_ms: int | None = named(name="latenessMs", default=None)
    stopped_at: datetime | None = named(name="stoppedAt", default=None)
    replaced_by: str | None = named(name="replacedBy", default=None)
    decided_as: str | None = named(name="decidedAs", default=None)


class PreviewRequest(Model, frozen=True, kw_only=True):
    """A rule, and how many of its times are asked for."""

    repeat: Repeat
    count: int | None = None
    "The greatest number of times in the answer."


class Schedule(Model, frozen=True, kw_only=True):
    """A schedule. Fields that are not known or do not apply are left out."""

    id: str = named(name="scheduleId")
    state: str
    "`undecided`: it waits for its time. `scheduled`: in the table. `enqueued`: in the stream or in the delayer queue. `claimed`: handed over, or about to be. All others are ends; of `decided`, the schedule `decidedAs` goes on."
    decided_as: str | None = named(name="decidedAs", default=None)
    "It was accepted without a time. This is the schedule that has its time, and all else is said of that one. In a list, which does not follow it, it is what became of the state `decided`; a list of all schedules has these with `state=decided` only."
    point_in_time: datetime | None = named(name="pointInTime", default=None)
    "The instant at which it is due, in UTC: what the client asked for, rounded up to the millisecond, with its place in the window if it has one; or what a policy has decided. This is also true for a schedule that was overdue when it was accepted. As long as it is `undecided`, there is none."
    overdue: bool | None = None
    "It still waits, although its point in time has passed."
    since: datetime | None = None
    "When this state or the present attempt began."
    claimed_at: datetime | None = named(name="claimedAt", default=None)
    "When it was claimed."
    attempt: int | None = None
    "The attempt that runs, waits or was the last."
    probes: int | None = None
    "How many of the attempts were probes that failed. They use up none of `maxAttempts`."
    lateness_ms: int | None = named(name="latenessMs", default=None)
    "How late the first attempt was, in milliseconds."
    next_attempt_at: datetime | None = named(name="nextAttemptAt", default=None)
    "When the next attempt is to be made, while it waits for one."
    waiting: Waiting | None = None
    detail: str | None = None
    "The target's answer, or the reason, as a text."
    stopped_at: datetime | None = named(name="stoppedAt", default=None)
    "When its owner stopped it."
    replaced_by: str | None = named(name="replacedBy", default=None)
    "The id of the schedule that replaced it."
    replaces: str | None = None
    "The id of the schedule that it replaced."
    created_at: datetime | None = named(name="createdAt", default=None)
    target: ListedTarget | None = None
    name: str | None = None
    group: str | None = None
    action: dict[str, Any] | None = None
    "As it was sent, with `***` in the place of its secrets."
    masked: bool | None = None
    "The action has secrets, which are not shown."
    payload: Any | None = None
    "As it was sent."
    payload_omitted: bool | None = named(name="payloadOmitted", default=None)
    "The payload is too large for the journal, and is not shown."
    on_late: OnLate | None = named(name="onLate", default=None)
    retry: Retry | None = None
    precision: str | None = None
    "In which lane it is, if that is not the precise one."
    when: dict[str, Any] | None = None
    "As it was sent."
    window: OpenWindow | None = None
    "The window within which it fires, and where that opens, once it has a time."
    tags: dict[str, str] | None = None
    series: OccurrenceOf | None = None
    hints: Hints | None = None
    history: list[HistoryEntry] | None = None
    "Its lifecycle events in order, as far as the journal has them. Only in a lookup by id or by name."


class SchedulePage(Model, frozen=True, kw_only=True):
    schedules: list[Schedule]
    next_cursor: str | None = named(name="nextCursor", default=None)
    "The cursor of the next page. Without it, this page was the last."


class Series(Model, frozen=True, kw_only=True):
    """A series. Fields that are not known or do not apply are left out."""

    id: str = named(name="seriesId")
    state: str
    "`active`: it has a current occurrence. `paused`: until it is resumed. `waiting`: its next time is more than ten years ahead. `ended`: its rule has no further time. `failed`: its rule cannot be reckoned any more. `cancelled`: for good."
    name: str | None = None
    group: str | None = None
    next: datetime | None = None
    "Its next time by the rule, unless it is paused or over."
    occurrence: Occurrence | None = None
    "Its current occurrence, an ordinary schedule."
    beside: list[str] | None = None
    "The ids of schedules of the series that may still be handed over beside the current occurrence."
    backfill: Backfill | None = None
    "The backfill that is under way: its range, and the occurrence that it has put last."
    repeat: Repeat | None = None
    description: str | None = None
    "The rule in words."
    time_zone_database: str | None = named(name="timeZoneDatabase", default=None)
    "The release of the tz database that its times are reckoned with."
    overlap: Overlap | None = None
    created_at: datetime | None = named(name="createdAt", default=None)
    expires_at: datetime | None = named(name="expiresAt", default=None)
    "When a series that is over will be forgotten."
    action: dict[str, Any] | None = None
    "As it was sent, with `***` in the place of its secrets."
    masked: bool | None = None
    "The action has secrets, which are not shown."
    payload: Any | None = None
    "As it was sent."
    on_late: OnLate | None = named(name="onLate", default=None)
    retry: Retry | None = None
    window: Window | None = None
    precision: str | None = None
    "In which lane its occurrences are, if that is not the precise one."
    hints: Hints | None = None
    tags: dict[str, str] | None = None


class SeriesChanged(Model, frozen=True, kw_only=True):
    """A series with a new definition."""

    series_id: str = named(name="seriesId")
    state: SeriesState
    takes_effect_at: TakesEffectAt = named(name="takesEffectAt")
    "The first occurrence that goes by it. With its id, if it is put already."
    replaces: str | None = None
    "The id of the occurrence whose place it took; or that was cancelled, if no time is left."
    hints: Hints | None = None


class SeriesPage(Model, frozen=True, kw_only=True):
    series: list[Series]
    next_cursor: str | None = named(name="nextCursor", default=None)
    "The cursor of the next page. Without it, this page was the last."


class OccurrencePage(Model, frozen=True, kw_only=True):
    occurrences: list[Schedule]
    next_cursor: str | None = named(name="nextCursor", default=None)
    "The cursor of the next page. Without it, this page was the last."


ConnectionRequest: TypeAlias = ApiKeyConnection | BasicConnection | BearerConnection | OAuth2Connection
"A secret of yours, by the way in which a target wants to be given it."


class ActionTypes(Model, frozen=True, kw_only=True):
    """The action types."""

    actions: list[ActionType]
