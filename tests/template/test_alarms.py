"""Alarms that ring when nothing is heard, and do not flap; and the dashboard (ADR 0031, 0075, 0076)."""

import json
import re
from typing import Any, Final, get_args

from attrs import frozen

from delayer.actions.rules.model import Refused, Retry
from delayer.engines.ports import Lateness, Metric
from delayer.enqueue.rules import BACKLOG_PER_RELAY
from delayer.schedule.instants import MAX_DELAY_SECONDS
from tests.cfn import ROOT, consumed, deployed, entry_of, expanded, functions, logical, logical_names, resources
from tests.running.of_each import of_each
from tests.template.test_template import DEAD, QUEUES, RENEWED, WORKING, dead_letter_queues
from tests.world import START, World

ALARMS: Final = resources("AWS::CloudWatch::Alarm")
CANARIES: Final = ["CanaryNearLateness", "CanaryFarLateness"]  # executor-canary measures them
FUNCTIONS: Final = functions()
each_alarm = of_each(sorted(ALARMS))

STREAMED: Final = ("Schedules", "Relaxed", "Waiting", "Ledger", "Occurrences")
SILENT: Final = {  # those that ring because nothing is heard
    "MinuteTaskMissingAlarm",
    "SeriesTaskMissingAlarm",
    "TimingTaskMissingAlarm",
    "StreamNotPolledAlarm",
    *(name for name in ALARMS if name.endswith("NotPolledAlarm")),
}
OF_CANARIES: Final = {"CanaryNearAlarm", "CanaryFarAlarm"}  # they ring for silence, and for what is late
# One is too many of these: nobody need wait whether there is a second.
AT_ONCE: Final = {
    "AttentionAlarm",
    "DeadLetteredAlarm",
    "FailedAlarm",
    "UnexpectedAlarm",
    "StreamDiscardedAlarm",
    "StreamDroppedAlarm",
    "StreamUndeliveredAlarm",
    "RelaxedDiscardedAlarm",
    "RelaxedDroppedAlarm",
    "RelaxedUndeliveredAlarm",
    *(f"Lifecycle{table}DroppedAlarm" for table in STREAMED),
    "TimingDroppedAlarm",
    "TimeRefusedAlarm",
    "EventsRefusedAlarm",
    "SeriesFailedAlarm",
    *(f"{name}Alarm" for name in DEAD),
}
# What AWS calls its metrics, and the dimension by which each is asked for here.
AWS_METRICS: Final = {
    ("AWS/SQS", "QueueName"): {
        "ApproximateAgeOfOldestMessage",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesVisible",
        "ApproximateNumberOfMessagesNotVisible",
        "NumberOfEmptyReceives",
        "NumberOfMessagesDeleted",
        "NumberOfMessagesReceived",
    },
    ("AWS/Lambda", "FunctionName"): {
        "DestinationDeliveryFailures",
        "Errors",
        "Invocations",
        "IteratorAge",
        "Throttles",
    },
    ("AWS/Lambda", "EventSourceMappingUUID"): {
        "DroppedEventCount",
        "OnFailureDestinationDeliveredEventCount",
        "PolledEventCount",
    },
    ("AWS/ApiGateway", "ApiId"): {"4xx", "5xx", "Count", "Latency"},
    ("AWS/SNS", "TopicName"): {"NumberOfNotificationsFailed"},
}
# What the value of each dimension is, by the type of the resource: `Ref` or the attribute that gives it.
NAMED_BY: Final = {
    "QueueName": ("AWS::SQS::Queue", "QueueName"),
    "FunctionName": ("AWS::Lambda::Function", "Ref"),
    "EventSourceMappingUUID": ("AWS::Lambda::EventSourceMapping", "Ref"),
    "ApiId": ("AWS::ApiGatewayV2::Api", "Ref"),
    "TopicName": ("AWS::SNS::Topic", "TopicName"),
}


@frozen(kw_only=True)
class Watched:
    """A metric as an alarm or the dashboard asks for it."""

    namespace: str
    name: str
    dimension: str
    resource: str  # the logical name, or the pseudo parameter
    attribute: str  # `Ref`, or that of a GetAtt


