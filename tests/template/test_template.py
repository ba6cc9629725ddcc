"""template.yaml is tested like code: what it grants, keeps, retries and alarms on."""

import json
import re
from typing import Any

import pytest
from attrs import evolve
from ministack.core.responses import request_scope
from ministack.services.cloudformation import engine

from delayer.actions.rules.foreign import built_in
from delayer.engines.aws.bounded_calls import MOST_MARGIN
from delayer.engines.aws.clients import LONGEST_RUN
from delayer.engines.aws.messaging import BATCH_BYTES
from delayer.engines.memory import MemoryObserver
from delayer.history.announce import Announce
from delayer.history.cloud_events import PREFIX
from delayer.history.model import LifecycleRecord, enqueued
from delayer.ledger.model import EventType
from delayer.recovery.rules import consumer_of
from delayer.relay.relay import HandOver
from delayer.schedule.instants import ATTEMPT_OVER, MAX_DELAY_SECONDS, MAX_HOLD
from delayer.series.rules.stepping import AT_THE_CLAIM
from delayer.targets.aws_call import OWN_QUEUE
from local.deployment.settings import PARAMETERS_ON_ONE_MACHINE
from operate.move_queues import TAG
from tests.cfn import (
    ROOT,
    consumed,
    denied,
    deployed,
    events,
    expanded,
    functions,
    listed,
    logical,
    logical_names,
    managed_policies_of,
    of_a_loop,
    resource_name,
    resources,
    shared_variables,
    statements,
    variables,
    written,
)
from tests.contract.aws_calls import CALLS
from tests.fakes.messaging import MemoryTopic
from tests.functions.cold_start import cold_start
from tests.openapi import openapi
from tests.running.of_each import of_each
from tests.samples import an_id
from tests.template.added import compared, is_added
from tests.world import reaches_the_journal

FUNCTIONS = functions()
QUEUES = resources("AWS::SQS::Queue")
TABLES = resources("AWS::DynamoDB::Table")
ROLES = resources("AWS::IAM::Role")
OF_FUNCTIONS = sorted(set(ROLES) - {"ApiInvokerRole"})
POLICIES = resources("AWS::IAM::Policy")
FUNCTIONS_BY_LOGICAL_NAME = {name: function for function, name in logical_names().items()}
ALARMS = resources("AWS::CloudWatch::Alarm")
LOGS = resources("AWS::Logs::LogGroup")
OPENAPI = openapi()
CLIENTS_ACTIONS = sorted(OPENAPI["components"]["schemas"]["Action"]["discriminator"]["mapping"])
REGISTRATIONS = {one["Type"]: one for one in resources("Custom::DelayerAction").values()}
FOURTEEN_DAYS = 1_209_600
# Only a stack whose creation fails takes back what it has made (ADR 0160).
KEPT = ("RetainExceptOnCreate", "Retain")
SCAN = "dynamodb:Scan"

each_function = of_each(sorted(FUNCTIONS))


def role_of(function: str) -> dict[str, Any]:
    return ROLES[logical(FUNCTIONS[function]["Role"])]


def dead_letter_queues() -> dict[str, str]:
    """The dead-letter queue of each queue."""
    return {
        name: logical(properties["RedrivePolicy"]["deadLetterTargetArn"])
        for name, properties in QUEUES.items()
        if "RedrivePolicy" in properties
    }


WORKING = sorted(dead_letter_queues())
SUSPECTS = sorted(name for name in QUEUES if name.endswith("SuspectsQueue"))
DEAD = sorted(set(QUEUES) - set(WORKING) - set(SUSPECTS))
OF_SUBSCRIBERS = sorted(queue for queue, function in consumed().items() if function.startswith("subscriber-"))
OF_POLICIES = sorted(queue for queue, function in consumed().items() if function.startswith("policy-"))
GUARDED = ("delayer-relay", "executor-", "series-stepper")  # who handle suspects, too
HOLDING = sorted(queue for queue, function in consumed().items() if function.startswith(GUARDED))
HEALING = ["GroupQueue", "JournalQueue", "SweepQueue", *OF_SUBSCRIBERS, *OF_POLICIES]  # those that hold no schedules
# Dead-letter queues of several queues.
SHARED = {
    "SubscribersDeadLetterQueue": OF_SUBSCRIBERS,
    "PoliciesDeadLetterQueue": OF_POLICIES,
    "SuspectsQueue": HOLDING,
}
STREAMED = ("SchedulesTable", "RelaxedTable", "WaitingTable", "LedgerTable")
RENEWED = {
    "TaskDeadLetterQueue": 24 * 3600,
    "SweepDeadLetterQueue": 4 * 24 * 3600,
    "PoliciesDeadLetterQueue": 4 * 24 * 3600,
}  # seconds for which they keep

# ------------------------------------------------------------ functions


def test_each_folder_is_a_function_and_each_function_a_folder() -> None:
    assert sorted(FUNCTIONS) == sorted(path.parent.name for path in ROOT.glob("functions/*/app.py"))


@each_function
def test_names(function: str) -> None:
    """`<source>-<classifier>-<name>`, the same in AWS, in the folder and in the logs."""
    assert FUNCTIONS[function]["FunctionName"] == {"Fn::Sub": f"${{AWS::StackName}}-{function}"}
    sources = "api|stream|suspects|task|sweep|delayer|executor|job|operator|lifecycle|series|subscriber|deploy|relaxed"
    sources += "|timing|policy"
    assert re.fullmatch(rf"({sources})(-[a-z0-9]+)+", function)
    assert variables(function)["AWS_SDK_UA_APP_ID"] == function
    assert cold_start(function).services == {function}
    if not of_a_loop(function):
        assert written()["Mappings"]["Functions"][logical_names()[function]]["Name"] == function


@each_function
def test_runtime_and_architecture(function: str) -> None:
    common = expanded()["Globals"]["Function"]
    assert common["Runtime"] == "python3.13"
    assert common["Architectures"] == ["arm64"]
    assert common["Layers"] == [{"Ref": "DelayerLayer"}]
    assert not {"Architectures", "Layers"} & set(FUNCTIONS[function])
    assert FUNCTIONS[function].get("Runtime", "python3.13") == "python3.13"
    assert common["Handler"] == "app.handler"
    assert FUNCTIONS[function].get("Handler", "app.handler") == "app.handler"


@each_function
def test_a_log_group_with_retention(function: str) -> None:
    """Those behind the API share one: a line and a stream have the name of the function (ADR 0102)."""
    group = LOGS[logical(FUNCTIONS[function]["LoggingConfig"]["LogGroup"])]
    name = "api" if function.startswith("api-") else function
    assert group["LogGroupName"] == {"Fn::Sub": f"/aws/lambda/${{AWS::StackName}}-{name}"}
    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_no_reserved_concurrency() -> None:
    """Throttled deliveries count as received: MaximumConcurrency holds them back instead."""
    assert "ReservedConcurrentExecutions" not in (ROOT / "template.yaml").read_text()


