"""Whatever EventBridge takes: schedules and rules of any kind, those that can be moved often enough."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from delayer_client.eventbridge.reading.documents import shaped
from delayer_client.eventbridge.reading.sources import Found, Rule, Schedule
from tests.client.eventbridge.samples import (
    BUS,
    DESTINATION,
    FUNCTION,
    MACHINE,
    PLACE,
    QUEUE,
    QUEUE_URL,
    ROLE,
    TOPIC,
    UNIVERSAL,
    an_api_destination,
)
from tests.strategies import json_values

moments = st.datetimes(datetime(2026, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - as wanted
zones = st.sampled_from(
    [
        "UTC",
        "Europe/Lisbon",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Kolkata",
        "Antarctica/Troll",
        "Asia/Beirut",
    ]
)
names = st.text("abcXYZ019-_.", min_size=1, max_size=64)
words = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=128)


def field(least: int, most: int) -> st.SearchStrategy[str]:
    """Of a cron expression: numbers, lists, ranges that may pass the end, steps."""
    numbers = st.integers(least, most).map(str)
    steps = st.integers(1, most - least).map(str)
    term = (
        numbers | st.builds("{}-{}".format, numbers, numbers) | st.builds("{}/{}".format, numbers | st.just("*"), steps)
    )
    return st.just("*") | numbers | term | st.lists(term, min_size=2, max_size=3).map(",".join)


days = st.sampled_from(["*", "1", "28", "1,15", "1-7", "L", "15W", "1/7"])
weekdays = st.sampled_from(["*", "MON-FRI", "2-6", "SUN", "6L", "3#2", "MON,WED", "1", "SAT-MON"])
months = st.sampled_from(["*", "1", "JAN-MAR", "1/3", "JUN,DEC"])
pairs = st.tuples(days, st.just("?")) | st.tuples(st.just("?"), weekdays)
crons = st.builds(
    lambda minute, hour, pair, month, year: f"cron({minute} {hour} {pair[0]} {month} {pair[1]} {year})",
    field(0, 59),
    field(0, 23),
    pairs,
    months,
    st.sampled_from(["*", "2035-2199", "2036,2040", "2028/2"]),
)
regular = st.builds(
    lambda count, unit: f"rate({count} {unit}{'' if count == 1 else 's'})",
    st.integers(1, 400),
    st.sampled_from(["minute", "hour", "day"]),
)
instants = st.builds(
    lambda now, ahead: f"at({now + ahead:%Y-%m-%dT%H:%M:%S})",
    moments,
    st.timedeltas(timedelta(0), timedelta(days=3_000)),
)
texts = st.text(st.characters(codec="utf-8"), max_size=20)
attributes = st.sampled_from(["scheduled-time", "execution-id", "attempt-number", "schedule-arn"])
inputs = (
    st.none()
    | json_values.map(json.dumps)
    | json_values.map(lambda value: json.dumps(value, ensure_ascii=False))
    | st.dictionaries(texts, json_values, max_size=3).map(json.dumps)
    | attributes.map(lambda name: json.dumps({"of": f"<aws.scheduler.{name}>"}))
    | texts.filter(bool)
)
retries = st.fixed_dictionaries(
    {"MaximumRetryAttempts": st.integers(0, 185), "MaximumEventAgeInSeconds": st.integers(60, 86_400)}
)
others = st.sampled_from(
    [f"arn:aws:{one}:{PLACE}:what/ever" for one in ("ecs", "kinesis", "batch", "firehose", "logs")]
)
calls: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.sampled_from(
    [
        ("sqs:sendMessage", {"QueueUrl": QUEUE_URL, "MessageBody": "{}"}),
        ("sqs:sendMessage", {"QueueUrl": QUEUE_URL + ".fifo", "MessageBody": "{}", "MessageGroupId": "g"}),
        ("sns:publish", {"TopicArn": TOPIC, "Message": '"<aws.scheduler.scheduled-time>"', "Subject": "Due"}),
        ("lambda:invoke", {"FunctionName": "delayer-target-orders", "Payload": "{}", "InvocationType": "Event"}),
        ("sfn:startExecution", {"StateMachineArn": MACHINE, "Input": '{"order": 17}', "Name": "once"}),
        ("eventbridge:putEvents", {"Entries": [{"Source": "orders", "DetailType": "Due", "Detail": "{}"}]}),
        ("ecs:runTask", {"TaskDefinition": "nightly"}),
    ]
)
templated = st.fixed_dictionaries(
    {"Arn": st.sampled_from([FUNCTION, f"{FUNCTION}:live", QUEUE, f"{QUEUE}.fifo", TOPIC, MACHINE, BUS]) | others},
    optional={
        "Input": inputs,
        "RetryPolicy": retries,
        "SqsParameters": st.fixed_dictionaries({"MessageGroupId": words}),
        "EventBridgeParameters": st.fixed_dictionaries({"Source": st.just("orders") | words, "DetailType": words}),
        "DeadLetterConfig": st.just({"Arn": QUEUE}),
    },
)
universal = calls.map(lambda call: {"Arn": UNIVERSAL + call[0], "Input": json.dumps(call[1])})
far = st.datetimes(datetime(2060, 1, 1), datetime(2190, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - as wanted
windows = st.just({"Mode": "OFF"}) | st.builds(
    lambda minutes: {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": minutes}, st.integers(1, 1_440)
)


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Ends are so far off that each rule has a time before."""
    name, group = draw(names), draw(st.just("default") | names)
    document = {
        "Name": name,
        "GroupName": group,
        "Arn": f"arn:aws:scheduler:{PLACE}:schedule/{group}/{name}",
        "ScheduleExpression": draw(crons | regular | instants),
        "ScheduleExpressionTimezone": draw(zones),
        "FlexibleTimeWindow": draw(windows),
        "State": draw(st.sampled_from(["ENABLED", "ENABLED", "ENABLED", "DISABLED"])),
        "StartDate": draw(st.none() | moments),
        "EndDate": draw(st.none() | far),
        "CreationDate": draw(st.none() | moments),
        "Description": draw(st.text(max_size=512)),
        "Target": {"RoleArn": ROLE} | draw(templated | universal),
    }
    return shaped(document, Schedule, "drawn")


