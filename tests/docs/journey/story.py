"""One schedule, from its POST to what GET shows of it: each step is done by the function that does it on AWS.

What one function writes is the event of the next one, and both are the file in tests/golden/journey that the page
shows. `python -m tests.docs.journey` writes the files anew.
"""

import json
from typing import Any

from attrs import define, field

from delayer.engines.aws.expressions import to_attributes
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.repository import put_change
from delayer.records.repository import put_record
from delayer.schedule.instants import MINUTE, SECOND, Millis, parse_instant
from delayer.schedule.schedule import Schedule
from delayer.schedule.tables import JOURNAL, LEDGER, SCHEDULES
from tests.docs.journey.artefacts import Json, pretty, queue_event, request_text, stream_record, the_message
from tests.docs.journey.stack import JourneyStack
from tests.looking import all_rows
from tests.samples import GOLDEN, OWNER

COUNTS = ("live", "counted")  # of live schedules: they are in the table of the journal, and no part of it
FOLDER = GOLDEN.parent / "journey"
POSTED = parse_instant("2026-11-21T09:00:20.000Z")
SWEPT = parse_instant("2026-11-21T09:46:01.300Z")
SENT = parse_instant("2026-11-21T09:46:01.400Z")
RELAYED = parse_instant("2026-11-21T09:59:59.400Z")
EXECUTED = parse_instant("2026-11-21T09:59:59.775Z")
JOURNALED = parse_instant("2026-11-21T10:00:01.500Z")
ASKED = parse_instant("2026-11-21T10:00:05.000Z")
BODY = """\
{
  "pointInTime": "2026-11-21T10:00:00.250Z",
  "action": {
    "type": "http-request",
    "url": "https://shop.example/reminders"
  },
  "payload": {"order": 17}
}"""
CALLER = {"requestContext": {"authorizer": {"iam": {"userArn": OWNER}}, "http": {"sourceIp": "203.0.113.7"}}}