def test_the_shared_variables_are_those_of_metrics_and_logs() -> None:
    """The service is the stack: one dimension for its metrics, whichever function counts."""
    assert set(shared_variables()) - {"ALL_METRICS"} == {
        "POWERTOOLS_SERVICE_NAME",
        "POWERTOOLS_METRICS_NAMESPACE",
        "POWERTOOLS_LOG_LEVEL",
        "POWERTOOLS_TRACE_DISABLED",
    }
    assert shared_variables()["POWERTOOLS_SERVICE_NAME"] == {"Ref": "AWS::StackName"}
    assert shared_variables()["POWERTOOLS_METRICS_NAMESPACE"] == "Delayer"


@of_each(sorted(built_in()))
def test_each_action_has_an_executor_with_a_queue_of_its_own(action: str) -> None:
    """What is registered, somebody does; the relay may hand over to it."""
    function, queue = f"executor-{action}", REGISTRATIONS[action]["Queue"]
    assert variables(function)["OWN_QUEUE"] == queue
    assert consumed()[logical(queue)] == function
    may_send = [one for one in statements("delayer-relay") if "sqs:SendMessage" in listed(one["Action"])]
    assert "Executor*Queue" in {resource_name(resource) for one in may_send for resource in listed(one["Resource"])}


def test_no_executor_without_an_action() -> None:
    named = {name.removeprefix("executor-") for name in FUNCTIONS if name.startswith("executor-")}
    assert named == set(built_in()) == set(REGISTRATIONS)
    assert sorted(kind for kind, one in built_in().items() if not one.internal) == CLIENTS_ACTIONS
    assert {kind for kind, one in built_in().items() if one.internal} == {"canary", "remote"}


def test_a_class_that_has_changed_is_registered_anew() -> None:
    """CloudFormation updates what has changed: the layer has the classes, and each version has another name."""
    assert all(one["Release"] == {"Ref": "DelayerLayer"} for one in REGISTRATIONS.values())


@each_function
def test_only_who_sends_to_the_queue_it_receives_from_may_loop(function: str) -> None:
    """Lambda ends what looks like a loop after some sixteen rounds; a schedule re-sent, or retried, looks like one."""
    received = {queue for queue, consumer in consumed().items() if consumer == function}
    sent = {
        resource_name(resource)
        for statement in statements(function)
        if "sqs:SendMessage" in statement["Action"]
        for resource in listed(statement["Resource"])
        if "TargetNamePattern" not in str(resource)
    }
    allowed = FUNCTIONS[function].get("RecursiveLoop")
    assert allowed == ("Allow" if received & sent else None)


# ------------------------------------------------------------ times


@of_each(sorted(consumed()))
def test_a_message_stays_invisible_for_longer_than_its_function_may_take(queue: str) -> None:
    assert QUEUES[queue]["VisibilityTimeout"] > FUNCTIONS[consumed()[queue]]["Timeout"]


@of_each(sorted(name for name, dead in dead_letter_queues().items() if dead in SUSPECTS))
def test_lambda_may_look_for_room_as_long_as_aws_asks_for(queue: str) -> None:
    """Six timeouts of the function: what is throttled for that long is received, and is no suspect by it.

    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    """
    assert QUEUES[queue]["VisibilityTimeout"] == 6 * FUNCTIONS[consumed()[queue]]["Timeout"]


@each_function
def test_lambda_writes_no_lines_of_its_own(function: str) -> None:
    """No START, END and REPORT; which lines of ours are written is for LogLevel to say."""
    common = expanded()["Globals"]["Function"]["LoggingConfig"]
    assert common == {"LogFormat": "JSON", "SystemLogLevel": "WARN", "ApplicationLogLevel": "TRACE"}
    deployed_as = deployed()["Resources"][logical_names()[function]]["Properties"]["LoggingConfig"]
    assert deployed_as == {**common, **FUNCTIONS[function]["LoggingConfig"]}


def test_the_lease_is_the_relays_timeout() -> None:
    """When it lapses, the function that claimed is gone; when the message comes again, the lease has lapsed."""
    relay = FUNCTIONS["delayer-relay"]
    assert variables("delayer-relay")["LEASE"] == str(relay["Timeout"])
    assert relay["Timeout"] < QUEUES["DelayerQueue"]["VisibilityTimeout"]
    assert relay["Timeout"] * 1000 / 2 > MAX_HOLD


def test_no_attempt_outlives_the_margin_after_an_end() -> None:
    """Whoever writes that it is a dead letter or has failed, then the attempt of whoever read the row before.

    And a minute for clocks that differ (ADR 0070). Suspects are in the same functions. `stream-enqueuer` may end what
    nobody has claimed, of which there is no attempt.
    """
    executors = [FUNCTIONS[name]["Timeout"] for name in FUNCTIONS if name.startswith("executor-")]
    writers = [*executors, *(FUNCTIONS[name]["Timeout"] for name in ("delayer-relay", "relaxed-claimer"))]
    assert (max(writers) + max(executors) + 60) * 1000 <= ATTEMPT_OVER
    ending = {consumed()[queue] for queue in HOLDING} - {"series-stepper"}  # its messages are events, and end nothing
    assert {FUNCTIONS[function]["Timeout"] for function in ending} <= set(writers)
    assert "lease" in HandOver.__annotations__


def test_the_delayer_period_leaves_room_for_the_whole_edge_minute() -> None:
    """Up to a minute more than the period is swept, and SQS delays no longer than 900 s."""
    period = expanded()["Parameters"]["DelayerPeriod"]
    assert period["Default"] <= period["MaxValue"] <= MAX_DELAY_SECONDS - 60


def test_the_api_waits_for_its_functions() -> None:
    by_name = {name: function for function, name in logical_names().items()}
    for integration in resources("AWS::ApiGatewayV2::Integration").values():
        function = by_name[logical(integration["IntegrationUri"])]
        assert integration["TimeoutInMillis"] > FUNCTIONS[function]["Timeout"] * 1000


# ------------------------------------------------------------ event sources


def test_every_batch_reports_its_partial_failures() -> None:
    sources = events("SQS") + events("DynamoDB")
    assert len(sources) == len(consumed()) + len(events("DynamoDB"))
    for function, properties in sources:
        assert properties["FunctionResponseTypes"] == ["ReportBatchItemFailures"], function


UNBOUNDED = {"sweep-bucket-enqueuer", "series-stepper", "executor-remote", "executor-canary"}


def test_a_queue_limits_its_consumers_where_a_burst_would_harm_others() -> None:
    """What an outage has filled would else take all concurrency of the account. The bound costs three pollers.

    What has none is little at a time, and a throttled receive of it harms nobody (ADR 0161).
    """
    for function, properties in events("SQS"):
        limits = properties.get("ScalingConfig", {})
        if "Fn::If" in limits:
            large, limits = a_large_one(limits)[0], a_large_one(limits)[1]
            provisioned, none = a_large_one(properties["ProvisionedPollerConfig"])
            # They exclude each other; CloudFormation removes a ScalingConfig if it is given an empty one.
            assert (large, none) == ({}, {"Ref": "AWS::NoValue"})
            assert 2 <= provisioned["MinimumPollers"] <= provisioned["MaximumPollers"] <= 200, function
        is_bounded = limits.get("MaximumConcurrency", NO_VALUE) != NO_VALUE
        assert is_bounded == (function not in UNBOUNDED and not function.startswith("policy-")), function


