"""The queue that stands in for a target: what arrives in it shows what was fired, and when."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from delayer_client.operator.verify.instants import Millis

LONG_POLL: Final = 5  # seconds
READERS: Final = 2
AFTER_AN_ERROR: Final = 1.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """One message. Its instant is when SQS took it, by the clock of SQS."""

    schedule_id: str
    at: Millis


@dataclass(kw_only=True)
class Inbox:
    """A queue of the account, made for one run. SQS may deliver a message twice; it is counted once."""

    sqs: Any  # a boto3 client
    name: str
    url: str = ""
    requests: int = 0
    error: str = ""  # the last that a reader met
    messages: dict[str, Arrival] = field(default_factory=dict)  # by SQS's own id
    changed: threading.Condition = field(default_factory=threading.Condition)
    stopped: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)

    def open(self) -> None:
        """Make the queue and begin to read it. Errors: those of botocore."""
        self.url = self.sqs.create_queue(QueueName=self.name, Attributes={"MessageRetentionPeriod": "3600"})["QueueUrl"]
        self.threads = [threading.Thread(target=self._read, daemon=True, name="inbox") for _ in range(READERS)]
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        """Stop reading, and delete the queue."""
        self.stopped.set()
        for thread in self.threads:
            thread.join(LONG_POLL + 5)
        if self.url:
            self.sqs.delete_queue(QueueUrl=self.url)

    def action(self) -> dict[str, Any]:
        """The action of a schedule that is to arrive here."""
        return {"type": "sqs-send", "queueUrl": self.url}

    def arrivals(self) -> dict[str, list[Millis]]:
        """When each schedule has arrived, in order."""
        found: dict[str, list[Millis]] = defaultdict(list)
        with self.changed:
            for arrival in self.messages.values():
                found[arrival.schedule_id].append(arrival.at)
        return {schedule_id: sorted(instants) for schedule_id, instants in found.items()}

    def wait_for(self, schedule_ids: Iterable[str], seconds: float) -> set[str]:
        """Wait until all have arrived. Those that have not after so many seconds."""
        missing = set(schedule_ids)
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                missing -= {arrival.schedule_id for arrival in self.messages.values()}
                left = deadline - time.monotonic()
                if not missing or left <= 0:
                    return missing
                self.changed.wait(left)

    def _read(self) -> None:
        while not self.stopped.is_set():
            try:
                self._receive()
            except (BotoCoreError, ClientError) as error:
                self.error = str(error)
                self.stopped.wait(AFTER_AN_ERROR)

    def _receive(self) -> None:
        answer = self.sqs.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=LONG_POLL,
            AttributeNames=["SentTimestamp"],
            MessageAttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        self.requests += 1 + len(messages)
        with self.changed:
            for message in messages:
                self.messages.setdefault(message["MessageId"], arrival_of(message))
            self.changed.notify_all()
        for message in messages:
            self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])


def arrival_of(message: dict[str, Any]) -> Arrival:
    """A message of the action sqs-send."""
    schedule_id = message.get("MessageAttributes", {}).get("Delayer-Schedule-Id", {}).get("StringValue", "")
    return Arrival(schedule_id=schedule_id, at=int(message["Attributes"]["SentTimestamp"]))


def queue_name(pattern: str, token: str) -> str | None:
    """A name that sqs-send may send to (parameter SqsTargetNamePattern); None if there is no room for a new one."""
    if "*" not in pattern or pattern.endswith(".fifo"):
        return None
    return pattern.replace("*", f"verify-{token}", 1).replace("*", "")