def watched(alarm: str) -> list[Watched]:
    """All metrics of an alarm: one, or those of its expression."""
    given = ALARMS[alarm]
    stats = [one["MetricStat"]["Metric"] for one in given.get("Metrics", []) if "MetricStat" in one]
    return [_watched(metric) for metric in stats or [given]]


def _watched(metric: dict[str, Any]) -> Watched:
    [dimension] = metric["Dimensions"]
    [(kind, value)] = dimension["Value"].items()
    resource, _, attribute = value.partition(".")
    name = metric["MetricName"]
    return Watched(
        namespace=metric["Namespace"],
        name=name if isinstance(name, str) else name["Fn::Sub"],
        dimension=dimension["Name"],
        resource=resource,
        attribute=attribute if kind == "Fn::GetAtt" else "Ref",
    )


def check_metric(metric: Watched) -> None:
    """It exists, and its dimension names a resource in the way that CloudWatch knows it."""
    if metric.namespace == "Delayer":
        assert metric.name in get_args(Metric)
        assert (metric.dimension, metric.resource, metric.attribute) == ("service", "AWS::StackName", "Ref")
        return
    assert metric.name in AWS_METRICS[metric.namespace, metric.dimension]
    kind, attribute = NAMED_BY[metric.dimension]
    assert deployed()["Resources"][metric.resource]["Type"] == kind
    assert metric.attribute == attribute


def on_queue(name: str) -> dict[str, dict[str, Any]]:
    """The alarms on a queue, without the queue in their names."""
    return {
        alarm.removeprefix(name): ALARMS[alarm]
        for alarm in ALARMS
        if {(one.dimension, one.resource) for one in watched(alarm)} == {("QueueName", name)}
    }


# ------------------------------------------------------------ every alarm


@each_alarm
def test_it_notifies_the_topic_and_names_its_entry_in_the_runbook(alarm: str) -> None:
    assert ALARMS[alarm]["AlarmActions"] == [{"Ref": "AlarmTopic"}]
    assert ALARMS[alarm]["OKActions"] == [{"Ref": "AlarmTopic"}]
    meaning, _, entry = ALARMS[alarm]["AlarmDescription"].partition(" Runbook: ")
    assert len(meaning) > 20
    assert entry == f"{entry_of(alarm)}."


@each_alarm
def test_its_metrics_exist_and_its_dimensions_are_right(alarm: str) -> None:
    for metric in watched(alarm):
        check_metric(metric)


@each_alarm
def test_only_those_on_silence_tell_that_data_stop_to_come(alarm: str) -> None:
    """By the change to a state that each alarm has until its first data: a new one tells nobody (ADR 0157)."""
    given, is_silent = ALARMS[alarm], alarm in SILENT | OF_CANARIES
    assert given["TreatMissingData"] == ("missing" if is_silent else "notBreaching")
    assert given.get("InsufficientDataActions") == ([{"Ref": "AlarmTopic"}] if is_silent else None)
    if alarm in SILENT:
        assert (given["ComparisonOperator"], given["Threshold"]) == ("LessThanThreshold", 1)


@each_alarm
def test_it_does_not_flap(alarm: str) -> None:
    """It rings at what must never happen once, or at what lasts: a cold start after an idle hour is no reason."""
    given = ALARMS[alarm]
    if alarm in AT_ONCE:
        assert (given["Threshold"], given["EvaluationPeriods"]) == (1, 1)
        assert given["Statistic"] in {"Sum", "Maximum"}
    elif alarm != "ApiServerErrorsAlarm":  # three in one period, which is five minutes
        assert given.get("DatapointsToAlarm", given["EvaluationPeriods"]) >= 2 or given["Threshold"] >= 900


def test_an_expression_gives_one_result() -> None:
    for alarm in ALARMS.values():
        if "Metrics" in alarm:
            shown = [one for one in alarm["Metrics"] if one.get("ReturnData", True)]
            assert [sorted(one) for one in shown] == [["Expression", "Id"]]
            names = {one["Id"] for one in alarm["Metrics"]} - {shown[0]["Id"]}
            used = set(re.findall(r"[a-z]\w*", shown[0]["Expression"]))
            assert used == names
            assert len({one["MetricStat"]["Period"] for one in alarm["Metrics"] if "MetricStat" in one}) == 1