NO_VALUE = {"Ref": "AWS::NoValue"}


def a_large_one(value: dict[str, Any]) -> tuple[Any, Any]:
    """What holds with Scale=large, and what else."""
    condition, large, small = value["Fn::If"]
    assert condition == "IsLarge"
    return large, small


def test_only_the_relay_and_the_executors_are_provisioned() -> None:
    """By the calculation they bind first, and a poller costs by the hour (ADR 0122)."""
    provisioned = {function for function, properties in events("SQS") if "ProvisionedPollerConfig" in properties}
    assert provisioned == {"delayer-relay"} | {name for name in functions() if name.startswith("executor-")}


def test_the_account_allows_what_a_large_stack_may_run_at_a_time() -> None:
    """As the description of the parameter says."""
    scale = written()["Mappings"]["Scales"]
    assert f"{scale['large']['Concurrency']:,} concurrent executions" in written()["Parameters"]["Scale"]["Description"]
    assert scale["small"]["Concurrency"] == 1_000, "what an account has by default"


def test_batches_are_no_larger_than_they_are_worked_on_side_by_side() -> None:
    for function, properties in events("SQS"):
        assert properties["BatchSize"] <= 10, function
        assert "MaximumBatchingWindowInSeconds" not in properties, "nothing waits for company"


def test_the_stream() -> None:
    """The old image is the only copy: read from the beginning, tried for 23 hours, then kept with its payload."""
    [stream] = [properties for function, properties in events("DynamoDB") if function == "stream-enqueuer"]
    assert stream["Stream"] == {"Fn::GetAtt": "SchedulesTable.StreamArn"}
    assert stream["StartingPosition"] == "TRIM_HORIZON"
    assert stream["MaximumRecordAgeInSeconds"] == 23 * 3600
    assert stream["MaximumRetryAttempts"] == -1, "the age alone decides, whatever Lambda's pauses are"
    assert stream["BisectBatchOnFunctionError"] is True
    assert stream["DestinationConfig"]["OnFailure"] == {
        "Type": "S3",
        "Destination": {"Fn::GetAtt": "DeadLetterBucket.Arn"},
    }
    assert "MaximumBatchingWindowInSeconds" not in stream
    assert "FilterCriteria" not in stream, "the heartbeat must come through"


def test_the_stream_of_the_relaxed_lane() -> None:
    """The same, but for an hour; and only removals, of whomever: one by hand becomes a dead letter."""
    streams = dict(events("DynamoDB"))
    relaxed, precise = streams["relaxed-claimer"], streams["stream-enqueuer"]
    assert relaxed["Stream"] == {"Fn::GetAtt": "RelaxedTable.StreamArn"}
    assert relaxed["MaximumRecordAgeInSeconds"] == 3600
    assert relaxed["FilterCriteria"] == {"Filters": [{"Pattern": '{"eventName": ["REMOVE"]}'}]}
    assert relaxed["ParallelizationFactor"] == 10, "DynamoDB decides how many come at once"
    own = {"Stream", "MaximumRecordAgeInSeconds", "FilterCriteria", "ParallelizationFactor"}
    assert {name: value for name, value in relaxed.items() if name not in own} == {
        name: value for name, value in precise.items() if name not in own
    }


def test_removals_from_the_waiting_table_are_looked_at() -> None:
    """One by hand is put back. A change of a record asks nobody."""
    [mapping] = [one for function, one in events("DynamoDB") if function == "timing-enqueuer"]
    assert mapping["FilterCriteria"] == {"Filters": [{"Pattern": '{"eventName": ["INSERT", "REMOVE"]}'}]}
    assert mapping["MaximumRecordAgeInSeconds"] == 23 * 3600, "what was removed stands nowhere else"


def test_the_lease_of_a_relaxed_claim_is_the_timeout_of_its_function() -> None:
    """When it lapses, the function that claimed is gone."""
    assert variables("relaxed-claimer")["LEASE"] == str(FUNCTIONS["relaxed-claimer"]["Timeout"])


def test_lifecycle_events_are_off_the_firing_path() -> None:
    """A consumer of its own, which can be switched off, and tried again until the stream forgets."""
    readers_of_all = ("stream-lifecycle", "stream-occurrences")
    streams = [properties for function, properties in events("DynamoDB") if function in readers_of_all]
    assert {logical(stream["Stream"]) for stream in streams} == {*STREAMED}
    for stream in streams:
        assert stream["Enabled"] == {"Fn::If": ["HasEvents", True, False]}
        assert stream["StartingPosition"] == "TRIM_HORIZON"
        assert (stream["MaximumRetryAttempts"], stream["MaximumRecordAgeInSeconds"]) == (10_000, 86_400)
    for table in STREAMED:
        readers = [function for function, stream in events("DynamoDB") if logical(stream["Stream"]) == table]
        assert len(readers) <= 2, "of more readers of one shard, some are throttled"
    subscription = expanded()["Resources"]["JournalSubscription"]
    assert subscription["Condition"] == "HasJournal"
    assert subscription["Properties"]["RawMessageDelivery"] is True
    assert "Condition" not in expanded()["Resources"]["JournalTable"], "switching it off must not delete histories"


def test_the_journal_does_not_get_what_is_retold() -> None:
    """And all else. Its readers, and those that pass the times on, are updated before those that rely on them."""
    expanded_now = expanded()["Resources"]
    assert expanded_now["JournalSubscription"]["Properties"]["FilterPolicy"] == {"retold": [{"exists": False}]}
    for retold in (True, False):
        event = evolve(enqueued(an_id(), "owner", 1_000), retold=retold)
        topic = MemoryTopic()
        Announce(topic=topic, observer=MemoryObserver(), event_source="s")([LifecycleRecord(sequence="1", event=event)])
        assert [reaches_the_journal(one) for one in topic.published] == [not retold]
    assert set(expanded_now["LifecycleJournal"]["DependsOn"]) == {
        *("ApiScheduleGet", "ApiScheduleList", "ApiSchedulePatch", "ApiSeriesGet")
    }
    assert set(expanded_now["StreamLifecycle"]["DependsOn"]) == {"StreamEnqueuer", "RelaxedClaimer", "DelayerRelay"}


