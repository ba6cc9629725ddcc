"""What is saved comes back into a new stack; data without a place there is refused before anything changes."""

import copy
import time
from collections import defaultdict
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.keeping import contents, filling, stores
from local.emulator.keeping.filling import Misfit
from local.emulator.patches.queues.visibility_index import VisibilityIndex
from local.keeping.saved import read, written

TABLE, CONTROL, QUEUE, FIFO = (
    "delayer-SchedulesTable-X",
    "delayer-ControlTable-X",
    "http://q/DelayerQueue",
    "http://q/own.fifo",
)
RESOURCES = {"SchedulesTable": TABLE, "ControlTable": CONTROL, "DelayerQueue": QUEUE, "DeadLetterBucket": "dead"}
INDEX = "_rebuild_queue_name_index"  # ministack's name
AN_HOUR = 3600.0


def table(*names: str, key: str = "bucket") -> dict[str, Any]:
    schema = [{"AttributeName": key, "KeyType": "HASH"}]
    rows: dict[str, Any] = {name: {"__no_sort__": {"name": {"S": name}, "claim": {"S": "sub"}}} for name in names}
    rows["emptied"] = {}  # ministack lets go of no partition
    return {"TableName": "t", "KeySchema": schema, "items": defaultdict(dict, rows), "_index_members": object()}


def queue(url: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"url": url, "attributes": {}, "messages": list(messages), "dedup_cache": {}, "fifo_seq": 0}


def message(visible_at: float) -> dict[str, Any]:
    return {"id": "m", "body": "b", "sent_at": 100.0, "visible_at": visible_at, "first_receive_at": None}


class Emulator:
    """What ministack's modules hold."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *rows: str) -> None:
        found = {one: {"PhysicalResourceId": name} for one, name in RESOURCES.items()}
        self.stack = {"_resources": found}
        self.mappings: list[Any] = []
        self.indexed: list[str] = []  # queues that are found by their names
        self.carried: dict[tuple[str, str], Any] = {}
        self.index = VisibilityIndex(wake=lambda: None)
        tables = {TABLE: table(*rows), CONTROL: table("actions", "owner-claim", "id-key", key="name")}
        self.modules: dict[str, Any] = {
            "cloudformation": SimpleNamespace(_stacks={"delayer": self.stack}),
            "dynamodb": SimpleNamespace(_tables=tables),
            "sqs": SimpleNamespace(
                _queues={QUEUE: queue(QUEUE)}, _queues_lock=nullcontext(), **{INDEX: self.index_queues}
            ),
            "secretsmanager": SimpleNamespace(_secrets={}),
            "s3": SimpleNamespace(
                _buckets={"dead": {"objects": {}}, "delayer-code": {"objects": {"a": {}}}},
                _object_versions={},
                _bucket_versioning={"dead": "Enabled"},
            ),
            "lambda_svc": SimpleNamespace(_esms={"u": {"FunctionName": "delayer-stream-enqueuer"}}),
        }
        monkeypatch.setattr(stores, "service", self.modules.__getitem__)
        monkeypatch.setattr(contents, "service", self.modules.__getitem__)
        monkeypatch.setattr(filling, "service", self.modules.__getitem__)

    def index_queues(self) -> None:
        self.indexed = list(self.modules["sqs"]._queues)

    def saved(self) -> Any:
        """Through JSON, as on the disk."""
        streams: Any = SimpleNamespace(mappings=dict(enumerate(self.mappings)))
        return read(written(contents.collected(streams)))

    def fill(self, what: Any, ago: float = 0.0) -> None:
        streams: Any = SimpleNamespace(carried=self.carried)
        filling.fill_stack(what, time.time() - ago, self.index, streams)

    def __getitem__(self, name: str) -> Any:
        return next(store[name] for store in self.stores() if name in store)

    def stores(self) -> list[dict[str, Any]]:
        modules = self.modules
        return [
            modules["dynamodb"]._tables,
            modules["sqs"]._queues,
            modules["secretsmanager"]._secrets,
            modules["s3"]._buckets,
        ]


def saved_by(monkeypatch: pytest.MonkeyPatch, change: Any = lambda _emulator: None) -> Any:
    """The contents of an emulator of its own, after a change."""
    with monkeypatch.context() as patch:
        old = Emulator(patch, "row-1", "row-2")
        old[QUEUE]["messages"] = [message(500.0), message(time.time() + AN_HOUR)]
        change(old)
        return old.saved()


def test_the_data_comes_back_and_the_rest_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = saved_by(monkeypatch)
    new = Emulator(monkeypatch)
    new[TABLE]["TableId"] = "new"
    new.fill(saved)
    assert set(new[TABLE]["items"]) == {"row-1", "row-2"}
    assert new[TABLE]["TableId"] == "new"
    assert new[TABLE]["items"]["a row to be"] == {}  # ministack counts on a table that makes its partitions
    assert new[QUEUE]["messages"][0]["visible_at"] == 500.0
    assert contents.waiting_in(saved) == 4


def test_messages_are_found_when_they_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = saved_by(monkeypatch)
    new = Emulator(monkeypatch)
    new.index.polled_at[QUEUE] = time.time()
    assert not new.index.may_have_visible(QUEUE, time.time())
    new.fill(saved)
    assert new.index.may_have_visible(QUEUE, time.time())


def test_a_message_gets_no_older_while_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue keeps it for 14 days; a stop may last for longer. Its delay goes on, as it is a point in time."""
    saved = saved_by(monkeypatch)
    new = Emulator(monkeypatch)
    new.fill(saved, ago=AN_HOUR)
    [first, _] = new[QUEUE]["messages"]
    assert first["sent_at"] == pytest.approx(100 + AN_HOUR, abs=5)
    assert (first["visible_at"], first["first_receive_at"]) == (500.0, None)


