"""Each function may do what its code does, and nothing else; it is given the variables that it reads, and no others.

What the code does is the product of what its use cases call (ADR 0176) and of what the contract tests recorded of the
adapters behind it (ADR 0060). What a team has added may do as well what its own policy says (ADR 0088).
"""

import re
from fnmatch import fnmatchcase
from typing import Any, Final

from attrs import evolve, field, frozen

from delayer.dead_letters.dead_letter import DeadLetters, undeliverable
from delayer.dead_letters.model import BROUGHT_BACK, WAITING, DeadLetter, Prefix
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory import ManualClock, MemoryObjects, MemoryObserver
from delayer.ledger.model import State
from delayer.ledger.repository import StoredLedgerInBatches
from delayer.ledger.rules import ended
from tests.cfn import (
    ROOT,
    consumed,
    events,
    functions,
    leading_keys,
    listed,
    logical,
    resource_name,
    shared_variables,
    variables,
)
from tests.contract.aws_calls import CALLS, PORTS, ROWS
from tests.functions.cold_start import Port, cold_start
from tests.looking import put_row
from tests.running.of_each import of_each
from tests.samples import NOW, a_claim, an_executor_message
from tests.tables import on_sqlite
from tests.template.added import LOOPS, SHIPPED, faults, is_added, own_resources, stanza
from tests.template.added import compared as statements

Permission = tuple[str, str]  # the name of a resource, an IAM action