@of_each(sorted(name for name in FUNCTIONS if name.startswith("subscriber-")))
def test_a_subscriber_gets_each_event_that_it_asks_for_by_itself(function: str) -> None:
    """Of all types, if it does not say of which. SNS drops, without a word, what no value of its filter matches."""
    [queue] = [queue for queue, consumer in consumed().items() if consumer == function]
    subscriptions = {
        name: one
        for name, one in resources("AWS::SNS::Subscription").items()
        if f"{queue}.Arn" in json.dumps(one["Endpoint"])
    }
    [(name, subscription)] = subscriptions.items()
    assert expanded()["Resources"][name]["Condition"] == "HasEvents"
    assert subscription["RawMessageDelivery"] is True
    assert logical(subscription["RedrivePolicy"]["deadLetterTargetArn"]) == "SubscribersDeadLetterQueue"
    types = {f"{PREFIX}{one}" for one in EventType}
    table = written()["Mappings"]["Subscribers"].get(function.removeprefix("subscriber-"), {})
    assert set(subscription["FilterPolicy"]) == {"type"}
    assert set(subscription["FilterPolicy"]["type"]) == set(table.get("Events", types))
    assert set(subscription["FilterPolicy"]["type"]) <= types
    [mapping] = [one for consumer, one in events("SQS") if consumer == function]
    assert mapping["BatchSize"] == 1, "one that takes long, or the process along, holds up no other"
    assert FUNCTIONS[function]["Timeout"] <= 60


def test_a_subscription_waits_for_the_policy_of_its_queue() -> None:
    """SNS gives up at once if it may not deliver. In a loop, a reference is the only way to say so."""
    for name, subscription in expanded()["Resources"].items():
        if subscription["Type"] == "AWS::SNS::Subscription" and subscription["Properties"]["Protocol"] == "sqs":
            policy = name.replace("Subscription", "QueuePolicy")
            endpoint = subscription["Properties"]["Endpoint"]
            joined = {"Fn::Join": ["|", [{"Fn::GetAtt": f"{policy.removesuffix('Policy')}.Arn"}, {"Ref": policy}]]}
            assert policy == subscription.get("DependsOn") or endpoint == {
                "Fn::Select": [0, {"Fn::Split": ["|", joined]}]
            }


def test_series_hear_of_all_that_may_be_a_reason_to_step() -> None:
    """Of occurrences alone. A type of a later release is let through: it waits for the code that can read it."""
    subscription = resources("AWS::SNS::Subscription")["SeriesSubscription"]
    assert subscription["FilterPolicy"]["kind"] == ["occurrence", "relaxed-occurrence"]
    [rule] = subscription["FilterPolicy"]["type"]
    assert list(rule) == ["anything-but"]
    left_out = {EventType(one.removeprefix(PREFIX)) for one in rule["anything-but"]}
    assert left_out & AT_THE_CLAIM == set()
    assert left_out == {EventType.SCHEDULED, EventType.ENQUEUED, EventType.REDRIVEN}


def test_a_subscriber_that_is_asked_for_all_types_gets_all() -> None:
    """The default in the loop has each type that there is."""
    loop = written()["Resources"]["Fn::ForEach::Subscribers"][2]["Subscriber&{Name}Subscription"]
    _, _, _, default = loop["Properties"]["FilterPolicy"]["type"]["Fn::FindInMap"]
    assert sorted(default["DefaultValue"]) == sorted(f"{PREFIX}{one}" for one in EventType)


def test_the_minute_task() -> None:
    """A tick that was missed is not made up for: the next does the same."""
    [rule] = resources("AWS::Events::Rule").values()
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    started = {target["Id"]: target for target in rule["Targets"]}
    assert set(started) == {name for name in FUNCTIONS if name.startswith("task-1minute-")} | {"operator-id-key"}
    assert json.loads(started["operator-id-key"]["Input"]) == {"command": "ensure"}
    allowed = [
        one["Properties"] for one in deployed()["Resources"].values() if one["Type"] == "AWS::Lambda::Permission"
    ]
    may_start = {logical(one["FunctionName"]) for one in allowed if one["Principal"] == "events.amazonaws.com"}
    for name, target in started.items():
        assert target["RetryPolicy"] == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
        assert logical(target["DeadLetterConfig"]["Arn"]) in DEAD
        assert target["Arn"] == {"Fn::GetAtt": f"{logical_names()[name]}.Arn"}
        assert logical_names()[name] in may_start
        assert FUNCTIONS[name]["EventInvokeConfig"]["MaximumRetryAttempts"] == 0


def test_the_api_is_that_of_openapi_yaml() -> None:
    """Each path and method has a route and an integration, which may invoke its function."""
    documented = {
        f"{method.upper()} {path}"
        for path, item in OPENAPI["paths"].items()
        for method in item
        if method != "parameters"
    }
    routes = resources("AWS::ApiGatewayV2::Route")
    assert {route["RouteKey"] for route in routes.values()} == documented | {"$default"}
    integrations = resources("AWS::ApiGatewayV2::Integration")
    [invoker] = ROLES["ApiInvokerRole"]["Policies"]
    [may] = invoker["PolicyDocument"]["Statement"]
    assert may["Resource"]["Fn::Sub"].endswith(":function:${AWS::StackName}-api-*")
    for route in routes.values():
        assert route["AuthorizationType"] == {"Ref": "ApiAuthorization"}
        assert route["AuthorizerId"] == {"Fn::If": ["IsJwt", {"Ref": "JwtAuthorizer"}, {"Ref": "AWS::NoValue"}]}
        integration = integrations[logical(route["Target"])]
        assert integration["PayloadFormatVersion"] == "2.0"
        function = logical(integration["IntegrationUri"])
        assert FUNCTIONS_BY_LOGICAL_NAME[function].startswith("api-")
        assert integration["CredentialsArn"] == {"Fn::GetAtt": "ApiInvokerRole.Arn"}


# ------------------------------------------------------------ queues


@of_each(sorted(QUEUES))
def test_queues_keep_for_fourteen_days_and_encrypt(queue: str) -> None:
    """Ticks and sweep messages are written anew all the time; FIFO lets the jobs of an owner run one after another."""
    assert QUEUES[queue]["MessageRetentionPeriod"] == RENEWED.get(queue, FOURTEEN_DAYS)
    assert QUEUES[queue]["SqsManagedSseEnabled"] is True
    assert QUEUES[queue].get("FifoQueue", False) is (queue in ("GroupQueue", "GroupDeadLetterQueue"))


@of_each(HEALING)
def test_what_is_no_schedule_outlasts_an_outage_of_a_day_in_its_queue(queue: str) -> None:
    """The deliveries of a day, and a third more, leave it where it is: then it is handled without a command."""
    deliveries = 24 * 3600 / QUEUES[queue]["VisibilityTimeout"]
    assert QUEUES[queue]["RedrivePolicy"]["maxReceiveCount"] >= 4 / 3 * deliveries


@of_each(RENEWED)
def test_what_is_renewed_reaches_its_dead_letter_queue_before_it_expires(queue: str) -> None:
    """SQS counts from the first send; its alarm stands for a day or more. A tick goes there at once."""
    sources = [QUEUES[name] for name, dead in dead_letter_queues().items() if dead == queue]
    longest = max((one["VisibilityTimeout"] * one["RedrivePolicy"]["maxReceiveCount"] for one in sources), default=0)
    assert QUEUES[queue]["MessageRetentionPeriod"] >= longest + 24 * 3600


