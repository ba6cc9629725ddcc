"""Tables are copied back so that every promise still holds; on DynamoDB as moto plays it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import boto3
import pytest
from attrs import evolve

from delayer.dead_letters.model import decode
from delayer.engines.aws.expressions import to_attributes
from delayer.engines.process import SystemClock
from delayer.ledger import repository as ledger
from delayer.ledger.model import LedgerRow, State
from delayer.ledger.rules import ended, ended_unclaimed
from delayer.records import repository as schedule_table
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, minute_of
from delayer.schedule.schedule import SYSTEM_OWNER, Schedule
from delayer.schedule.schedule_id import READ_AGAIN, IdKind
from operate.restore.copying import Pace, WrongTable
from operate.restore.options import Options, parse
from operate.restore.run import Restore
from operate.restore.tables import TABLES, Decision
from tests.samples import a_relaxed_schedule, a_schedule, an_id, claimed
from tests.unit.empty_account import empty_account

NOW = SystemClock().now() // SECOND * SECOND
OUTPUTS = {table.output: f"delayer-{kind}" for kind, table in TABLES.items()} | {"DeadLetterBucket": "dead-letters"}
TYPES = {
    "AWS::Lambda::Function": ["delayer-api-schedule-post", "delayer-delayer-relay"],
    "AWS::Lambda::EventSourceMapping": ["m1", "m2"],
    "AWS::Events::Rule": ["tick"],
}


def to_item(schedule: Schedule) -> dict[str, Any]:
    """A record as boto3 takes it."""
    return to_attributes(schedule_table.to_item(schedule))


def row_item(row: LedgerRow) -> dict[str, Any]:
    """A row of the ledger as boto3 takes it."""
    return to_attributes(ledger.to_item(row))


class ControlPlane:
    """CloudFormation, Lambda and EventBridge, as far as a restore uses them."""

    def __init__(self) -> None:
        self.mappings = {"m1": "Enabled", "m2": "Disabled"}
        self.schedules = {"tick": "ENABLED"}
        self.limits: dict[str, int] = {}
        self.changes: list[str] = []

    def describe_stacks(self, **_: object) -> dict[str, Any]:
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in OUTPUTS.items()]
        return {"Stacks": [{"Outputs": outputs}]}

    def get_paginator(self, _: str) -> "ControlPlane":
        return self

    def paginate(self, **_: object) -> list[dict[str, Any]]:
        listed = [{"ResourceType": kind, "PhysicalResourceId": name} for kind, names in TYPES.items() for name in names]
        return [{"StackResourceSummaries": listed}]

    def describe_rule(self, Name: str) -> dict[str, str]:  # noqa: N803
        return {"State": self.schedules[Name]}

    def enable_rule(self, Name: str) -> None:  # noqa: N803
        self._switch(Name, "ENABLED")

    def disable_rule(self, Name: str) -> None:  # noqa: N803
        self._switch(Name, "DISABLED")

    def _switch(self, name: str, state: str) -> None:
        self.schedules[name] = state
        self.changes.append(f"{name} {state}")

    def get_event_source_mapping(self, UUID: str) -> dict[str, str]:  # noqa: N803
        return {"State": self.mappings[UUID]}

    def update_event_source_mapping(self, UUID: str, Enabled: bool) -> None:  # noqa: N803
        self.mappings[UUID] = "Enabled" if Enabled else "Disabled"
        self.changes.append(f"{UUID} {self.mappings[UUID]}")

    def get_function_concurrency(self, FunctionName: str) -> dict[str, int]:  # noqa: N803
        limit = self.limits.get(FunctionName)
        return {} if limit is None else {"ReservedConcurrentExecutions": limit}

    def put_function_concurrency(self, FunctionName: str, ReservedConcurrentExecutions: int) -> None:  # noqa: N803
        self.limits[FunctionName] = ReservedConcurrentExecutions

    def delete_function_concurrency(self, FunctionName: str) -> None:  # noqa: N803
        del self.limits[FunctionName]

    def get_function_configuration(self, FunctionName: str) -> dict[str, int]:  # noqa: N803
        return {"Timeout": 60 if "relay" in FunctionName else 10}


class Stack:
    """The tables of a stack and those that were restored, named `old-…`."""

    def __init__(self) -> None:
        self.plane = ControlPlane()
        kinds: tuple[Literal["HASH", "RANGE"], ...] = ("HASH", "RANGE")
        session = boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name="us-east-1")
        self.dynamodb: Any = session.client("dynamodb")
        self.s3: Any = session.client("s3")
        self.slept: list[float] = []
        self.s3.create_bucket(Bucket="dead-letters")
        for name, table in TABLES.items():
            for prefix in ("delayer", "old"):
                self.dynamodb.create_table(
                    TableName=f"{prefix}-{name}",
                    BillingMode="PAY_PER_REQUEST",
                    AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in table.keys],
                    KeySchema=[
                        {"AttributeName": key, "KeyType": kind} for key, kind in zip(table.keys, kinds, strict=False)
                    ],
                )

    def client(self, service: str) -> Any:
        return {"dynamodb": self.dynamodb, "s3": self.s3}.get(service, self.plane)

    def put(self, table: str, *items: Any) -> None:
        for item in items:
            self.dynamodb.put_item(TableName=table, Item=item)

    def items(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.dynamodb.scan(TableName=table)["Items"]
        return found

    def restore(self, *kinds: str, **options: Any) -> Restore:
        sources = {kind: f"old-{kind}" for kind in kinds}
        restore = Restore(options=Options(sources=sources, **options), client=self.client, sleep=self.slept.append)
        restore.run()
        return restore

    def control(self, name: str) -> dict[str, Any] | None:
        return next((item for item in self.items("delayer-control") if item["name"]["S"] == name), None)

    def dead_letters(self) -> list[Any]:
        keys = [one["Key"] for one in self.s3.list_objects_v2(Bucket="dead-letters").get("Contents", [])]
        return [decode(self.s3.get_object(Bucket="dead-letters", Key=key)["Body"].read()) for key in keys]

    def schedules(self) -> set[str]:
        return {item["due"]["S"].partition("#")[2] for item in self.items("delayer-schedules")}


@pytest.fixture
def stack() -> Iterator[Stack]:
    with empty_account():
        yield Stack()


def one(number: int, due: int) -> Schedule:
    return a_schedule(due, randomness=bytes([number]) * 8)


FAR, NEAR, OVERDUE = one(1, NOW + DAY), one(2, NOW + 5 * MINUTE), one(3, NOW - HOUR)
SWEEP = {
    "name": {"S": "sweep"},
    "closedUntil": {"N": str(minute_of(NOW) - 11)},
    "sweptAt": {"N": "5"},
    "wholeAt": {"N": "5"},
}


def test_missing_schedules_go_back_and_what_has_ended_does_not(stack: Stack) -> None:
    """The ledger decides; without it each would be fired, refused or dead-lettered anew."""
    cancelled, executed, failed = one(4, NOW + HOUR), one(5, NOW - HOUR), one(6, NOW - HOUR)
    stack.put("old-schedules", *(to_item(each) for each in (FAR, NEAR, OVERDUE, cancelled, executed, failed)))
    stack.put("delayer-ledger", row_item(ended_unclaimed(cancelled.id, cancelled.owner, State.CANCELLED, NOW, "")))
    stack.put("delayer-ledger", row_item(ended(claimed(executed), State.EXECUTED, NOW, "")))
    stack.put("delayer-ledger", row_item(claimed(failed)))
    restore = stack.restore("schedules")
    assert stack.schedules() == {FAR.id, NEAR.id, OVERDUE.id}
    assert dict(restore.counted["schedules"]) == {"copied": 3, "ended or claimed already": 3}
    assert all(item["restored"] == {"N": "1"} for item in stack.items("delayer-schedules"))


def test_what_stands_is_not_written_again(stack: Stack) -> None:
    """A repeated restore is no second event of the table's stream, and a newer row stays."""
    stack.put("old-schedules", to_item(FAR))
    stack.put("old-ledger", row_item(claimed(NEAR)))
    newer = row_item(ended(claimed(NEAR), State.EXECUTED, NOW, "HTTP 200"))
    stack.put("delayer-ledger", newer)
    for expected in ({"copied": 1}, {"there already": 1}):
        assert dict(stack.restore("schedules").counted["schedules"]) == expected
    restore = stack.restore("ledger", "schedules")
    assert dict(restore.counted["ledger"]) == {"there already": 1}
    assert stack.items("delayer-ledger") == [newer]