def test_what_a_function_had_received_is_visible_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would fire up to a minute and a half later: so long may an executor keep it. A delay stays a delay."""
    later = time.time() + 90

    def received(old: Emulator) -> None:
        old[QUEUE]["messages"] = [{**message(later), "receive_count": 1}, {**message(later), "receive_count": 0}]
        old.modules["sqs"]._queues[FIFO] = queue(FIFO, {**message(later), "receive_count": 1})

    saved = saved_by(monkeypatch, received)
    new = Emulator(monkeypatch)
    new.fill(saved)
    in_flight, delayed = new[QUEUE]["messages"]
    assert in_flight["visible_at"] <= time.time()
    assert delayed["visible_at"] == later
    assert new[FIFO]["messages"][0]["visible_at"] == later, "a program of their own may still work on it"


def test_what_somebody_has_made_beside_the_stack_comes_back_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def more(old: Emulator) -> None:
        old.modules["sqs"]._queues[FIFO] = {
            **queue(FIFO),
            "dedup_cache": {("g", "d"): {"seq": "1"}},
            "name": "own.fifo",
        }
        old.modules["secretsmanager"]._secrets["delayer/connections/1"] = {"Versions": {"1": {"SecretString": "s"}}}
        old.modules["s3"]._buckets["own"] = {"objects": {"k": {"body": b"\xff"}}}
        old.modules["s3"]._bucket_versioning["own"] = "Enabled"
        old.modules["s3"]._object_versions["own", "k"] = [{"data": b"\xff"}]

    saved = saved_by(monkeypatch, more)
    new = Emulator(monkeypatch)
    new.fill(saved)
    assert FIFO in new.indexed
    assert new[FIFO]["dedup_cache"] == {("g", "d"): {"seq": "1"}}
    assert new["delayer/connections/1"]["Versions"]["1"] == {"SecretString": "s"}
    assert new["own"]["objects"]["k"]["body"] == b"\xff"
    assert new.modules["s3"]._bucket_versioning == {"dead": "Enabled", "own": "Enabled"}
    assert new.modules["s3"]._object_versions == {("own", "k"): [{"data": b"\xff"}]}
    assert "delayer-code" not in saved["records"]["bucket"]


def test_the_types_of_actions_are_those_of_the_new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def older(old: Emulator) -> None:
        old[CONTROL]["items"]["actions"]["__no_sort__"]["types"] = {"S": "old"}
        old[CONTROL]["items"]["id-key"]["__no_sort__"]["key"] = {"S": "old"}

    saved = saved_by(monkeypatch, older)
    new = Emulator(monkeypatch)
    new[CONTROL]["items"]["actions"]["__no_sort__"]["types"] = {"S": "new"}
    new.fill(saved)
    rows = new[CONTROL]["items"]
    assert rows["actions"]["__no_sort__"]["types"] == {"S": "new"}
    assert rows["id-key"]["__no_sort__"]["key"] == {"S": "old"}  # or no id would be genuine any more


def test_the_keys_that_the_new_stack_was_created_with_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that clients hold are made with the saved one. A stack that was saved without has none until it is filled."""

    def older(old: Emulator) -> None:
        old[CONTROL]["items"]["id-key"]["__no_sort__"]["key"] = {"S": "saved"}

    saved = saved_by(monkeypatch, older)
    new = Emulator(monkeypatch)
    for name in ("id-key", "signing-key"):
        new[CONTROL]["items"][name] = {"__no_sort__": {"name": {"S": name}, "key": {"S": "of the creation"}}}
    new.fill(saved)
    rows = new[CONTROL]["items"]
    assert rows["id-key"]["__no_sort__"]["key"] == {"S": "saved"}
    assert rows["signing-key"]["__no_sort__"]["key"] == {"S": "of the creation"}, "there was none: this one stays"


