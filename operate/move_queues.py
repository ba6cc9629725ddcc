"""Moves what waits in the queues of a deleted stack into the queues of another one.

`python -m operate.move_queues --from old --to new [--dry-run]`, or `make move-queues FROM=old TO=new`. With the same
stack twice, it moves what waits in the queues that the stack has left behind, such as those of an executor that was
taken out of it. boto3's own variables and files say which account and region. A message is sent, and then deleted:
after a crash in between it is there twice, with one nonce, and the ledger lets one through. So the command can be
repeated.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from botocore.exceptions import BotoCoreError, ClientError

from delayer.engines.aws.messaging import SqsQueue
from delayer.engines.ports import Outgoing
from delayer_client.transport.proxies import aws_client

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

TAG: Final = "delayer:queue"  # its value: the name of the stack, a slash, the logical name of the queue
EXECUTOR: Final = "executor-"  # with which the name of an executor's queue begins
EARLIER: Final = {  # the names of executors' queues in earlier versions, and those of today
    "CanaryQueue": "executor-canary",
    "HttpRequestQueue": "executor-http-request",
    "SqsSendQueue": "executor-sqs-send",
}
SUSPECTS: Final = re.compile(r".*SuspectsQueue|executor-.*-suspects")  # earlier, each queue had one of its own
UNKNOWN_TYPES: Final = "executor-remote"  # there, a schedule of an unknown type waits and becomes a dead letter
SUBSCRIBER: Final = "subscriber-"  # with which the name of a subscriber's queue begins; it has copies of events only
POLICY: Final = "policy-"  # likewise of a policy; its messages have ids alone, and the net asks again
OF_POLICIES: Final = "PoliciesDeadLetterQueue"  # which a stack has with its first policy; ids alone are in it, too
BY_NAME: Final = (SUBSCRIBER, POLICY, OF_POLICIES)  # a stack has those that it names
PREFIX: Final = 16  # characters of the stack's name with which a queue begins; CloudFormation may cut off the others
QUIET: Final = 60  # seconds without a message until a queue counts as empty: SQS counts with a delay
PAUSE: Final = 2  # seconds between two looks
HIDDEN: Final = 60  # seconds that a message stays invisible while it is moved
COUNTS: Final[Any] = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
)


class Impossible(Exception):
    """The command cannot be carried out; the text says why, and what to do."""


@frozen(kw_only=True)
class Waiting:
    """How many messages there are, as far as SQS knows."""

    ready: int
    delayed: int  # they become ready by themselves, after 15 minutes at most
    received: int  # by somebody who has not deleted them; they become ready again

    @property
    def all(self) -> int:
        """Together."""
        return self.ready + self.delayed + self.received

    def __str__(self) -> str:
        return f"{self.ready} ready, {self.delayed} delayed, {self.received} received"


@frozen(kw_only=True)
class Pair:
    """A queue of the old stack, and the queue of the new one that takes its messages."""

    name: str  # as in the tag, such as DelayerQueue or executor-http-request
    source: str  # URL
    target: SqsQueue


@frozen(kw_only=True)
class MoveQueues:
    """The whole move."""

    sqs: "SQSClient"
    pairs: Sequence[Pair]
    unread: Sequence[str] = ()  # of subscribers and policies that are no more: nobody wants what is in them
    say: Callable[[str], object] = print
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def preview(self) -> None:
        """Says what waits, and changes nothing."""
        for pair in self.pairs:
            self.say(f"{pair.name}: {self.waiting(pair)}")

    def __call__(self) -> int:
        """Moves until nothing has been there for a while; the number of messages. Raises Impossible."""
        moved, seen, said = 0, self.now(), self.now() - QUIET
        while self.now() - seen < QUIET:
            batch = sum(self._move_ready(pair) for pair in self.pairs)
            left = {pair.name: waiting for pair in self.pairs if (waiting := self.waiting(pair)).all}
            moved += batch
            if batch or left:
                seen = self.now()
            if left and seen - said >= QUIET:
                said = seen
                self.say(f"{moved} moved; " + "; ".join(f"{name}: {waiting}" for name, waiting in left.items()))
            self.sleep(PAUSE)
        return moved

    def _move_ready(self, pair: Pair) -> int:
        """All that can be received now."""
        moved = 0
        while batch := self._receive(pair):
            unsent = set(pair.target.send([_again(message) for message in batch]))
            sent = [message for at, message in enumerate(batch) if at not in unsent]
            self._delete(pair, sent)
            moved += len(sent)
            if unsent:
                why = f"{len(unsent)} messages could not be sent, and are still in the old queue."
                raise Impossible(f"{pair.name}: {why} Repeat the command.")
        return moved

    def _receive(self, pair: Pair) -> "Sequence[MessageTypeDef]":
        answer = self.sqs.receive_message(
            QueueUrl=pair.source,
            MaxNumberOfMessages=10,
            VisibilityTimeout=HIDDEN,
            MessageSystemAttributeNames=["MessageGroupId"],
        )
        return answer.get("Messages", [])

    def _delete(self, pair: Pair, sent: "Sequence[MessageTypeDef]") -> None:
        """A message that is not deleted is received and sent again: the ledger knows it by its nonce."""
        if sent:
            entries: Any = [{"Id": str(at), "ReceiptHandle": one["ReceiptHandle"]} for at, one in enumerate(sent)]
            self.sqs.delete_message_batch(QueueUrl=pair.source, Entries=entries)

    def waiting(self, pair: Pair) -> Waiting:
        """Counts the messages in the old queue."""
        counts = self.sqs.get_queue_attributes(QueueUrl=pair.source, AttributeNames=COUNTS)["Attributes"]
        ready, delayed, received = (int(counts.get(name, 0)) for name in COUNTS)
        return Waiting(ready=ready, delayed=delayed, received=received)


def _again(message: "MessageTypeDef") -> Outgoing:
    """A message that is received is ready; the relay looks at the time itself."""
    return Outgoing(body=message["Body"], message_group=message.get("Attributes", {}).get("MessageGroupId", ""))


def queues_of(sqs: "SQSClient", stack: str) -> dict[str, str]:
    """The URLs of a stack's queues by their logical names; of a deleted stack, of those that were kept."""
    return dict(tagged(sqs, stack))