@define
class Story:
    """What happens in order. Each step leaves the artefacts that it makes in `files`, by name."""

    stack: JourneyStack
    files: dict[str, str] = field(factory=dict)
    records: list[Json] = field(factory=list)  # of both streams, in order

    def tell(self) -> dict[str, str]:
        """All of it."""
        for step in (self.post, self.insert, self.sweep, self.enqueue, self.relay, self.execute, self.announce):
            step()
        self.remember()
        self.look()
        return self.files

    def at(self, instant: Millis) -> None:
        """It is this late now."""
        assert self.stack.clock.now() <= instant
        self.stack.clock.sleep_until(instant)

    def run(self, function: str, event: Json) -> None:
        """Whoever reports a failure would be given it again."""
        assert self.stack.function(function)(event) == {"batchItemFailures": []}

    def keep(self, name: str, document: object) -> None:
        self.files[name] = pretty(document)

    # ------------------------------------------------------------ the steps

    def post(self) -> None:
        self.at(POSTED)
        headers = {"Host": "api.example", "Content-Type": "application/json"}
        self.files["post.http"] = request_text("POST", "/schedules HTTP/1.1", headers, BODY)
        answer = self.stack.function("api-schedule-post")({**CALLER, "body": BODY})
        self.files["posted.http"] = answered(answer)
        self.keep("record.json", self.item())

    def insert(self) -> None:
        """It is not due soon: nothing follows."""
        item = self.item()
        record = stream_record("SchedulesTable", 1, POSTED, keys_of(item), new=item)
        self.note("insert.json", record)
        self.run("stream-enqueuer", {"Records": [record]})
        assert all_rows(self.stack.table)
        assert self.stack.delayer_queue.messages == []

    def sweep(self) -> None:
        """Those that were deleted a minute earlier were none: the record still stands."""
        self.at(SWEPT - MINUTE)
        self.stack.tick()
        assert self.schedule().id in str(all_rows(self.stack.table))
        self.at(SWEPT)
        self.stack.tick()
        assert self.schedule().id not in str(all_rows(self.stack.table))

    def enqueue(self) -> None:
        self.at(SENT)
        item = self.item()
        record = stream_record("SchedulesTable", 2, SWEPT, keys_of(item), old=item)
        self.note("remove.json", record)
        self.run("stream-enqueuer", {"Records": [record]})
        message = the_message(self.stack.delayer_queue)
        self.keep("delayer-message.json", sent(message, SENT))

    def relay(self) -> None:
        [(_, claim)] = self.handled("delayer-relay", "delayer-queue", self.stack.delayer_queue, RELAYED)
        self.keep("claimed.json", row_item(claim))
        self.note_change(3, None, claim)
        message = the_message(self.stack.http_queue)
        self.keep("executor-message.json", sent(message, claim.at))

    def execute(self) -> None:
        [(before, after)] = self.handled("executor-http-request", "http-request", self.stack.http_queue, EXECUTED)
        [(method, path, headers, body)] = self.stack.target_server.requests
        shown = {spelled(name): value for name, value in headers.items()}
        self.files["request.http"] = request_text(method, f"{path} HTTP/1.1", shown, body.decode())
        self.keep("executed.json", row_item(after))
        self.note_change(4, before, after)

    def announce(self) -> None:
        self.run("stream-lifecycle", {"Records": self.records})
        for announced in self.stack.topic.published:
            event = json.loads(announced.text)
            self.keep(f"event-{event['type'].rpartition('.')[2]}.json", event)

    def remember(self) -> None:
        """The subscription of the journal leaves out what a later event tells again."""
        self.at(JOURNALED)
        for announced in self.stack.topic.published:
            if "retold" not in dict(announced.attributes):
                self.run("lifecycle-journal", queue_event("journal", "1", announced.text, JOURNALED))
        for item in self.stack.items.rows(JOURNAL):
            kind = item["list"].partition("#")[0].rstrip("01234567")
            if kind not in COUNTS:
                self.keep(f"journal-{kind}.json", to_attributes(item))

    def look(self) -> None:
        self.at(ASKED)
        asked = {**CALLER, "pathParameters": {"id": self.schedule().id}}
        self.files["get.http"] = answered(self.stack.function("api-schedule-get")(asked))

    # ------------------------------------------------------------ what they need

    def schedule(self) -> Schedule:
        [schedule] = {
            change.row.id: change.row
            for change in self.stack.feed.records[SCHEDULES]
            if isinstance(change.row, Schedule)
        }.values()
        return schedule

    def item(self) -> Json:
        return to_attributes(put_record(SCHEDULES, self.schedule()).item)

    def note(self, name: str, record: Json) -> None:
        self.keep(name, record)
        self.records.append(record)

    def note_change(self, number: int, old: LedgerRow | None, new: LedgerRow) -> None:
        """What the stream of the ledger says of a change."""
        before = row_item(old) if old else None
        keys = {"scheduleId": {"S": new.schedule_id}}
        self.records.append(stream_record("LedgerTable", number, new.at, keys, before, row_item(new)))

    def handled(self, function: str, name: str, queue: Any, at: Millis) -> list[tuple[LedgerRow | None, LedgerRow]]:
        """The changes of the ledger that a function makes with the only message of its queue."""
        known = len(self.stack.feed.ledger)
        message = the_message(queue)
        assert message.visible_at <= at
        self.at(at)
        self.run(function, queue_event(name, message.message_id, message.body, message.sent_at))
        queue.messages.clear()  # Lambda deletes it
        return self.stack.feed.ledger[known:]


def row_item(row: LedgerRow) -> Json:
    """A row of the ledger as DynamoDB has it."""
    return to_attributes(put_change(LEDGER, LedgerChange(row=row)).item)


def keys_of(item: Json) -> Json:
    return {name: item[name] for name in ("bucket", "due")}


def sent(message: Any, at: Millis) -> Json:
    """The arguments of SendMessage that matter, with the body as JSON instead of as text."""
    delay = (message.visible_at - at) // SECOND
    return {
        **({"DelaySeconds": delay} if delay else {}),
        "MessageGroupId": message.message_group,
        "MessageBody": json.loads(message.body),
    }


def spelled(name: str) -> str:
    """The server of the test keeps small letters; names of headers may be written either way."""
    return "-".join(part.capitalize() for part in name.split("-"))


def answered(answer: Json) -> str:
    """An answer of API Gateway, its body laid out."""
    status = {200: "200 OK", 201: "201 Created"}[answer["statusCode"]]
    return request_text("HTTP/1.1", status, answer["headers"], pretty(json.loads(answer["body"])).rstrip())