def test_a_lost_ledger_what_may_have_fired_waits_for_a_person(stack: Stack) -> None:
    """Due before the loss and without an end in the copy: nobody can tell. What was due later cannot have fired."""
    in_time, after = one(7, NOW - 30 * MINUTE), one(8, NOW - 10 * MINUTE)
    stack.put("old-ledger", row_item(ended(claimed(OVERDUE), State.EXECUTED, NOW, "")), row_item(claimed(one(9, NOW))))
    stack.put("old-schedules", *(to_item(each) for each in (OVERDUE, in_time, after, FAR)))
    restore = stack.restore("ledger", "schedules", lost_at=NOW - 20 * MINUTE)
    assert stack.schedules() == {after.id, FAR.id}
    [letter] = stack.dead_letters()
    assert letter.schedule_id == in_time.id
    assert "may have fired" in letter.reason
    [row] = [item for item in stack.items("delayer-ledger") if item["scheduleId"]["S"] == in_time.id]
    assert row["state"] == {"S": "dead-lettered"}
    assert restore.claimed == [one(9, NOW).id], "its message may be lost: it is named"
    assert json.loads(letter.body)["id"] == in_time.id, "its whole body: it can be redriven"


def test_rows_that_have_expired_do_not_come_back(stack: Stack) -> None:
    """Copies of theirs are too old to fire in any case."""
    row = claimed(a_schedule(NOW - 40 * DAY), now=NOW - 40 * DAY)
    stack.put("old-ledger", row_item(row))
    assert dict(stack.restore("ledger").counted["ledger"]) == {"left out": 1}