# ------------------------------------------------------------ queues


@of_each(DEAD)
def test_a_dead_letter_queue_has_an_alarm_on_its_first_message(queue: str) -> None:
    alarm = on_queue(queue)["Alarm"]
    assert (alarm["MetricName"], alarm["Threshold"]) == ("ApproximateNumberOfMessagesVisible", 1)


@of_each(DEAD)
def test_nothing_is_deleted_from_a_dead_letter_queue_before_it_has_rung_twice(queue: str) -> None:
    """The first alarm goes on ringing, but it notifies once. What is written anew all the time may be deleted unseen.

    SQS keeps a message 14 days from its first send. It may have failed for days before it came here, but the alarm
    counts from its move into this queue.
    """
    if queue in RENEWED:
        assert set(on_queue(queue)) == {"Alarm"}
        return
    alarm = on_queue(queue)["ForgottenAlarm"]
    assert alarm["MetricName"] == "ApproximateAgeOfOldestMessage"
    sources = [QUEUES[name] for name, dead in dead_letter_queues().items() if dead == queue]
    failing = max(source["VisibilityTimeout"] * source["RedrivePolicy"]["maxReceiveCount"] for source in sources)
    assert QUEUES[queue]["MessageRetentionPeriod"] - failing - alarm["Threshold"] >= 5 * 24 * 3600


@of_each(sorted(set(WORKING) - {"CanaryQueue"}))
def test_a_queue_that_nobody_reads_rings(queue: str) -> None:
    """Also an empty one: a mapping that runs receives from it all the time. The canary tells of its own queue."""
    alarm = on_queue(queue)["NotPolledAlarm"]
    names = {one["MetricStat"]["Metric"]["MetricName"] for one in alarm["Metrics"] if "MetricStat" in one}
    assert names == {"NumberOfMessagesReceived", "NumberOfEmptyReceives"}


@of_each(sorted(q for q, f in consumed().items() if f.startswith(("delayer-", "executor-")) and q in WORKING))
def test_a_queue_of_schedules_rings_if_they_wait_or_come_back(queue: str) -> None:
    if queue == "CanaryQueue":
        assert on_queue(queue) == {}, "the canary tells of its own queue"
        return
    found = on_queue(queue)
    assert {"OldAlarm", "DeepAlarm", "ReturnedAlarm"} <= set(found)
    assert found["OldAlarm"]["Threshold"] > MAX_DELAY_SECONDS + 60, "a delay may be part of the age"
    mark = BACKLOG_PER_RELAY * expanded()["Parameters"]["RelayConcurrency"]["Default"]
    assert found["DeepAlarm"]["Threshold"] < mark, "it rings before the sweep leaves what is not urgent"


# ------------------------------------------------------------ streams, the minute task, the API, events


def test_the_alarms_on_functions() -> None:
    found = {(one.name, one.resource) for alarm in ALARMS for one in watched(alarm) if one.dimension == "FunctionName"}
    assert found == {
        ("DestinationDeliveryFailures", "StreamEnqueuer"),
        ("DestinationDeliveryFailures", "RelaxedClaimer"),
        ("IteratorAge", "StreamEnqueuer"),
        ("IteratorAge", "RelaxedClaimer"),
        ("IteratorAge", "StreamLifecycle"),
        ("IteratorAge", "StreamOccurrences"),
        ("Errors", "LifecycleJournal"),
        ("Errors", "SweepBucketEnqueuer"),
        ("Invocations", "Task1MinuteEnqueuer"),
        ("Errors", "Task1MinuteEnqueuer"),
        ("Invocations", "Task1MinuteSeries"),
        ("Errors", "Task1MinuteSeries"),
        ("Invocations", "Task1MinuteTiming"),
        *(("Errors", name) for folder, name in logical_names().items() if folder.startswith("executor-")),
    }


OF_ALL: Final = {"Fn::If": ["HasAllAlarms", {"Metrics": ["EventCount"]}, {"Ref": "AWS::NoValue"}]}