def test_records_that_no_function_has_handled_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [{"dynamodb": {"SequenceNumber": "1"}}]

    def interrupted(old: Emulator) -> None:
        for function, records in (("delayer-stream-enqueuer", left), ("delayer-stream-lifecycle", [])):
            mapping = SimpleNamespace(table=TABLE, function=function, left=lambda found=records: found)
            old.mappings.append(mapping)

    saved = saved_by(monkeypatch, interrupted)
    assert contents.carried_in(saved) == 1
    new = Emulator(monkeypatch)
    new.fill(saved)
    assert new.carried == {(TABLE, "delayer-stream-enqueuer"): left}
    new.modules["lambda_svc"]._esms.clear()
    with pytest.raises(Misfit, match="records of a stream wait for the function delayer-stream-enqueuer"):
        new.fill(saved)


def without_queue(new: Emulator) -> None:
    del new.modules["sqs"]._queues[QUEUE], new.stack["_resources"]["DelayerQueue"]


def with_another_key(new: Emulator) -> None:
    new[TABLE]["KeySchema"] = []


def with_another_claim(new: Emulator) -> None:
    new[CONTROL]["items"]["owner-claim"]["__no_sort__"]["claim"] = {"S": "client_id"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (without_queue, "the queue http://q/DelayerQueue holds data, and the stack has it no more"),
        (with_another_key, f"the table {TABLE} has another key than before"),
        (with_another_claim, "its owners are named by another claim"),
    ],
)
def test_data_that_has_no_place_is_refused_and_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch, change: Any, reason: str
) -> None:
    saved = saved_by(monkeypatch)
    new = Emulator(monkeypatch)
    change(new)
    before = copy.copy(new[TABLE]["items"])
    with pytest.raises(Misfit, match=reason):
        new.fill(saved)
    assert new[TABLE]["items"] == before == {"emptied": {}}


def test_what_has_another_name_in_the_new_stack_is_found_by_its_logical_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator draws the names of buckets anew."""

    def filled(old: Emulator) -> None:
        old["dead"]["objects"]["failed/1"] = {"body": b"kept"}
        old.modules["s3"]._object_versions["dead", "failed/1"] = [{"data": b"kept"}]

    saved = saved_by(monkeypatch, filled)
    new = Emulator(monkeypatch)
    new.stack["_resources"]["DeadLetterBucket"] = {"PhysicalResourceId": "dead-2"}
    s3 = new.modules["s3"]
    s3._buckets = {"dead-2": {"objects": {}, "region": "new"}}
    s3._bucket_versioning = {"dead-2": "Enabled"}
    new.fill(saved)
    assert s3._buckets == {"dead-2": {"objects": {"failed/1": {"body": b"kept"}}, "region": "new"}}
    assert s3._object_versions == {("dead-2", "failed/1"): [{"data": b"kept"}]}
    assert s3._bucket_versioning == {"dead-2": "Enabled"}


def test_a_queue_that_is_gone_and_was_empty_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = saved_by(monkeypatch, lambda old: old[QUEUE]["messages"].clear())
    new = Emulator(monkeypatch)
    without_queue(new)
    new.fill(saved)
    assert set(new[TABLE]["items"]) == {"row-1", "row-2"}