def test_the_watermark_goes_back_before_the_oldest_record(stack: Stack) -> None:
    """Behind it nothing is swept: a record whose fast track fails would be forgotten there."""
    stack.put("delayer-control", SWEEP)
    stack.put("old-schedules", to_item(OVERDUE), to_item(FAR))
    stack.restore("schedules")
    moved = stack.control("sweep")
    assert moved is not None
    assert moved["closedUntil"] == {"N": str(minute_of(OVERDUE.point_in_time))}
    stack.restore("schedules")
    assert stack.control("sweep") == moved


def test_a_new_stack_takes_the_keys_the_shards_and_the_watermark(stack: Stack) -> None:
    """A heartbeat or a pause of the old one does not go back."""
    key = {"name": {"S": "id-key"}, "key": {"S": "c2VjcmV0"}}
    others: list[Any] = [
        {"name": {"S": "heartbeat"}, "seenAt": {"N": "1"}},
        {"name": {"S": "paused"}, "at": {"N": "1"}},
        {"name": {"S": "actions"}, "types": {"M": {"report-make": {"S": "[]"}}}},
    ]
    shards = {"name": {"S": "shards"}, "highest": {"N": "31"}, "since": {"N": "100"}}
    signing = [{"name": {"S": name}, "v": {"N": "1"}} for name in ("signing-key", "signing#urn:owner:one")]
    stack.put("old-control", key, shards, SWEEP, *others, *signing)
    stack.put("delayer-control", {"name": {"S": "shards"}, "highest": {"N": "7"}, "since": {"N": "900"}})
    stack.restore("control")
    assert stack.control("id-key") == key
    assert [stack.control(row["name"]["S"]) for row in signing] == signing, "receivers hold secrets derived from it"
    assert stack.control("shards") == shards
    assert stack.control("sweep") == {**SWEEP, "sweptAt": {"N": "0"}, "wholeAt": {"N": "0"}}
    assert stack.control("heartbeat") is None
    assert stack.control("paused") is None
    assert stack.control("actions") is None


def test_owner_policies_go_back_and_the_claim_is_the_new_stacks_own(stack: Stack) -> None:
    policies: list[Any] = [
        {"name": {"S": "owner-policy"}, "owners": {"BOOL": True}},
        {"name": {"S": "owner-policy#urn:one"}, "document": {"S": "{}"}, "revision": {"N": "1"}},
        {"name": {"S": "owner-policies#a"}, "owners": {"SS": ["urn:one"]}},
    ]
    own = {"name": {"S": "owner-policy#urn:two"}, "document": {"S": "{}"}, "revision": {"N": "9"}}
    old = [{**own, "revision": {"N": "1"}}, {"name": {"S": "owner-claim"}, "v": {"N": "1"}}]
    stack.put("old-control", *policies, *old)
    stack.put("delayer-control", own)
    stack.restore("control")
    assert [stack.control(row["name"]["S"]) for row in policies] == policies
    assert stack.control("owner-policy#urn:two") == own
    assert stack.control("owner-claim") is None


