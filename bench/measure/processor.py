"""What each function of the firing path takes of the processor, for a batch of one and for a full one.

Schedules are taken through the functions one step after the other, each in a process of its own, against the emulator,
whose own event source mappings are switched off. So nothing else is counted, and batches have exactly the size wanted.
"""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

from attrs import define, field, frozen

from bench.load import calls
from bench.load.calls import NewSchedule
from local.deployment.settings import STACK_NAME
from local.errors import EmulatorError
from local.project import PROJECT
from local.stack.emulated_stack import EmulatedStack

FULL_STREAM, FULL_QUEUE = 100, 10  # records of a stream, messages of a queue: the batch sizes of the template
CHILD = Path(__file__).with_name("handler_process.py")
POST, DELETE, ENQUEUE, RELAY, EXECUTE = "post", "delete", "enqueue", "relay", "execute"
ANNOUNCE, JOURNAL = "announce", "journal"
FUNCTIONS = {
    POST: "api-schedule-post",
    DELETE: "stream-enqueuer",  # what was inserted and is nearly due
    ENQUEUE: "stream-enqueuer",  # what was removed
    RELAY: "delayer-relay",
    EXECUTE: "executor-http-request",
    ANNOUNCE: "stream-lifecycle",
    JOURNAL: "lifecycle-journal",
}
QUEUES = {RELAY: "DelayerQueue", EXECUTE: "ExecutorhttprequestQueue", JOURNAL: "JournalQueue"}
TICKS = os.sysconf("SC_CLK_TCK")


@frozen(kw_only=True)
class Invocations:
    """What those of one function with one size of batch took, in seconds each."""

    batch: int
    runs: int
    cpu: float  # the median
    wall: float  # the median; the emulator answers within it
    emulator: float  # of the emulator's processor, on average: it is counted in hundredths of a second


@define
class Measuring:
    """The functions as processes, and what they took so far, by function and size of batch."""

    stack: EmulatedStack
    children: dict[str, subprocess.Popen[str]] = field(factory=dict)
    taken: dict[tuple[str, int], list[tuple[float, float, float]]] = field(factory=lambda: defaultdict(list))

    def invoke(self, what: str, event: dict[str, Any], size: int) -> Any:
        """The answer of one invocation; EmulatorError if it did not do all of its batch."""
        function = FUNCTIONS[what]
        child = self.children[function]
        assert child.stdin
        assert child.stdout
        before = self.emulator_seconds()
        print(json.dumps(event), file=child.stdin, flush=True)
        line = child.stdout.readline()
        if not line:
            raise EmulatorError(f"{function} ended while it was measured.")
        result = json.loads(line)
        answer = result["answer"]
        if answer.get("batchItemFailures") or answer.get("statusCode", 201) != 201:
            raise EmulatorError(f"{function} did not do its batch: {answer}")
        self.taken[what, size].append((result["cpu"], result["wall"], self.emulator_seconds() - before))
        return answer

    def emulator_seconds(self) -> float:
        """What the emulator's process has taken so far; 0 where the system does not say so."""
        process = self.stack.process.process
        file = Path(f"/proc/{process.pid}/stat") if process else Path("/nowhere")
        if not file.exists():
            return 0.0
        user, system = file.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / TICKS


def measure(stack: EmulatedStack, target: str, full: int, single: int) -> dict[str, list[Invocations]]:
    """By what is done. `full` times a hundred schedules, in full batches, and `single` schedules alone."""
    switch_off_mappings(stack)
    with ExitStack() as ends:
        measuring = Measuring(stack)
        for function in sorted(set(FUNCTIONS.values())):
            measuring.children[function] = child = start(stack, function)
            ends.callback(end, child)
        streams = {name: records(stack, name) for name in ("SchedulesTable", "LedgerTable")}
        for stream in streams.values():
            next(stream)  # from here on
        take_through(measuring, streams, target, FULL_STREAM)  # imports, connections and caches
        measuring.taken.clear()
        for size in [FULL_STREAM] * full + [1] * single:
            take_through(measuring, streams, target, size)
    return summarised(measuring)


def summarised(measuring: Measuring) -> dict[str, list[Invocations]]:
    """By what is done, smaller batches first."""
    found: dict[str, list[Invocations]] = defaultdict(list)
    for (what, size), taken in sorted(measuring.taken.items()):
        cpu, wall, emulator = zip(*taken, strict=True)
        found[what].append(
            Invocations(batch=size, runs=len(taken), cpu=median(cpu), wall=median(wall), emulator=mean(emulator))
        )
    return dict(found)


def take_through(measuring: Measuring, streams: dict[str, Iterator[list[Any]]], target: str, size: int) -> None:
    """As many schedules that are due now, from their POST to their history."""
    for _ in range(size):
        measuring.invoke(POST, request(target), 1)
    for what in (DELETE, ENQUEUE):
        changes = wait_for(streams["SchedulesTable"], size)
        measuring.invoke(what, {"Records": changes}, size)
        measuring.invoke(ANNOUNCE, {"Records": changes}, size)
    written: list[Any] = []
    for what in (RELAY, EXECUTE):
        drain(measuring, what, size)
        written += wait_for(streams["LedgerTable"], size)
    for start_ in range(0, len(written), size):
        measuring.invoke(ANNOUNCE, {"Records": written[start_ : start_ + size]}, size)
    drain(measuring, JOURNAL, 0)