@of_each(sorted(QUEUES))
def test_queues_take_what_a_sender_may_send(queue: str) -> None:
    """One message may be as large as a whole batch."""
    assert QUEUES[queue]["MaximumMessageSize"] == BATCH_BYTES


@of_each(sorted(QUEUES))
def test_queues_are_kept_when_their_stack_is_deleted(queue: str) -> None:
    """What waits there left the table. `make move-queues` finds it by the tag (ADR 0074)."""
    resource = expanded()["Resources"][queue]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == KEPT
    [tag] = QUEUES[queue]["Tags"]
    assert tag["Key"] == TAG
    name = tag["Value"]["Fn::Sub"].removeprefix("${AWS::StackName}/")
    function = consumed().get(queue, "")
    of_a_loop = function.startswith(("executor-", "subscriber-", "policy-"))
    assert name == (function if of_a_loop else queue)


def test_no_two_queues_have_one_tag() -> None:
    tags = [one["Tags"][0]["Value"]["Fn::Sub"] for one in QUEUES.values()]
    assert len(set(tags)) == len(tags)


# ------------------------------------------------------------ the name of the stack


NAME_LIMITS = {
    "FunctionName": 64,
    "LayerName": 140,
    "LogGroupName": 512,
    "Name": 128,
    "DashboardName": 255,
    "QueueName": 80,
}


def text_of(value: dict[str, Any]) -> str:
    """The text of a Sub, with or without variables of its own."""
    text = value.get("Fn::Sub", "")
    return text if isinstance(text, str) else str(text[0])