@pytest.mark.parametrize("has_document", [True, False])
def test_a_default_of_the_new_stack_opens_no_owner_policy(stack: Stack, has_document: bool) -> None:
    """The default of the new stack stands; that owners have policies of their own holds for both."""

    def default(document: str, **more: Any) -> dict[str, Any]:
        return {"name": {"S": "owner-policy"}, "v": {"N": "1"}, "document": {"S": document}, **more}

    def names(*owners: str) -> dict[str, Any]:
        return {"name": {"S": "owner-policies#a"}, "owners": {"SS": list(owners)}}

    own = default("own", revision={"N": "1"}) if has_document else {"name": {"S": "owner-policy"}, "v": {"N": "1"}}
    copied = default("old", revision={"N": "7"}, owners={"BOOL": True})
    stack.put("delayer-control", own, names("urn:two", "urn:three"))
    stack.put("old-control", copied, names("urn:one", "urn:two"))
    for _ in range(2):
        stack.restore("control")
        expected = own if has_document else copied
        assert stack.control("owner-policy") == {**expected, "owners": {"BOOL": True}}
        found = stack.control("owner-policies#a")
        assert found is not None
        assert set(found["owners"]["SS"]) == {"urn:one", "urn:two", "urn:three"}


def test_the_policy_of_an_owner_holds_without_a_default(stack: Stack) -> None:
    stack.put("old-control", {"name": {"S": "owner-policy#urn:one"}, "document": {"S": "{}"}, "revision": {"N": "1"}})
    stack.restore("control")
    assert stack.control("owner-policy") == {"name": {"S": "owner-policy"}, "v": {"N": "1"}, "owners": {"BOOL": True}}


def test_a_default_alone_stays_one(stack: Stack) -> None:
    row = {"name": {"S": "owner-policy"}, "v": {"N": "1"}, "document": {"S": "{}"}, "revision": {"N": "1"}}
    stack.put("old-control", row)
    stack.restore("control")
    assert stack.control("owner-policy") == row


def test_each_list_of_the_registry_is_known() -> None:
    """One that is not would be taken for another table, and nothing of the registry would go back."""
    page = (Path(__file__).parents[4] / "docs/reference/resources.md").read_text()
    part = page.partition("## Lists of the registry")[2].partition("\n## ")[0]
    lists = re.findall(r"`([a-z-]+)(?:#[^`]*)?`", "\n".join(re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)))
    assert len(lists) > 15
    decided = {name: TABLES["registry"].decide({"list": {"S": f"{name}#x"}}, NOW) for name in lists}
    assert not [name for name, decision in decided.items() if decision is Decision.WRONG]
    left = {name for name, decision in decided.items() if decision is Decision.LEAVE}
    assert left == {"connection-count", "connection-secrets", "connection-token", "rate"}


def test_a_stack_keeps_its_own_registrations(stack: Stack) -> None:
    """Those of another one name the queues of that one."""
    own = {"name": {"S": "actions"}, "types": {"M": {"sqs-send": {"S": "[1]"}}}}
    stack.put("delayer-control", own)
    stack.put("old-control", {**own, "types": {"M": {"sqs-send": {"S": "[2]"}, "report-make": {"S": "[]"}}}})
    stack.restore("control")
    assert stack.control("actions") == own


def a_new_stack(stack: Stack) -> list[dict[str, Any]]:
    """With keys of its own, and the canary of its first minute; the keys of the copy."""
    canary = evolve(NEAR, owner=SYSTEM_OWNER)
    stack.put("delayer-schedules", to_item(canary))
    stack.put("delayer-ledger", row_item(claimed(canary)))
    for name in ("id-key", "signing-key"):
        stack.put("delayer-control", {"name": {"S": name}, "key": {"S": "own"}})
        stack.put("old-control", {"name": {"S": name}, "key": {"S": "old"}})
    return stack.items("old-control")