def request(target: str) -> dict[str, Any]:
    """A POST of a schedule that is due now, as the API hands it to its function."""
    call = calls.post(NewSchedule(due=time.time_ns() // 1_000_000, target=target))
    http = {"method": call.method, "path": call.path, "sourceIp": "127.0.0.1", "protocol": "HTTP/1.1", "userAgent": "-"}
    return {
        "version": "2.0",
        "routeKey": f"{call.method} {call.path}",
        "rawPath": call.path,
        "rawQueryString": "",
        "headers": {name.lower(): value for name, value in call.headers.items()},
        "requestContext": {"http": http, "stage": "$default", "requestId": "measured", "accountId": "000000000000"},
        "body": call.body,
        "isBase64Encoded": False,
    }


def records(stack: EmulatedStack, table: str) -> Iterator[list[Any]]:
    """The changes of a table since the last look, as Lambda would deliver them."""
    client = stack.client("dynamodbstreams")
    described = stack.client("dynamodb").describe_table(TableName=stack.outputs[table])["Table"]
    stream = described["LatestStreamArn"]
    [shard, *_] = client.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"]
    at = client.get_shard_iterator(StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="LATEST")
    following = at["ShardIterator"]
    while True:
        page = client.get_records(ShardIterator=following, Limit=1000)
        following = page["NextShardIterator"]
        yield [
            {**record, "eventSourceARN": stream} for record in json.loads(json.dumps(page["Records"], default=plain))
        ]


def plain(value: object) -> object:
    """A time as Lambda writes it."""
    return value.timestamp() if isinstance(value, datetime) else str(value)


def wait_for(stream: Iterator[list[Any]], count: int) -> list[Any]:
    """So many changes of schedules: the heartbeat's and those of the tick are left out."""
    found: list[Any] = []
    deadline = time.monotonic() + 20
    while len(found) < count:
        if time.monotonic() > deadline:
            raise EmulatorError(f"The stream has {len(found)} of {count} changes.")
        page = next(stream)
        found += [one for one in page if one["dynamodb"]["Keys"].get("bucket", {}).get("S", "")[:9] != "heartbeat"]
        if not page:
            time.sleep(0.02)
    return found


def drain(measuring: Measuring, what: str, count: int) -> None:
    """Hand what is in its queue to the function, in batches of ten; at least so many messages."""
    sqs, url = measuring.stack.client("sqs"), queue_url(measuring.stack, what)
    done, empty = 0, 0
    while done < count or empty < 2:
        answer = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=FULL_QUEUE, AttributeNames=["All"])
        messages = answer.get("Messages", [])
        empty = 0 if messages else empty + 1
        if empty > 200:
            raise EmulatorError(f"{FUNCTIONS[what]} got {done} of {count} messages.")
        if messages:
            measuring.invoke(what, sqs_event(messages, url), len(messages))
            done += len(messages)
            entries = [{"Id": str(at), "ReceiptHandle": one["ReceiptHandle"]} for at, one in enumerate(messages)]
            sqs.delete_message_batch(QueueUrl=url, Entries=entries)


def sqs_event(messages: list[Any], url: str) -> dict[str, Any]:
    """Messages as Lambda delivers them."""
    arn = f"arn:aws:sqs:us-east-1:000000000000:{url.rpartition('/')[2]}"
    return {
        "Records": [
            {
                "messageId": one["MessageId"],
                "body": one["Body"],
                "receiptHandle": one["ReceiptHandle"],
                "attributes": one["Attributes"],
                "eventSource": "aws:sqs",
                "eventSourceARN": arn,
            }
            for one in messages
        ]
    }


def queue_url(stack: EmulatedStack, what: str) -> str:
    """Of the queue that the function receives from."""
    answer = stack.client("cloudformation").describe_stack_resource(
        StackName=STACK_NAME, LogicalResourceId=QUEUES[what]
    )
    return str(answer["StackResourceDetail"]["PhysicalResourceId"])


def switch_off_mappings(stack: EmulatedStack) -> None:
    """Nothing but this measurement hands anything to a function."""
    client = stack.client("lambda")
    for page in client.get_paginator("list_event_source_mappings").paginate():
        for mapping in page["EventSourceMappings"]:
            client.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)


def start(stack: EmulatedStack, function: str) -> subprocess.Popen[str]:
    """Its process, with the variables that it has in the stack."""
    answer = stack.client("lambda").get_function_configuration(FunctionName=f"{STACK_NAME}-{function}")
    environment = {
        **answer["Environment"]["Variables"],
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(PROJECT / "shared"),
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": stack.aws_endpoint_url,
        "AWS_ACCESS_KEY_ID": stack.pair.access_key_id,
        "AWS_SECRET_ACCESS_KEY": stack.pair.secret_access_key,
        "POWERTOOLS_LOG_LEVEL": "WARNING",
    }
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(PROJECT / "functions" / function)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def end(child: subprocess.Popen[str]) -> None:
    """It ends with its input."""
    child.communicate()