def test_the_longest_name_of_a_stack() -> None:
    """Names that hold that of the stack have limits of their own. CloudFormation shortens only names that it makes."""
    longest = min(
        NAME_LIMITS[name] - len(text_of(value).replace("${AWS::StackName}", "").replace("${Stack}", "8 of hex"))
        for resource in expanded()["Resources"].values()
        for name, value in resource.get("Properties", {}).items()
        if name.endswith("Name") and "AWS::StackName" in json.dumps(value)
    )
    [checked] = re.findall(r"^LONGEST_STACK_NAME := (\d+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert int(checked) == longest
    assert f"at most {longest} characters" in (ROOT / "docs/start/aws.md").read_text()
    assert f"at most {longest} characters" in written()["Description"]


@of_each(WORKING)
def test_what_comes_back_leaves_its_queue_for_one_of_its_own(queue: str) -> None:
    """Throttled deliveries count, too: only what has been given out for hours comes to the suspects by its count."""
    dead = dead_letter_queues()[queue]
    assert sorted(name for name in WORKING if dead_letter_queues()[name] == dead) == SHARED.get(dead, [queue])
    assert queue in consumed()
    receives = QUEUES[queue]["RedrivePolicy"]["maxReceiveCount"]
    assert receives == 1_000 if dead in SUSPECTS else receives >= 10


def test_every_consumed_queue_works_or_is_a_dead_letter_queue() -> None:
    assert set(consumed()) <= set(WORKING) | set(dead_letter_queues().values())


def test_schedules_come_to_suspects_and_never_to_a_dead_letter_queue() -> None:
    """All to one queue (ADR 0156). There they are handled alone, and no receive count gives one up (ADR 0081).

    So are the events of series: one that fails must hold up no other series.
    """
    assert SUSPECTS == ["SuspectsQueue"]
    assert {dead_letter_queues()[queue] for queue in HOLDING} == {"SuspectsQueue"}
    assert "RedrivePolicy" not in QUEUES["SuspectsQueue"]
    batches = {logical(one["Queue"]): one["BatchSize"] for _, one in events("SQS")}
    assert batches["SuspectsQueue"] == 1


def test_a_suspect_is_handed_to_the_function_of_its_queue() -> None:
    """The queue has the name by which the dispatcher tells it, and each such function knows the queue of suspects."""
    for queue in HOLDING:
        text, values = QUEUES[queue]["QueueName"]["Fn::Sub"]
        name = text.replace("${AWS::StackName}", "delayer")
        for variable in values:
            name = name.replace(f"${{{variable}}}", "0a1b2c3d")
        assert consumer_of("", name, "delayer") == consumed()[queue]
        assert variables(consumed()[queue])["SUSPECTS_QUEUE"] == {"Fn::GetAtt": "SuspectsQueue.QueueName"}
    dispatcher = FUNCTIONS["suspects-dispatcher"]
    longest = max(FUNCTIONS[consumed()[queue]]["Timeout"] for queue in HOLDING)
    assert longest < LONGEST_RUN < dispatcher["Timeout"] - MOST_MARGIN
    assert dispatcher["Timeout"] < QUEUES["SuspectsQueue"]["VisibilityTimeout"], "a second copy would begin meanwhile"


TLS_ONLY = {"Bool": {"aws:SecureTransport": "false"}}


def refuses_without_tls(policy: dict[str, Any]) -> set[str]:
    """What a policy guards: the names in the resources of its Deny."""
    [deny] = [one for one in policy["PolicyDocument"]["Statement"] if one["Effect"] == "Deny"]
    assert (deny["Principal"], deny["Condition"]) == ("*", TLS_ONLY)
    assert deny["Action"] in (["sqs:*"], ["s3:*"])
    return {resource_name(one) for one in listed(deny["Resource"])}


def test_no_queue_and_no_bucket_answers_without_tls() -> None:
    """A queue has one policy only: of two, the last one that is written counts."""
    policies = resources("AWS::SQS::QueuePolicy").values()
    guarded = [logical(queue) for policy in policies for queue in policy["Queues"]]
    assert sorted(guarded) == sorted(QUEUES)
    for policy in policies:
        assert refuses_without_tls(policy) == {logical(queue) for queue in policy["Queues"]}
    [bucket] = resources("AWS::S3::BucketPolicy").values()
    assert refuses_without_tls(bucket) == {"DeadLetterBucket", "DeadLetterBucket/*"}


def test_a_queue_of_events_takes_them_from_our_topic_alone() -> None:
    """SNS sends for every account of AWS: without the topic as the source, anybody's topic could send events to us."""
    of_topic = {"ArnEquals": {"aws:SourceArn": {"Ref": "LifecycleTopic"}}}
    allowed: dict[str, dict[str, Any]] = {}
    for policy in resources("AWS::SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            if statement["Effect"] == "Allow":
                allowed |= {logical(queue): statement for queue in listed(statement["Resource"])}
    of_rule = {"ArnEquals": {"aws:SourceArn": {"Fn::GetAtt": "EveryMinute.Arn"}}}
    ticks = allowed.pop("TaskDeadLetterQueue")
    assert (ticks["Principal"], ticks["Condition"]) == ({"Service": "events.amazonaws.com"}, of_rule)
    for statement in allowed.values():
        assert statement["Principal"] == {"Service": "sns.amazonaws.com"}
        assert (statement["Action"], statement.get("Condition")) == (["sqs:SendMessage"], of_topic)
    subscriptions = [one for one in resources("AWS::SNS::Subscription").values() if one["Protocol"] == "sqs"]
    sent_to = {queue for queue in QUEUES for one in subscriptions if f'"{queue}.Arn"' in json.dumps(one)}
    assert set(allowed) == sent_to, "by a subscription, or when a subscription cannot deliver"


def test_an_alarm_on_what_waits_among_suspects() -> None:
    """For a quarter of an hour, in flight or not. SQS does not count the age of what came back three times."""
    alarm, queue = ALARMS["SuspectsAlarm"], "SuspectsQueue"
    assert alarm["Metrics"][0] == {"Id": "all", "Expression": "visible + inflight"}
    metrics = {one["Id"]: one["MetricStat"]["Metric"] for one in alarm["Metrics"][1:]}
    assert {name: metric["MetricName"] for name, metric in metrics.items()} == {
        "visible": "ApproximateNumberOfMessagesVisible",
        "inflight": "ApproximateNumberOfMessagesNotVisible",
    }
    here = [{"Name": "QueueName", "Value": {"Fn::GetAtt": f"{queue}.QueueName"}}]
    assert [metric["Dimensions"] for metric in metrics.values()] == [here, here]
    assert (alarm["EvaluationPeriods"], alarm["Threshold"], "DatapointsToAlarm" in alarm) == (15, 1, False)


@of_each(DEAD)
def test_a_dead_letter_queue_takes_messages_only_from_its_own_queue(queue: str) -> None:
    """By name: the two queues cannot refer to each other. The id of the stack makes the name one of its own."""
    policy = QUEUES[queue]["RedriveAllowPolicy"]
    if queue in SHARED:
        assert policy == {"redrivePermission": "allowAll"}, "by name, ten queues at most"
        return
    assert policy["redrivePermission"] == "byQueue"
    [(arn, named)] = [one["Fn::Sub"] for one in policy["sourceQueueArns"]]
    source = queue.replace("DeadLetterQueue", "Queue")
    fifo = ".fifo" if QUEUES.get(source, {}).get("FifoQueue") else ""
    name = f"${{AWS::StackName}}-{source}-${{Id}}{fifo}"
    assert arn == f"arn:${{AWS::Partition}}:sqs:${{AWS::Region}}:${{AWS::AccountId}}:{name}"
    if source in QUEUES:
        assert QUEUES[source]["QueueName"] == {"Fn::Sub": [name, named]}
        assert dead_letter_queues()[source] == queue
    else:
        assert queue == "TaskDeadLetterQueue", "to which EventBridge sends, and no queue moves anything"


def test_the_api_writes_an_access_log_without_queries_and_headers() -> None:
    [stage] = resources("AWS::ApiGatewayV2::Stage").values()
    log = stage["AccessLogSettings"]
    assert LOGS[logical(log["DestinationArn"])]["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    line = json.loads(log["Format"])
    assert {"requestId", "route", "status", "latencyMs", "caller", "subject", "functionRequestId"} <= set(line)
    assert not re.search("header|query|path|rawPath|userAgent", log["Format"])


def test_quotas_that_cost_nothing_are_on() -> None:
    """The others cost writes or need the journal."""
    parameters = expanded()["Parameters"]
    assert parameters["MaxCreatesPerSecond"]["Default"] > 0
    assert parameters["MaxCreatesPerMinute"]["Default"] == parameters["MaxLiveSchedules"]["Default"] == 0
    creating = {function for function in FUNCTIONS if "MAX_CREATES_PER_MINUTE" in variables(function)}
    assert creating == {function for function in FUNCTIONS if "MAX_CREATES_PER_SECOND" in variables(function)}


# ------------------------------------------------------------ tables and the bucket


@of_each(sorted(TABLES))
def test_tables_are_kept_and_can_be_restored(table: str) -> None:
    resource = expanded()["Resources"][table]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == KEPT
    assert TABLES[table]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert "SSESpecification" not in TABLES[table], "DynamoDB encrypts with a key of its own, which costs nothing"
    assert TABLES[table]["BillingMode"] == "PAY_PER_REQUEST"


@of_each(sorted(TABLES))
def test_tables_have_no_index_and_no_replica(table: str) -> None:
    """An index doubles the cost of a write and is eventually consistent; a second active region would fire twice."""
    assert not {"GlobalSecondaryIndexes", "LocalSecondaryIndexes", "Replicas"} & set(TABLES[table])
    assert not resources("AWS::DynamoDB::GlobalTable")


@of_each(
    [
        ("SchedulesTable", {"bucket": "HASH", "due": "RANGE"}),
        ("RelaxedTable", {"bucket": "HASH", "due": "RANGE"}),
        ("LedgerTable", {"scheduleId": "HASH"}),
        ("ControlTable", {"name": "HASH"}),
        ("RegistryTable", {"list": "HASH", "entry": "RANGE"}),
        ("JournalTable", {"list": "HASH", "entry": "RANGE"}),
    ],
    unpacked=True,
)
def test_keys(table: str, keys: dict[str, str]) -> None:
    assert {key["AttributeName"]: key["KeyType"] for key in TABLES[table]["KeySchema"]} == keys
    types = {key["AttributeName"]: key["AttributeType"] for key in TABLES[table]["AttributeDefinitions"]}
    assert types == dict.fromkeys(keys, "S")


def test_what_expires_and_what_does_not() -> None:
    """Of the control rows, only those of suspects have this attribute: `tests/contract/dynamodb/test_trials.py`."""
    assert "TimeToLiveSpecification" not in TABLES["WaitingTable"], "no margin is counted from an id without a time"
    for table in (one for name, one in TABLES.items() if name != "WaitingTable"):
        assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}


def test_schedules_and_ledger_have_a_stream_with_both_images() -> None:
    streams = {name: table["StreamSpecification"] for name, table in TABLES.items() if "StreamSpecification" in table}
    assert streams == {name: {"StreamViewType": "NEW_AND_OLD_IMAGES"} for name in STREAMED}


def test_the_bucket_is_kept_versioned_encrypted_and_private() -> None:
    [(name, bucket)] = resources("AWS::S3::Bucket").items()
    resource = expanded()["Resources"][name]
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == KEPT
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert "BucketEncryption" in bucket
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4


# ------------------------------------------------------------ who may do what


def test_one_role_for_each_function() -> None:
    roles = [logical(properties["Role"]) for properties in FUNCTIONS.values()]
    assert sorted(roles) == sorted(set(roles)) == sorted(OF_FUNCTIONS)
    for function in FUNCTIONS:
        assert len(role_of(function)["Policies"]) == 1
        assert "Policies" not in FUNCTIONS[function]


OF_THE_LOOP = re.compile(r"Policy\w+AskPolicy")  # of those who ask a policy
OF_SEVERAL = {"ExecutorTargetRolesPermissions"}  # executors

NAMES_OF_QUEUES = re.compile(r"\$\{AWS::StackName\}-executor-")


def test_the_relay_may_send_to_the_queues_of_all_executors_and_to_no_other() -> None:
    """They have names that begin alike, so that one statement allows all (ADR 0102); those of no other queue do."""
    of_executors = {logical(one["Queue"]) for one in resources("Custom::DelayerAction").values()}
    named = {
        name
        for name, queue in resources("AWS::SQS::Queue").items()
        if NAMES_OF_QUEUES.match(str(queue.get("QueueName", {}).get("Fn::Sub", [""])[0]))
    }
    assert named == of_executors


def test_a_policy_beside_a_role_is_that_of_those_who_ask_a_policy() -> None:
    """The others have theirs in their roles, where it costs no resource (ADR 0102)."""
    assert [name for name in POLICIES if not OF_THE_LOOP.fullmatch(name)] == []


@of_each(sorted(set(resources("AWS::IAM::ManagedPolicy")) - OF_SEVERAL))
def test_a_managed_policy_is_what_one_function_of_a_loop_has_beyond_the_others(policy: str) -> None:
    """It names no role: where a parameter leaves the function out, there is none (ADR 0155)."""
    [role] = [role for role in ROLES if policy in managed_policies_of(role)]
    [function] = [name for name in FUNCTIONS if FUNCTIONS[name]["Role"] == {"Fn::GetAtt": f"{role}.Arn"}]
    assert of_a_loop(function)
    assert policy == f"{logical_names()[function]}Permissions"
    assert set(resources("AWS::IAM::ManagedPolicy")[policy]) == {"Description", "PolicyDocument"}


def test_a_mapping_that_a_loop_makes_names_its_function() -> None:
    """So it is made after the function, and the function after its policy."""
    for mapping in resources("AWS::Lambda::EventSourceMapping").values():
        assert set(mapping["FunctionName"]) == {"Ref"}


@of_each(sorted(ROLES))
def test_a_role_is_taken_by_its_service_only(role: str) -> None:
    [statement] = ROLES[role]["AssumeRolePolicyDocument"]["Statement"]
    service = "apigateway" if role == "ApiInvokerRole" else "lambda"
    assert statement["Principal"] == {"Service": f"{service}.amazonaws.com"}


def test_what_reaches_targets_can_be_put_into_a_vpc_and_nothing_else() -> None:
    """With the right to do so, in AWS's own policy for that: it writes no log."""
    chosen = {name for name, one in FUNCTIONS.items() if "VpcConfig" in one}
    reaching = {name for name in FUNCTIONS if name.startswith(("executor-", "subscriber-"))} | {"api-connection-test"}
    assert chosen == reaching
    for name, function in FUNCTIONS.items():
        arns = ROLES[logical(function["Role"])].get("ManagedPolicyArns", [])
        assert ("AWSLambdaENIManagementAccess" in str(arns)) == (name in chosen), name
        if name in chosen:
            condition, put, otherwise = function["VpcConfig"]["Fn::If"]
            assert (condition, otherwise) == ("IsInVpc", {"Ref": "AWS::NoValue"})
            assert put == {one: {"Fn::Split": [",", {"Ref": one}]} for one in ("SubnetIds", "SecurityGroupIds")}


@of_each(OF_FUNCTIONS)
def test_no_managed_policy_but_that_of_tracing_when_it_is_on(role: str) -> None:
    """Beside those of the template itself, of which an executor has some, and that of a VPC."""
    arns = ROLES[role]["ManagedPolicyArns"]
    condition, then, otherwise = (arns if "Fn::If" in arns else arns[0])["Fn::If"]
    assert condition == "IsTraced"
    assert otherwise in ([], {"Ref": "AWS::NoValue"})
    assert [one["Fn::Sub"].rpartition("/")[2] for one in listed(then)] == ["AWSXRayDaemonWriteAccess"]
    assert set(managed_policies_of(role)) <= set(resources("AWS::IAM::ManagedPolicy"))


@each_function
def test_no_wildcard(function: str) -> None:
    """Neither for an action nor for a resource; a star stands behind a name of ours only.

    What a team allows its own function is looked at in test_policies.py.
    """
    for statement in compared(function):
        assert statement["Effect"] == "Allow"
        assert not {"NotAction", "NotResource"} & set(statement)
        for action in listed(statement["Action"]):
            assert re.fullmatch(r"[a-z0-9]+:[A-Za-z]+", action)
        for resource in listed(statement["Resource"]):
            assert resource != "*"
            text = str(resource)
            if "*" in text:
                ours = (
                    "DeadLetterBucket.Arn",
                    "secret:${AWS::StackName}/connections/*",
                    "${AWS::StackName}-executor-*",
                )
                assert any(name in text for name in ours) or re.search(r"\$\{\w+TargetNamePattern\}", text)


def test_no_owner_reaches_the_stacks_own_queues() -> None:
    """Whatever the parameter's pattern matches. Its own queue takes its retries, so that one the code alone refuses."""
    [statement] = denied("executor-sqs-send")
    assert statement["Action"] == ["sqs:SendMessage"]
    [own_queue] = statement["NotResource"]
    name_of_it = text_of(QUEUES[logical(variables("executor-sqs-send")["OWN_QUEUE"])]["QueueName"])
    arn = "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:"
    assert text_of(own_queue) == f"{arn}{name_of_it}", "by its name: where it is left out, there is no such resource"
    tag = {f"aws:ResourceTag/{TAG}": {"Fn::Sub": "${AWS::StackName}/*"}}
    assert statement["Condition"] == {"StringLike": tag}, "each queue of the stack has such a tag"
    assert variables("executor-sqs-send")["STACK"] == {"Ref": "AWS::StackName"}
    for queue, properties in QUEUES.items():
        assert queue.endswith("Queue"), "by this the code knows it, in the name of CloudFormation's"
        if "QueueName" in properties:
            name = text_of(properties["QueueName"])
            assert name.startswith("${AWS::StackName}-")
            own = name.replace("${AWS::StackName}", "delayer").replace("${Id}", "1a2b").replace("${Stack}", "1a2b")
            assert OWN_QUEUE.fullmatch(own, len("delayer")), name
    limited = ["executor-lambda-invoke", "executor-sns-publish", "executor-sqs-send"]
    assert sorted(function for function in FUNCTIONS if denied(function) and not is_added(function)) == limited


def test_sqs_targets_are_in_the_stacks_own_region_unless_others_are_allowed() -> None:
    """And in its own account and partition. The code refuses what the policy does not allow, and says why."""
    [statement] = [one for one in statements("executor-sqs-send") if "TargetNamePattern" in str(one["Resource"])]
    assert statement["Resource"]["Fn::Sub"].startswith("arn:${AWS::Partition}:sqs:*:${AWS::AccountId}:")
    given, own = {"Fn::Split": [",", {"Ref": "SqsTargetRegions"}]}, {"Ref": "AWS::Region"}
    allowed = {"Fn::If": ["HasSqsTargetRegions", given, own]}
    assert statement["Condition"] == {"StringEquals": {"aws:RequestedRegion": allowed}}
    known = {"Fn::If": ["HasSqsTargetRegions", {"Ref": "SqsTargetRegions"}, own]}
    assert variables("executor-sqs-send")["SQS_TARGET_REGIONS"] == known
    assert variables("executor-sqs-send")["ACCOUNT"] == {"Ref": "AWS::AccountId"}


def test_no_function_scans() -> None:
    """Cost follows what is due, not what is stored."""
    granted = {action for name in FUNCTIONS for one in statements(name) for action in listed(one["Action"])}
    assert SCAN not in granted
    assert SCAN not in {action for calls in CALLS.values() for action, _ in calls}, "the adapters' calls are recorded"


# ------------------------------------------------------------ parameters


@of_each(sorted(expanded()["Parameters"]))
def test_parameters_have_a_description_a_default_and_bounds(parameter: str) -> None:
    """A stack can be deployed without an answer to any of them."""
    given = expanded()["Parameters"][parameter]
    assert given.get("Description", "").endswith("."), "its Description is a sentence with a full stop"
    assert "Default" in given, "it needs a Default"
    if parameter != "AlarmEmail":
        bounds = {"AllowedValues", "AllowedPattern"} & set(given) or {"MinValue", "MaxValue"} <= set(given)
        assert bounds, "it needs AllowedPattern, AllowedValues, or both MinValue and MaxValue"


def test_parameters_are_used_and_grouped() -> None:
    text = (ROOT / "template.yaml").read_text()
    groups = expanded()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    grouped = [parameter for group in groups for parameter in group["Parameters"]]
    assert sorted(grouped) == sorted(expanded()["Parameters"]), "each stands once in the ParameterGroups"
    for parameter in grouped:
        is_used = re.search(
            rf"!Ref {parameter}\b|Setting: {parameter}\b|DefaultValue: {parameter}\b|\$\{{{parameter}\}}", text
        )
        assert is_used, f"nothing uses the parameter {parameter}"


def test_safe_by_default() -> None:
    """What one machine opens is closed in an account."""
    defaults = {name: given["Default"] for name, given in expanded()["Parameters"].items()}
    assert defaults["ApiAuthorization"] == "AWS_IAM"
    assert defaults["AllowPrivateTargets"] == "false"
    assert defaults["PrivateTargetsAccount"] == ""
    assert defaults["SqsTargetNamePattern"] == "delayer-target-*"
    assert defaults["SqsTargetRegions"] == defaults["SqsTargetKeyArns"] == ""


def accepts(parameter: str, value: str) -> bool:
    return re.fullmatch(expanded()["Parameters"][parameter]["AllowedPattern"], value) is not None


@of_each(["JwtOwnerClaim", "JwtReadScope", "JwtWriteScope"])
def test_no_claim_and_no_scope_is_a_hyphen(parameter: str) -> None:
    """Functions read it as none: a scope that is wanted would not be asked for."""
    assert not accepts(parameter, "-")
    for value in ("sub", "-a", "--", "a-", "https://x.example/read", "a" * 128, "-" + "a" * 127):
        assert accepts(parameter, value), value
    assert not accepts(parameter, "a" * 129)
    assert not accepts(parameter, "-" + "a" * 128)
    assert accepts(parameter, "") == (parameter != "JwtOwnerClaim")


@of_each(["Sns", "Event", "Lambda", "Step"])
def test_no_action_may_reach_everything_in_the_account(service: str) -> None:
    """Whoever widens the pattern says at least a part of a name."""
    parameter = f"{service}TargetNamePattern"
    for pattern in ("delayer-target-*", "orders", "*-orders", "a*", "_", "**a**"):
        assert accepts(parameter, pattern)
    for pattern in ("*", "**", "", "*?", "a?", "a:b", "arn:*", "a/*", "${a}"):
        assert not accepts(parameter, pattern)
    assert accepts(parameter, "orders-*.fifo") == (service in ("Sns", "Event"))
    assert not accepts("SnsTargetNamePattern", "*.fifo")


def test_roles_are_named_whole() -> None:
    """A pattern would let owners assume whatever role trusts this account."""
    role = "arn:aws:iam::123456789012:role"
    for roles in ("", f"{role}/one", f"{role}/path/to/a.b_c+d=e@f-1,{role}/two"):
        assert accepts("TargetRoleArns", roles)
    for roles in (
        "*",
        f"{role}/*",
        f"{role}/on?",
        "arn:aws:iam::*:role/one",
        f"{role}/${{aws:x}}",
        f"{role}/a,*",
        f"{role}/",
    ):
        assert not accepts("TargetRoleArns", roles)


# ------------------------------------------------------------ what must not be deployed by accident


def private_targets(account: str, **given: str) -> bool:
    """Whether executors in this account reach private addresses. Raises ValueError if CloudFormation refuses."""
    template = expanded()
    with request_scope(account, "eu-west-1"):
        pairs = [{"Key": name, "Value": value} for name, value in given.items()]
        parameters = {"AWS::AccountId": {"Value": account}, **engine._resolve_parameters(template, pairs)}
        conditions = engine._evaluate_conditions(template, parameters)
        engine._evaluate_rules(template, parameters, conditions)
    match variables("executor-http-request")["ALLOW_PRIVATE_TARGETS"]:
        case {"Fn::If": [str(condition), "true", "false"]}:
            return bool(conditions[condition])
    raise AssertionError("the executor does not obey a condition")


def test_private_targets_are_not_allowed_by_accident() -> None:
    """One parameter alone is refused; the file of another account, or of one machine, has no effect."""
    assert not private_targets("123456789012")
    with pytest.raises(ValueError, match="set PrivateTargetsAccount to the id of this account"):
        private_targets("123456789012", AllowPrivateTargets="true")
    for other in ("210987654321", PARAMETERS_ON_ONE_MACHINE["PrivateTargetsAccount"]):
        assert not private_targets("123456789012", AllowPrivateTargets="true", PrivateTargetsAccount=other)
    assert private_targets("123456789012", AllowPrivateTargets="true", PrivateTargetsAccount="123456789012")
    assert not private_targets("123456789012", PrivateTargetsAccount="123456789012")


def test_one_machine_may_have_private_targets() -> None:
    """Its account is one that AWS does not have."""
    on_one_machine = {
        name: PARAMETERS_ON_ONE_MACHINE[name] for name in ("AllowPrivateTargets", "PrivateTargetsAccount")
    }
    assert private_targets("000000000000", **on_one_machine)


def test_a_webhook_for_failures_needs_events() -> None:
    """Without them it would never be called, and nobody would know."""
    given = {"FailedWebhookUrl": "https://example.com/failed"}
    assert not private_targets("123456789012", **given)
    with pytest.raises(ValueError, match="FailedWebhookUrl needs Lifecycle=journal or events"):
        private_targets("123456789012", **given, Lifecycle="off")