def test_the_keys_of_a_new_stack_give_way_to_those_of_the_copy(stack: Stack) -> None:
    """It has had them since it was created. What has read them must not make ids with them any more."""
    old = a_new_stack(stack)
    stack.put("old-ledger", row_item(claimed(OVERDUE)))
    restore = stack.restore("control", "ledger")
    assert [stack.control(row["name"]["S"]) for row in old] == old
    assert restore.replaced_at is not None
    assert stack.slept[-1] == pytest.approx(READ_AGAIN // SECOND, abs=20), "less what the copying took"
    assert stack.plane.schedules == {"tick": "ENABLED"}
    before = list(stack.slept)
    stack.restore("control", "ledger")  # once more: what it has copied is no schedule of its own
    assert all(pause < READ_AGAIN // SECOND - 20 for pause in stack.slept[len(before) :]), "nothing was replaced"


def test_what_was_copied_in_a_run_before_is_not_taken_for_its_own(stack: Stack) -> None:
    a_new_stack(stack)
    stack.put("old-schedules", to_item(FAR))
    stack.restore("schedules")
    stack.restore("control")
    assert stack.control("id-key") == {"name": {"S": "id-key"}, "key": {"S": "old"}}


def test_a_look_alone_replaces_no_key(stack: Stack) -> None:
    a_new_stack(stack)
    stack.restore("control", is_dry_run=True)
    assert stack.control("id-key") == {"name": {"S": "id-key"}, "key": {"S": "own"}}
    assert sum(stack.slept) < 1, "but for the pace of reading"


@pytest.mark.parametrize("kind", ["schedules", "relaxed", "waiting", "ledger"])
def test_a_stack_that_has_issued_ids_of_its_own_is_not_given_another_key(stack: Stack, kind: str) -> None:
    """Its ids would be 404 from then on. Nothing is paused and nothing is copied."""
    a_new_stack(stack)
    stack.put("old-schedules", to_item(FAR))
    stack.put(f"delayer-{kind}", {**to_item(FAR), **row_item(claimed(FAR))})
    before = stack.schedules()
    with pytest.raises(WrongTable, match="never called"):
        stack.restore("control", "schedules")
    assert stack.schedules() == before
    assert stack.control("id-key") == {"name": {"S": "id-key"}, "key": {"S": "own"}}
    assert stack.plane.changes == []


def test_the_connections_of_an_owner_are_counted_anew(stack: Stack) -> None:
    """Some stand, some come back: neither the count of the stack nor that of the copy is right."""

    def entry(name: str, entry: str = "-", **more: Any) -> dict[str, Any]:
        return {"list": {"S": name}, "entry": {"S": entry}, **more}

    def count(owner: str, number: int) -> dict[str, Any]:
        return entry(f"connection-count#{owner}", count={"N": str(number)})

    stack.put("delayer-registry", entry("connections#o", "new"), entry("connections#o", "both"), count("o", 2))
    stack.put("delayer-registry", entry("connections#p", "new"), count("p", 1))
    stack.put("old-registry", entry("connections#o", "both"), entry("connections#o", "old"), count("o", 2))
    stack.put("old-registry", entry("connections#q", "old"), count("q", 7))
    for _ in range(2):
        stack.restore("registry")
        counts = [item for item in stack.items("delayer-registry") if "count" in item]
        assert sorted(counts, key=str) == sorted([count("o", 3), count("p", 1), count("q", 1)], key=str)


def test_lists_that_are_counts_stay_as_they_are(stack: Stack) -> None:
    def entry(name: str, **more: Any) -> dict[str, Any]:
        return {"list": {"S": name}, "entry": {"S": "-"}, **more}

    stack.put("old-registry", entry("name#o#n"), entry("group#o#g"), entry("rate#o", count={"N": "3"}))
    stack.put("old-registry", entry("request#o#k", expiresAt={"N": "1000"}))
    stack.put(
        "old-journal", entry("schedule#s"), entry("owner#o"), entry("series#o#s"), entry("live#o"), entry("counted#s")
    )
    restore = stack.restore("registry", "journal")
    assert dict(restore.counted["registry"]) == {"copied": 2, "left out": 2}
    assert dict(restore.counted["journal"]) == {"copied": 3, "left out": 2}
    assert {item["list"]["S"] for item in stack.items("delayer-journal")} == {"schedule#s", "owner#o", "series#o#s"}


def test_series_come_back_and_the_net_looks_at_all_of_them(stack: Stack) -> None:
    """What stands has gone on since, and is not overwritten."""

    def entry(name: str, entry: str = "-", number: int = 1) -> dict[str, Any]:
        return {"list": {"S": name}, "entry": {"S": entry}, "number": {"N": str(number)}}

    lists = ["series-of#o", "series-name#o#n", "current#2026-11-21T09:00#3", "waiting", "zoned#7"]
    stack.put("old-registry", entry("series#o#0a", "cursor", 5), entry("series#o#0a", "definition"))
    stack.put("old-registry", *(entry(name) for name in lists))
    stack.put("delayer-registry", entry("series#o#0a", "cursor", 9))
    rows = ["series-net", "series-waiting", "series-zoned", "shards"]
    stack.put("delayer-control", *({"name": {"S": name}} for name in rows))
    restore = stack.restore("registry", is_dry_run=True)
    assert len(stack.items("delayer-control")) == len(rows)
    restore = stack.restore("registry")
    assert dict(restore.counted["registry"]) == {"copied": 6, "there already": 1}
    [cursor] = [one for one in stack.items("delayer-registry") if one["entry"]["S"] == "cursor"]
    assert cursor["number"] == {"N": "9"}
    assert [row["name"]["S"] for row in stack.items("delayer-control")] == ["shards"]


def test_tables_that_were_mixed_up(stack: Stack) -> None:
    """By their keys, and where these are the same, by what is in them."""
    stack.put("old-registry", {"list": {"S": "name#o#n"}, "entry": {"S": "-"}})
    with pytest.raises(WrongTable, match="not of the histories"):
        Restore(
            options=Options(sources={"journal": "old-registry"}), client=stack.client, sleep=stack.slept.append
        ).run()
    for wrong, said in (("old-ledger", "has the key scheduleId"), ("delayer-schedules", "of the stack itself")):
        with pytest.raises(WrongTable, match=said):
            Restore(options=Options(sources={"schedules": wrong}), client=stack.client).run()


def test_a_dry_run_writes_nothing(stack: Stack) -> None:
    stack.put("old-ledger", row_item(claimed(NEAR)))
    stack.put("old-schedules", to_item(FAR), to_item(OVERDUE))
    stack.put("delayer-schedules", to_item(FAR))
    before = {name: stack.items(name) for name in OUTPUTS.values() if name != "dead-letters"}
    restore = stack.restore("ledger", "schedules", lost_at=NOW, is_dry_run=True)
    assert dict(restore.counted["schedules"]) == {"there already": 1, "dead-lettered: it may have fired": 1}
    assert {name: stack.items(name) for name in before} == before
    assert stack.dead_letters() == []
    assert stack.plane.changes == []


def test_the_minute_task_alone_is_paused_for_schedules(stack: Stack) -> None:
    """What is near goes on firing meanwhile."""
    stack.restore("schedules")
    assert stack.plane.changes == ["tick DISABLED", "tick ENABLED"]
    assert any(seconds >= 59 for seconds in stack.slept), "a tick that has begun is over before the watermark is moved"


def test_everything_is_paused_for_the_ledger_and_goes_on_as_it_was(stack: Stack) -> None:
    """A mapping that was off stays off; a limit that a function had is the same again."""
    stack.plane.limits["delayer-api-schedule-post"] = 7
    stack.restore("ledger", stays_paused=True)
    assert stack.plane.limits == {"delayer-api-schedule-post": 0}
    assert stack.plane.mappings == {"m1": "Disabled", "m2": "Disabled"}
    assert stack.control("paused") is not None
    stack.restore("ledger", stays_paused=True)  # again, as after a crash: what was running before is not forgotten
    Restore(options=Options(only="resume"), client=stack.client, sleep=stack.slept.append).run()
    assert stack.plane.limits == {"delayer-api-schedule-post": 7}
    assert stack.plane.mappings == {"m1": "Enabled", "m2": "Disabled"}
    assert stack.plane.schedules == {"tick": "ENABLED"}
    assert stack.control("paused") is None


def test_the_wait_can_be_shortened_by_who_knows_that_nothing_runs(stack: Stack) -> None:
    stack.restore("schedules", wait=3)
    assert 3 in stack.slept
    assert max(stack.slept) < 10


def test_it_is_paced() -> None:
    """What is overdue fires as fast as it is put: a restore must not become a herd."""
    slept: list[float] = []
    pace = Pace(rate=10, sleep=slept.append)
    for _ in range(3):
        pace.after(100)
    assert [round(seconds / 10) for seconds in slept] == [1, 2, 3]


def test_after_a_failure_the_stack_stays_paused(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a ledger must not decide anything."""
    stack.put("old-ledger", row_item(claimed(NEAR)))

    def fails(**_: object) -> None:
        raise WrongTable("the connection is gone")

    put = stack.dynamodb.put_item
    monkeypatch.setattr(
        stack.dynamodb, "put_item", lambda **given: fails() if given["TableName"] == "delayer-ledger" else put(**given)
    )
    with pytest.raises(WrongTable):
        stack.restore("ledger")
    assert stack.plane.mappings["m1"] == "Disabled"
    assert stack.plane.schedules == {"tick": "DISABLED"}


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["--pause", "--ledger", "t"],
        ["--ledger", "t", "--schedules", "t"],
        ["--ledger", "t", "--relaxed", "t"],
        ["--ledger", "t", "--lost-at", "yesterday"],
        ["--schedules", "t", "--rate", "0"],
    ],
)
def test_a_wrong_command_line(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(wrong)


def test_relaxed_schedules_go_back_into_their_own_table(stack: Stack) -> None:
    """What is overdue is removed by the TTL, and fires. What has ended does not, nor what may have fired."""
    late, ahead, cancelled = (
        a_relaxed_schedule(due, randomness=bytes([number]) * 8)
        for number, due in enumerate((NOW - HOUR, NOW + DAY, NOW + 2 * DAY))
    )
    stack.put("delayer-control", SWEEP)
    stack.put("old-relaxed", *(to_item(each) for each in (late, ahead, cancelled)))
    stack.put("delayer-ledger", row_item(ended_unclaimed(cancelled.id, cancelled.owner, State.CANCELLED, NOW, "")))
    restore = stack.restore("relaxed")
    found = {item["due"]["S"].partition("#")[2]: item for item in stack.items("delayer-relaxed")}
    assert found.keys() == {late.id, ahead.id}
    assert all(item["restored"] == {"N": "1"} for item in found.values())
    assert stack.schedules() == set()
    assert dict(restore.counted["relaxed"]) == {"copied": 2, "ended or claimed already": 1}
    assert stack.control("sweep") == SWEEP, "nobody sweeps them"


def test_a_lane_that_the_stack_does_not_have_is_named(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is paused or copied. A stack without a lane can be given the keys of another all the same."""
    monkeypatch.delitem(OUTPUTS, "RelaxedTable")
    stack.put("delayer-control", SWEEP)
    stack.put("old-relaxed", to_item(a_relaxed_schedule(NOW + DAY)))
    with pytest.raises(WrongTable, match="has no RelaxedTable: deploy it with the lanes and the policies of the stack"):
        stack.restore("relaxed")
    assert stack.items("delayer-relaxed") == []


def test_a_relaxed_schedule_that_may_have_fired_waits_for_a_person(stack: Stack) -> None:
    late = a_relaxed_schedule(NOW - HOUR)
    stack.put("old-relaxed", to_item(late))
    stack.restore("ledger", "relaxed", lost_at=NOW)
    assert stack.items("delayer-relaxed") == []
    assert [letter.schedule_id for letter in stack.dead_letters()] == [late.id]


def test_the_command_line() -> None:
    lost = parse(["--ledger", "a", "--schedules", "b", "--lost-at", "2026-11-21T09:00:00Z"])
    assert (lost.sources, lost.lost_at) == ({"ledger": "a", "schedules": "b"}, 1_795_251_600_000)
    assert parse(["--ledger", "a", "--schedules", "b", "--lost-at", "never"]).lost_at is None
    assert parse(["--resume"]).only == "resume"


def test_what_waits_for_its_time_comes_back(stack: Stack) -> None:
    """What its policy is to decide; the two tables of records are not mixed up."""
    waits = a_schedule(id=an_id(NOW, kind=IdKind.UNDECIDED), created_at=NOW, when='{"policy":"spread","seconds":60}')
    stack.put("old-waiting", to_item(waits))
    assert dict(stack.restore("waiting").counted["waiting"]) == {"copied": 1}
    [item] = stack.items("delayer-waiting")
    assert "restored" in item, "it was announced long ago"
    stack.put("old-waiting", to_item(FAR))
    with pytest.raises(WrongTable, match="not of what waits"):
        stack.restore("waiting")