paths = st.sampled_from(["$.time", "$.detail", "$.resources[0]", "$.id", "$", "$['detail-type']", "$.nothing"])
templates = st.sampled_from(
    ['{"at": <time>}', '"<time> of <aws.events.rule-name>"', "<time>", '{"all": <aws.events.event>}', "due at <time>"]
)
transformers = st.builds(
    lambda path, template: {"InputPathsMap": {"time": path}, "InputTemplate": template}, paths, templates
)
rule_targets = st.fixed_dictionaries(
    {
        "Id": names,
        "Arn": st.sampled_from([FUNCTION, QUEUE, f"{QUEUE}.fifo", TOPIC, MACHINE, BUS, DESTINATION]) | others,
    },
    optional={
        "RetryPolicy": retries,
        "SqsParameters": st.fixed_dictionaries({"MessageGroupId": words}),
        "HttpParameters": st.fixed_dictionaries(
            {"PathParameterValues": st.lists(words, min_size=1, max_size=1)},
            optional={
                "HeaderParameters": st.dictionaries(words, words, max_size=2),
                "QueryStringParameters": st.dictionaries(words, texts, max_size=2),
            },
        ),
    },
)
ways: st.SearchStrategy[dict[str, Any]] = st.just({}) | st.fixed_dictionaries({"InputTransformer": transformers})
ways |= st.fixed_dictionaries({"Input": inputs.filter(bool)}) | st.fixed_dictionaries({"InputPath": paths})


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    name = draw(names)
    drawn = draw(st.lists(st.builds(lambda one, way: one | way, rule_targets, ways), min_size=1, max_size=5))
    document = {
        "Name": name,
        "Arn": f"arn:aws:events:{PLACE}:rule/{name}",
        "EventBusName": draw(st.just("default") | names),
        "ScheduleExpression": draw(crons | regular),
        "Targets": [{**one, "Id": f"{number}{one['Id']}"[:64]} for number, one in enumerate(drawn)],
    }
    return shaped(document, Rule, "drawn")


destinations: Found = an_api_destination()