VALUES: Final = "AWS::StackName/connections"  # those of connections, in Secrets Manager
ADAPTERS: Final = {adapter.__name__ for adapter in PORTS}
OF_CONTROL_ROWS: Final = {
    "StoredActions",
    "StoredBlocks",
    "StoredControl",
    "StoredLines",
    "StoredOwnerClaim",
    "StoredOwnerPolicies",
    "StoredSeats",
    "StoredSeriesProgress",
    "StoredSigningRows",
    "StoredTrials",
}
LOCAL: Final = {
    "SystemClock",
    "Threads",
    "WorkerThreads",
    "Telemetry",
    "TokenEndpoint",
}  # what asks nothing of AWS
# What each action asks of AWS. The name of a resource is that of the template, or of the parameter in its ARN.
ROLES: Final[set[Permission]] = {("TargetRoleArns", "sts:AssumeRole")}
TARGETS: Final[dict[str, set[Permission]]] = {
    "canary": set(),
    "http-request": {("RegistryTable", f"dynamodb:{call}") for call in ("GetItem", "PutItem")}
    | {(secret, "secretsmanager:GetSecretValue") for secret in (VALUES,)},
    "sqs-send": {("SqsTargetNamePattern", "sqs:SendMessage")}
    | {("SqsTargetKeyArns", action) for action in ("kms:GenerateDataKey", "kms:Decrypt")}
    | ROLES,
    "sns-publish": {("SnsTargetNamePattern", "sns:Publish")} | ROLES,
    "event-put": {("EventTargetNamePattern", action) for action in ("events:PutEvents", "events:DescribeEventBus")}
    | ROLES,
    "lambda-invoke": {("LambdaTargetNamePattern", "lambda:InvokeFunction")} | ROLES,
    "step-start": {
        ("StepTargetNamePattern", action) for action in ("states:StartExecution", "states:DescribeStateMachine")
    }
    | ROLES,
    "remote": set(),  # the permission is that of the function in another stack, which admits this role (ADR 0090)
}
# Where such a resource is named by a pattern or by a parameter, what limits it further.
LISTS_OF_FLOW: Final = {"flow", "flow-slots"}  # of the registry
USES_CONNECTIONS: Final = {
    "dynamodb:GetItem": {"connections#*", "connection-token#*"},
    "dynamodb:PutItem": {"connection-token#*"},
}
# The lists of the registry for those who have no business in the others. All other functions have the whole table.
LISTS_OF_REGISTRY: Final[dict[str, dict[str, set[str]]]] = {
    "executor-http-request": USES_CONNECTIONS,
    "api-connection-test": {**USES_CONNECTIONS, "dynamodb:UpdateItem": {"rate#*"}},
    "api-connection-put": {
        "dynamodb:GetItem": {"connections#*"},
        "dynamodb:Query": {"connections#*", "connection-uses#*", "connection-secrets"},
        "dynamodb:PutItem": {"connections#*", "connection-gate#*", "connection-secrets"},
        "dynamodb:DeleteItem": {"connections#*", "connection-gate#*", "connection-token#*", "connection-secrets"},
        "dynamodb:UpdateItem": {"connection-count#*"},
    },
}
LIMITS: Final = {
    "SqsTargetNamePattern": {"StringEquals": ["aws:RequestedRegion"]},
    "SqsTargetKeyArns": {"StringLike": ["kms:ViaService"]},
    **{
        f"{service}TargetNamePattern": {"StringEquals": ["aws:RequestedRegion"]}
        for service in ("Sns", "Event", "Lambda", "Step")
    },
}
CONSUMING: Final = {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
STREAMING: Final = {f"dynamodb:{one}" for one in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")}

# Where in the store each method of the use case DeadLetters puts and deletes; recorded below.
PLACES: Final[dict[str, set[tuple[str, str]]]] = {
    "take": {("put", Prefix.DEAD_LETTERED), ("remove", Prefix.DEAD_LETTERED)},
    "store_failed": {("put", Prefix.FAILED)},
    "release_failed": {("remove", Prefix.FAILED)},
}

# The parts of the store that use cases have of their own.
BROUGHT_BACK_OF: Final[dict[str, tuple[str, ...]]] = {
    "Enqueue": (WAITING,),
    "ClaimRelaxed": (WAITING,),
    "BringBack": BROUGHT_BACK,
}

each_function = of_each(sorted(functions()))


# ------------------------------------------------------------ what the code needs


def of_port(port: Port) -> set[Permission]:
    """What a use case needs for one of the objects that it holds; another use case says for itself what it needs."""
    if port.held == "DeadLetters":
        places = {place for method in port.methods for place in PLACES[method]}
        return {(f"DeadLetterBucket/{prefix}/*", of_store(method)) for method, prefix in places}
    if port.held in ("Executor", "RemoteTarget"):
        return TARGETS.get(port.resources.get("kind", "remote"), set())
    if port.held == "StoredDeadLetters" and port.use_case in BROUGHT_BACK_OF:
        return of_prefixes(port)
    if port.held == "StoredDeadLetters":
        return of_any_place(port)
    if port.held == "LambdaConsumers":
        return {(name, "lambda:InvokeFunction") for name in ("DelayerRelay", "SeriesStepper", "Executor*")}
    assert port.held in ADAPTERS | LOCAL, f"what does {port.held} ask of AWS? A target belongs to TARGETS or LOCAL"
    calls = [call for method in port.methods for call in CALLS.get((port.held, method), ())]
    return {(of_connections(port.resources[field]), action) for action, field in calls}


def of_connections(resource: str) -> str:
    """One of the secrets whose names begin so stands for them all."""
    return VALUES if resource.startswith(f"{VALUES}/") else resource


def of_store(method: str) -> str:
    [(action, _)] = CALLS["StoredDeadLetters", method]
    return action


def of_prefixes(port: Port) -> set[Permission]:
    """A use case that has a part of the store. What it sets aside has one prefix, whatever it reads."""
    bucket, actions = port.resources["bucket"], {of_store(method) for method in port.methods}
    of_objects = {
        (f"{bucket}/{prefix}*", action)
        for action in actions - {"s3:ListBucket"}
        for prefix in ((WAITING,) if action == "s3:PutObject" else BROUGHT_BACK_OF[port.use_case])
    }
    return of_objects | {(bucket, action) for action in actions & {"s3:ListBucket"}}


def of_any_place(port: Port) -> set[Permission]:
    """The keys are the operator's. What DeadLetters needs of its store is what its own callers need."""
    if port.use_case == "DeadLetters":
        assert set(port.methods) == {method for places in PLACES.values() for method, _ in places}
        return set()
    bucket, actions = port.resources["bucket"], {of_store(method) for method in port.methods}
    return {(bucket if action == "s3:ListBucket" else f"{bucket}/*", action) for action in actions}


def of_code(function: str) -> set[Permission]:
    ports = cold_start(function).ports
    users = {port.use_case for port in ports} - {"DeadLetters"}  # what they ask for is listed under their own names
    needed = {permission for port in ports if port.held not in users for permission in of_port(port)}
    if function in ("delayer-relay", "relaxed-claimer"):
        # They hand over to all executors, whose queues they know by their registrations.
        needed |= {("Executor*Queue", "sqs:SendMessage")}
    if function in ("timing-enqueuer", "task-1minute-timing"):  # they ask all policies, whose queues they know by name
        asked = {queue for queue, consumer in consumed().items() if consumer.startswith("policy-")}
        needed |= {(queue, "sqs:SendMessage") for queue in asked}
    return needed


def of_event_sources(function: str) -> set[Permission]:
    """What Lambda does with the role of the function: it reads the sources, and stores what it gave up on."""
    wanted = {(queue, action) for queue, user in consumed().items() if user == function for action in CONSUMING}
    for user, stream in events("DynamoDB"):
        if user == function:
            wanted |= {(resource_name(stream["Stream"]), action) for action in STREAMING}
            if "DestinationConfig" in stream:
                bucket = logical(stream["DestinationConfig"]["OnFailure"]["Destination"])
                wanted |= {(f"{bucket}/aws/lambda/*", "s3:PutObject"), (bucket, "s3:ListBucket")}
    return wanted


def of_logs(function: str) -> set[Permission]:
    group = logical(functions()[function]["LoggingConfig"]["LogGroup"])
    return {(group, "logs:CreateLogStream"), (group, "logs:PutLogEvents")}


def granted(function: str) -> set[Permission]:
    return {
        (resource_name(resource), action)
        for statement in statements(function)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    }


@each_function
def test_a_function_may_do_what_its_code_does_and_nothing_else(function: str) -> None:
    needed = of_code(function) | of_event_sources(function) | of_logs(function)
    assert granted(function) - needed == set(), "granted, and not needed"
    assert needed - granted(function) == set(), "needed, and not granted"


@each_function
def test_no_permission_is_granted_twice(function: str) -> None:
    """Whoever takes one away would believe that it is gone. Of the control table, each row counts for itself."""
    grants = [
        (resource_name(resource), action, row)
        for statement in statements(function)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
        for row in leading_keys(statement) or {""}
    ]
    assert sorted(set(grants)) == sorted(grants)


@each_function
def test_a_function_touches_its_own_control_rows_only(function: str) -> None:
    """The key behind the ids is for the API, the watermark for the minute task.

    Of the registry, what fires has the lists of flow control, and never the names and groups of owners. Who looks up a
    name queries that list alone, too.

    Each row for itself: who reads the registrations of actions may not write them because it writes another row.
    """
    needed = {
        (row.replace("passed#*", f"passed#{own_pass(function)}"), action)
        for port in cold_start(function).ports
        if port.held in OF_CONTROL_ROWS
        for method in port.methods
        for action, _ in CALLS[port.held, method]
        for row in ROWS[method]
    }
    on_lists = {action for row, action in needed if row in LISTS_OF_FLOW}
    found: set[Permission] = set()
    for statement in statements(function):
        if is_of_lists(function, statement):
            continue
        resource, *more = [resource_name(one) for one in listed(statement["Resource"])]
        like = "StringLike" if any("*" in key for key in leading_keys(statement)) else "StringEquals"
        limits = {kind: list(keys) for kind, keys in statement.get("Condition", {}).items()}
        is_of_flow = resource == "RegistryTable" and set(listed(statement["Action"])) <= on_lists
        assert bool(leading_keys(statement)) == (resource == "ControlTable" or is_of_flow)
        expected = {f"ForAllValues:{like}": ["dynamodb:LeadingKeys"]} if leading_keys(statement) else {}
        assert limits == LIMITS.get(resource, expected)
        assert not (limits and more), "a condition of its own for each"
        found |= {(row, action) for row in leading_keys(statement) for action in listed(statement["Action"])}
    assert found == needed


def is_of_lists(function: str, statement: dict[str, Any]) -> bool:
    is_of_registry = statement["Resource"] == {"Fn::GetAtt": "RegistryTable.Arn"}
    return function in LISTS_OF_REGISTRY and is_of_registry and not leading_keys(statement) & LISTS_OF_FLOW


@of_each(LISTS_OF_REGISTRY)
def test_who_needs_some_lists_of_the_registry_has_no_others(function: str) -> None:
    found = [statement for statement in statements(function) if is_of_lists(function, statement)]
    granted = {action: leading_keys(statement) for statement in found for action in listed(statement["Action"])}
    assert granted == LISTS_OF_REGISTRY[function]
    assert [list(statement["Condition"]) for statement in found] == [["ForAllValues:StringLike"]] * len(found)


def test_only_the_registrar_writes_the_registrations() -> None:
    """Whoever could write them could have the schedules of all owners sent elsewhere."""
    writers = {
        function
        for function in functions()
        for statement in statements(function)
        if resource_name(listed(statement["Resource"])[0]) == "ControlTable"
        and any(fnmatchcase("actions", row) for row in leading_keys(statement))
        and listed(statement["Action"]) != ["dynamodb:GetItem"]
    }
    assert writers == {"deploy-action-registrar"}


def test_only_those_who_sign_or_show_read_what_signs() -> None:
    """Whoever could read the key could sign for every owner."""
    readers = {
        (function, row, action)
        for function in functions()
        for statement in statements(function)
        for row in leading_keys(statement)
        if row.startswith("signing") or fnmatchcase("signing-key", row) or fnmatchcase("signing#owner", row)
        for action in listed(statement["Action"])
    }
    get, put = "dynamodb:GetItem", "dynamodb:PutItem"
    assert readers == {
        *(("executor-http-request", row, get) for row in ("signing-key", "signing#*")),
        *(("api-connection-test", row, get) for row in ("signing-key", "signing#*")),
        *(("api-signing-secret", row, get) for row in ("signing-key", "signing#*")),
        ("api-signing-secret", "signing#*", put),
        *(("operator-id-key", "signing-key", action) for action in (get, put)),
    }


def own_pass(function: str) -> str:
    """Each notes its own."""
    return function


@each_function
def test_objects_and_bucket_are_not_mistaken(function: str) -> None:
    """s3:ListBucket is of the bucket, all else of its objects; a policy that mixes them grants nothing."""
    for statement in statements(function):
        actions = {action for action in listed(statement["Action"]) if action.startswith("s3:")}
        for resource in listed(statement["Resource"]) if actions else []:
            on_bucket = resource == {"Fn::GetAtt": "DeadLetterBucket.Arn"}
            assert actions == {"s3:ListBucket"} if on_bucket else "s3:ListBucket" not in actions


# ------------------------------------------------------------ what a team has added


def test_the_table_of_targets_is_that_of_what_is_shipped() -> None:
    """Else an executor of Delayer's own would be taken for one that a team has added, and be compared with nothing."""
    assert {f"executor-{kind}" for kind in TARGETS} == {name for name in SHIPPED if name.startswith("executor-")}
    assert not any(stanza(function) or is_added(function) for function in SHIPPED)


@each_function
def test_what_a_team_allows_its_function_is_narrow(function: str) -> None:
    """Its policy beside the loop is taken as it is: nobody but the team knows what its code calls."""
    own = own_resources()
    assert [fault for statement in stanza(function) for fault in faults(statement, own)] == []


def test_all_that_holds_schedules_is_known_as_delayers_own() -> None:
    wanted = {"SchedulesTable", "LedgerTable", "ControlTable", "JournalTable", "RegistryTable", "DeadLetterBucket"}
    wanted |= {"RelaxedTable", "WaitingTable"}
    assert own_resources() >= wanted | {"DelayerQueue", "ExecutorcanaryQueue", "LifecycleTopic", "ApiSchedulePost"}


A_SECRET: Final = "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret"


@of_each(
    [
        ("secretsmanager:GetSecretValue", {"Fn::Sub": f"{A_SECRET}:slack-*"}, []),
        ("dynamodb:PutItem", {"Fn::GetAtt": "OrdersTable.Arn"}, []),
        ("dynamodb:PutItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/orders", []),
        ("s3:PutObject", {"Fn::Sub": "${ReportBucket.Arn}/*"}, []),
        ("s3:PutObject", "arn:aws:s3:::reports/*", []),
        ("sns:Publish", {"Ref": "ReportTopicArn"}, []),
        ("secretsmanager:*", {"Fn::Sub": f"{A_SECRET}:slack-*"}, ["name each call"]),
        ("secretsmanager:GetSecretValue", {"Fn::Sub": f"{A_SECRET}:*"}, ["name the resource"]),
        ("dynamodb:PutItem", "*", ["name the resource"]),
        ("dynamodb:PutItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/*", ["name the resource"]),
        ("sqs:SendMessage", {"Fn::Sub": "arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:*"}, ["name the resource"]),
        ("s3:PutObject", "arn:aws:s3:::*", ["name the resource"]),
        ("sns:Publish", {"Fn::If": ["HasTopic", {"Ref": "ReportTopicArn"}, "*"]}, ["name the resource"]),
        ("dynamodb:PutItem", {"Fn::GetAtt": "LedgerTable.Arn"}, ["LedgerTable is Delayer's own"]),
        ("dynamodb:Query", {"Fn::Sub": "${JournalTable.Arn}/index/x"}, ["JournalTable is Delayer's own"]),
        ("sqs:SendMessage", {"Fn::GetAtt": "DelayerQueue.Arn"}, ["DelayerQueue is Delayer's own"]),
        ("sns:Publish", {"Ref": "AlarmTopic"}, ["AlarmTopic is Delayer's own"]),
        ("lambda:InvokeFunction", {"Fn::GetAtt": "OperatorIdKey.Arn"}, ["OperatorIdKey is Delayer's own"]),
        (
            "dynamodb:PutItem",
            {"Fn::Sub": "arn:aws:dynamodb:${AWS::Region}:1:table/${AWS::StackName}-LedgerTable-*"},
            ["Delayer's own names begin so"],
        ),
    ],
    unpacked=True,
)
def test_what_is_too_much(action: str, resource: object, expected: list[str]) -> None:
    found = faults({"Effect": "Allow", "Action": [action], "Resource": resource}, own_resources())
    assert len(found) == len(expected)
    assert all(words in fault for words, fault in zip(expected, found, strict=True)), found


def test_all_but_some_is_too_much() -> None:
    assert faults({"Effect": "Allow", "NotAction": ["iam:PassRole"], "Resource": "arn:aws:s3:::a/b"}, set())
    assert faults({"Effect": "Allow", "Action": ["s3:PutObject"], "NotResource": "arn:aws:s3:::a/b"}, set())
    assert not faults({"Effect": "Deny", "Action": ["s3:*"], "Resource": "*"}, set())


# ------------------------------------------------------------ the places in the store


@frozen
class NotingStore(StoredDeadLetters[MemoryObjects]):
    """Notes which of its methods was called for which prefix."""

    noted: set[tuple[str, str]] = field(factory=set)

    def put(self, letter: DeadLetter) -> None:
        self.noted.add(("put", letter.key.partition("/")[0]))
        super().put(letter)

    def remove(self, key: str) -> None:
        self.noted.add(("remove", key.partition("/")[0]))
        super().remove(key)


@of_each(PLACES)
def test_the_places_are_those_that_the_code_uses(method: str) -> None:
    store, ledger, message = NotingStore(MemoryObjects()), on_sqlite(StoredLedgerInBatches), an_executor_message()
    letters = DeadLetters(
        clock=ManualClock(NOW),
        ledger=ledger,
        dead_letter_store=store,
        observer=MemoryObserver(),
        source="delayer-relay",
    )
    copy = undeliverable("body", "reason", message)
    match method:
        case "take":
            letters.take(copy)
            put_row(ledger, ended(a_claim(), State.EXECUTED, NOW))
            letters.take(evolve(copy, body="another"))  # is not needed any more
        case "store_failed":
            letters.store_failed(message, "reason")
        case "release_failed":
            key = letters.store_failed(message, "reason")
            store.noted.clear()
            letters.release_failed(key, ended(a_claim(), State.EXECUTED, NOW))
    assert store.noted == PLACES[method]


# ------------------------------------------------------------ the variables


def read_at_attempts(function: str) -> set[str]:
    """What is read later than at its start: an executor is imported without any variable elsewhere."""
    targets = [name for name in cold_start(function).modules if name.startswith("delayer.targets.")]
    paths = [ROOT / "shared" / f"{name.replace('.', '/')}.py" for name in targets]
    files = [path for path in paths if path.exists()]  # not of a folder
    own = sorted((ROOT / "functions" / function).rglob("*.py"))
    text = "\n".join(path.read_text() for path in [*files, *own])
    connected = {"REGISTRY_TABLE", "STACK"} if "ConnectedTarget(" in text else set()
    return connected | {*re.findall(r"setting\([\"'](\w+)[\"']\)", text), *re.findall(r"\"(\w*TARGET_REGIONS)\"", text)}


@each_function
def test_the_variables_are_those_that_the_code_reads(function: str) -> None:
    """Each of them, and none that nobody reads. AWS's SDK reads the name of the application.

    What a loop makes has the variables of all that it makes. Its setting it has for itself.
    """
    kind = function.partition("-")[0] + "-"
    together = {name for name in functions() if name.startswith(kind)} if kind in LOOPS else {function}
    read = set().union(*map(read_by, together)) - {"SETTING"}
    assert set(variables(function)) - {"SETTING"} == read | {"AWS_SDK_UA_APP_ID"}
    assert ("SETTING" in variables(function)) == ("SETTING" in read_by(function)), "the table in Mappings sets it"


def test_a_setting_is_given_to_one_function_alone() -> None:
    """The URL of the webhook is a secret."""
    found = {name: variables(name)["SETTING"] for name in functions() if "SETTING" in variables(name)}
    assert found["subscriber-failed-webhook"] == {"Ref": "FailedWebhookUrl"}
    assert [name for name, value in found.items() if value == {"Ref": "FailedWebhookUrl"}] == [
        "subscriber-failed-webhook"
    ]
    elsewhere = [name for name in functions() if "FailedWebhookUrl" in str(functions()[name])]
    assert elsewhere == ["subscriber-failed-webhook"]


def read_by(function: str) -> set[str]:
    """When it starts, and later."""
    return {*cold_start(function).read, *read_at_attempts(function)} - set(shared_variables()) - {"AWS_REGION"}


# ------------------------------------------------------------ the reader of the code


def test_what_the_code_calls_is_seen() -> None:
    """Else the comparisons above would hold for nothing."""

    def held(function: str, name: str) -> set[tuple[str, tuple[str, ...], str]]:
        return {
            (port.use_case, port.methods, resource)
            for port in cold_start(function).ports
            if port.held == name
            for resource in port.resources.values()
        }

    assert held("sweep-bucket-enqueuer", "StoredScheduleTable") == {
        ("SweepBuckets", ("delete", "page"), "SchedulesTable")
    }
    assert held("executor-http-request", "StoredLedger") == {("DeadLetters", ("read", "write"), "LedgerTable")}
    assert held("executor-http-request", "StoredLedgerInBatches") == {
        ("Execute", ("read_each", "write"), "LedgerTable")
    }
    assert held("delayer-relay", "SqsQueue") >= {
        ("Relay", ("send",), "DelayerQueue"),
    }
    assert {methods for _, methods, _ in held("api-schedule-post", "StoredRegistry")} == {
        ("create", "named", "requested")
    }
    assert cold_start("api-default").ports == ()