def tagged(sqs: "SQSClient", stack: str) -> list[tuple[str, str]]:
    """The name and the URL of each queue that was ever made for this stack and is still there."""
    pages = sqs.get_paginator("list_queues").paginate(QueueNamePrefix=stack[:PREFIX])
    urls = [url for page in pages for url in page.get("QueueUrls", [])]
    tags = {url: sqs.list_queue_tags(QueueUrl=url).get("Tags", {}).get(TAG, "") for url in urls}
    return [(tag.partition("/")[2], url) for url, tag in tags.items() if tag.partition("/")[0] == stack]


def in_use(cloudformation: Any, stack: str) -> set[str]:
    """The names of the queues that the stack has now: it has left others behind."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    found = [one for page in pages for one in page["StackResourceSummaries"]]
    return {_name_of(one["PhysicalResourceId"]) for one in found if one["ResourceType"] == "AWS::SQS::Queue"}


def _name_of(url: str) -> str:
    return url.rpartition("/")[2]


def pairs_of(sqs: "SQSClient", old: Sequence[tuple[str, str]], new: Mapping[str, str]) -> list[Pair]:
    """Raises Impossible if a queue has no counterpart. That of an executor which is no more has executor-remote's."""
    targets = {name: _counterpart(name, new) for name, _ in old}
    missing = sorted(name for name, url in targets.items() if not url)
    if missing:
        raise Impossible(f"The new stack has no queue for {', '.join(missing)}. Nothing was moved.")
    return [Pair(name=name, source=url, target=SqsQueue(sqs=sqs, url=targets[name])) for name, url in sorted(old)]


def why_unread(name: str) -> str:
    """Of a queue of a subscriber or a policy that the new stack does not have."""
    if name == OF_POLICIES:
        return "there is no policy, and ids alone are in it; whoever waits for one waits in a table, and is asked again"
    if name.startswith(POLICY):
        return "there is no such policy any more; whoever waits for it waits in a table, and is asked for again"
    return "there is no such subscriber any more, and it has copies of events only"


def _counterpart(name: str, new: Mapping[str, str]) -> str:
    name = "SuspectsQueue" if SUSPECTS.fullmatch(name) else EARLIER.get(name, name)
    return new.get(name) or (new.get(UNKNOWN_TYPES, "") if name.startswith(EXECUTOR) else "")


def status_of(cloudformation: Any, stack: str) -> str:
    """Empty if there is no stack of this name that is not deleted."""
    try:
        [found] = cloudformation.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            return ""
        raise
    return str(found["StackStatus"]).replace("DELETE_COMPLETE", "")


def prepared(sqs: "SQSClient", cloudformation: Any, old: str, new: str) -> MoveQueues:
    """Raises Impossible."""
    if not old or not new:
        raise Impossible("Give two stacks: make move-queues FROM=old TO=new")
    if old != new and status_of(cloudformation, old):
        raise Impossible(f"The stack {old} still exists, and its functions work on its queues. Delete it first.")
    status = status_of(cloudformation, new)
    if not status:
        raise Impossible(f"There is no stack {new}.")
    if status.endswith("IN_PROGRESS"):
        raise Impossible(f"The stack {new} is being changed ({status}). Wait until that is over.")
    used = in_use(cloudformation, new)
    of_new = tagged(sqs, new)
    current = [one for one in of_new if _name_of(one[1]) in used]
    kept = [one for one in of_new if one not in current]
    sources = kept if old == new else tagged(sqs, old)
    targets = dict(current) if old == new else dict([*kept, *current])  # of two of one name, the one that is in use
    if not sources:
        which = f"that the stack {new} has left behind" if old == new else f"of a stack {old}"
        raise Impossible(f"There is no queue {which} in this account and region.")
    unread = [name for name, _ in sources if name.startswith(BY_NAME) and name not in targets]
    pairs = pairs_of(sqs, [one for one in sources if one[0] not in unread], targets)
    return MoveQueues(sqs=sqs, pairs=pairs, unread=unread)


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if not everything could be moved, otherwise 0."""
    parser = argparse.ArgumentParser(prog="move-queues", description="Moves messages of a deleted stack.")
    parser.add_argument("--from", dest="old", required=True, help="the deleted stack")
    parser.add_argument("--to", dest="new", required=True, help="the stack that takes its messages")
    parser.add_argument("--dry-run", action="store_true", help="say what waits, and change nothing")
    given = parser.parse_args(arguments)
    try:
        move = prepared(aws_client("sqs"), aws_client("cloudformation"), given.old, given.new)
        for name in move.unread:
            print(f"{name} stays as it is: {why_unread(name)}.")
        if given.dry_run:
            move.preview()
            return 0
        print(f"{move()} messages were moved. These queues of {given.old} are empty and can be deleted:")
        for pair in move.pairs:
            print(f"  aws sqs delete-queue --queue-url {pair.source}")
    except (Impossible, BotoCoreError, ClientError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