def test_each_mapping_of_a_stream_rings_if_it_does_not_poll_or_drops() -> None:
    """These are metrics of the mapping, which must ask for them: they are paid for, so only where they are watched."""
    mappings = {
        name: resource["Properties"]
        for name, resource in deployed()["Resources"].items()
        if resource["Type"] == "AWS::Lambda::EventSourceMapping" and "StartingPosition" in resource["Properties"]
    }
    assert len(mappings) == 2 + len(STREAMED) + 1  # who enqueues, and claims; the lifecycle of each table; timing
    for name, properties in mappings.items():
        assert properties["MetricsConfig"] == OF_ALL
        found = {one.name for alarm in ALARMS for one in watched(alarm) if one.resource == name}
        assert found >= {"PolledEventCount", "DroppedEventCount"}
        assert ("OnFailureDestinationDeliveredEventCount" in found) == ("DestinationConfig" in properties)


def test_the_runbook_says_how_long_the_stream_of_waiting_ones_is_tried() -> None:
    mapping = deployed()["Resources"]["TimingEnqueuerWaiting"]["Properties"]
    runbook = (ROOT / "docs/operate/runbook.md").read_text()
    [entry] = re.findall(r"^### TimingDroppedAlarm$(.*?)^### ", runbook, re.MULTILINE | re.DOTALL)
    assert f"for {mapping['MaximumRecordAgeInSeconds'] // 3600} hours" in entry


def test_an_api_that_answers_503_rings_and_a_single_one_does_not() -> None:
    alarm = ALARMS["ApiServerErrorsAlarm"]
    assert (alarm["MetricName"], alarm["Statistic"], alarm["Threshold"], alarm["Period"]) == ("5xx", "Sum", 3, 300)


def test_what_is_switched_off_does_not_ring() -> None:
    conditions = {name: expanded()["Resources"][name].get("Condition") for name in ALARMS}
    assert {name for name in ALARMS if conditions[name] == "HasCanaryAlarms"} == OF_CANARIES
    assert {name for name in ALARMS if conditions[name] == "HasAllAlarmsOfEvents"} == {
        f"Lifecycle{table}{what}Alarm" for table in STREAMED for what in ("NotPolled", "Dropped")
    }


def test_few_schedules_ring_only_if_half_of_them_are_very_late() -> None:
    alarm = ALARMS["LatenessAlarm"]
    expression = alarm["Metrics"][-1]["Expression"]
    assert expression == "IF(fired >= 20, p99, p50 / 10)"
    assert {one["MetricStat"]["Stat"] for one in alarm["Metrics"][:-1]} == {"SampleCount", "p99", "p50"}
    assert {one.name for one in watched("LatenessAlarm")} == {"Lateness"}


def test_each_canary_rings_if_it_is_late_or_missing() -> None:
    for metric in set(get_args(Lateness)) - {"Lateness", "RelaxedLateness", "UndecidedAge"}:  # users' schedules
        assert metric in CANARIES
        [alarm] = [ALARMS[name] for name in ALARMS if {one.name for one in watched(name)} == {metric}]
        assert (alarm["Statistic"], alarm["Threshold"]) == ("Maximum", 1000)
        assert alarm["EvaluationPeriods"] * alarm["Period"] == 360, "three of its turns"


# ------------------------------------------------------------ the dashboard


def widgets() -> list[dict[str, Any]]:
    """The dashboard's JSON; `${…}` stays in it as it is."""
    [properties] = resources("AWS::CloudWatch::Dashboard").values()
    found: list[dict[str, Any]] = json.loads(properties["DashboardBody"]["Fn::Sub"])["widgets"]
    return found


def shown(widget: dict[str, Any]) -> list[Watched]:
    """The metrics of a widget, those of a search among them: it finds the queues of a loop by a part of their names."""
    found = []
    for row in widget["properties"].get("metrics", []):
        if "expression" in row[0]:
            found += searched(row[0]["expression"])
            continue
        namespace, name, dimension, value, *_ = row
        resource, _, attribute = re.fullmatch(r"\$\{([\w:]+)(\.)?(\w*)\}", value).groups()  # type: ignore[union-attr]
        found.append(
            Watched(
                namespace=namespace, name=name, dimension=dimension, resource=resource, attribute=attribute or "Ref"
            )
        )
    return found


def searched(expression: str) -> list[Watched]:
    """What a search finds: each queue or function whose name begins like this, or the queues of suspects."""
    found = re.search(r'MetricName="(\w+)" (\$\{AWS::StackName\}[A-Za-z -]+)', expression)
    assert found, expression
    name, begins = found[1], found[2].strip()
    if "{AWS/Lambda,FunctionName}" in expression:
        names = {logical: f"${{AWS::StackName}}-{function}" for function, logical in logical_names().items()}
        return [
            Watched(namespace="AWS/Lambda", name=name, dimension="FunctionName", resource=one, attribute="Ref")
            for one, called in names.items()
            if called.startswith(begins)
        ]
    start, _, word = begins.partition(" ")
    queues = [one for one, given in QUEUES.items() if name_of(one, given).startswith(start) and word in one]
    return [
        Watched(namespace="AWS/SQS", name=name, dimension="QueueName", resource=queue, attribute="QueueName")
        for queue in queues
    ]


def name_of(queue: str, given: dict[str, Any]) -> str:
    """The name of a queue, as far as the template says it; CloudFormation makes one of the logical name."""
    match given.get("QueueName"):
        case {"Fn::Sub": [str(text), dict(constants)]}:
            for name, constant in constants.items():
                text = text.replace(f"${{{name}}}", str(constant))
            return text
    return f"${{AWS::StackName}}-{queue}"


ALL_SHOWN: Final = [(widget["properties"]["title"], metric) for widget in widgets() for metric in shown(widget)]


@of_each(ALL_SHOWN, unpacked=True)
def test_the_dashboard_shows_metrics_that_exist(title: str, metric: Watched) -> None:
    assert title
    check_metric(metric)


def test_the_widgets_are_valid_and_do_not_cover_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for widget in widgets():
        cells = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not taken & cells
        taken |= cells
        assert widget["x"] + widget["width"] <= 24
        assert widget["type"] in {"metric", "log"}
        assert widget["properties"]["region"] == "${AWS::Region}"
        assert widget["type"] == "log" or {"stat", "period", "view"} & set(widget["properties"])


def test_it_shows_first_how_late_schedules_and_canaries_are() -> None:
    first, second = widgets()[:2]
    stats = [row[-1]["stat"] for row in first["properties"]["metrics"]]
    names = [one.name for one in shown(first)]
    assert (names, stats) == (["Lateness", "Lateness", "RelaxedLateness"], ["p50", "p99", "p99"])
    assert [one.name for one in shown(second)] == CANARIES


@of_each(sorted(resources("AWS::SQS::Queue")))
def test_it_shows_what_waits_where(queue: str) -> None:
    """Every queue, so that a new one is not forgotten."""
    names = {one.name for _, one in ALL_SHOWN if one.resource == queue}
    assert "ApproximateNumberOfMessagesVisible" in names
    assert ("ApproximateAgeOfOldestMessage" in names) == (queue in WORKING)


def test_it_shows_failures_by_action() -> None:
    """From the log lines of the executors, which name the function: one for each action."""
    [widget] = [one for one in widgets() if one["type"] == "log"]
    query = widget["properties"]["query"]
    [prefix] = re.findall(r"SOURCE logGroups\(namePrefix: \['([^']+)'\]\)", query)
    groups = {logical(functions()[one]["LoggingConfig"]["LogGroup"]): one for one in functions()}
    names = {one: resources("AWS::Logs::LogGroup")[group]["LogGroupName"]["Fn::Sub"] for group, one in groups.items()}
    assert {one for one in names if names[one].startswith(prefix)} == {
        one for one in functions() if one.startswith("executor-")
    }
    found = re.search(r"message in \[(.+?)\]", query)
    assert found
    world = World()
    world.target.answers = [Retry(detail="HTTP 503"), Refused("HTTP 400")]
    world.post(START + 1000)
    world.run_until(START + 60_000)
    written = {event for event, _, _ in world.observer.lines}
    assert set(re.findall(r"'([^']+)'", found[1])) <= written
    assert "by service" in query
