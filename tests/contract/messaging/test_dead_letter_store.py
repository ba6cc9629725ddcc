"""Where dead letters are stored."""

from itertools import count
from typing import Any

import pytest
from attrs import evolve
from botocore.exceptions import ClientError

from delayer.dead_letters.model import WAITING, Prefix, WaitingRecords, decode, records_in
from delayer.dead_letters.ports import DeadLetterStore
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.aws.objects import S3Objects
from delayer.engines.memory import MemoryObjects
from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.objects import OBJECTS, SqliteObjects
from tests.clients import ERRORS, Failing
from tests.contract.conftest import Aws
from tests.contract.engines import REGION, OnSqlite
from tests.samples import NOW, a_dead_letter, an_id

_names = (f"bucket-{number}" for number in count())
ADAPTER = StoredDeadLetters


def adapter(s3: Any) -> StoredDeadLetters[S3Objects]:
    name = next(_names)
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return StoredDeadLetters(S3Objects(s3=s3, bucket=name))


@pytest.fixture
def store(engine: Aws | OnSqlite | None) -> DeadLetterStore:
    if isinstance(engine, OnSqlite):
        return StoredDeadLetters(SqliteObjects(database=engine.database(OBJECTS)))
    return StoredDeadLetters(MemoryObjects()) if engine is None else adapter(engine("s3"))


def everything(store: DeadLetterStore, prefix: str = "") -> list[str]:
    return store.list(prefix, "", 1000)


def test_what_is_stored_is_got(store: DeadLetterStore) -> None:
    letter = a_dead_letter(body="the whole body \u00e4 \U0001f600 \n")
    store.put(letter)
    content = store.get(letter.key)
    assert content is not None
    assert decode(content) == letter


def test_what_is_stored_twice_is_there_once(store: DeadLetterStore) -> None:
    """The later reason is the one that is stored."""
    letter = a_dead_letter()
    store.put(letter)
    store.put(evolve(letter, reason="another", at=NOW + 1))
    assert everything(store) == [letter.key]
    content = store.get(letter.key)
    assert content is not None
    assert decode(content).reason == "another"


def test_records_that_are_set_aside_come_back_as_they_were_the_oldest_first(store: DeadLetterStore) -> None:
    records = ({"eventName": "REMOVE", "text": "\u00e4 \U0001f600"}, {"eventName": "INSERT"})
    for at in (NOW + 1, NOW):
        store.set_aside(WaitingRecords(records=records, reason="the reason", at=at))
    keys = everything(store, WAITING)
    assert [key.removeprefix(WAITING).partition("-")[0] for key in keys] == [f"{NOW:013d}", f"{NOW + 1:013d}"]
    content = store.get(keys[0])
    assert content is not None
    assert tuple(records_in(content)) == records
    store.remove(keys[0])
    assert everything(store, WAITING) == keys[1:]


def test_what_is_set_aside_twice_is_there_once(store: DeadLetterStore) -> None:
    """The same records at the same instant: Lambda may deliver a batch again."""
    for _ in range(2):
        store.set_aside(WaitingRecords(records=({"eventName": "REMOVE"},), reason="the reason", at=NOW))
    assert len(everything(store, WAITING)) == 1


def test_the_list_by_prefix(store: DeadLetterStore) -> None:
    letters = [
        a_dead_letter(),
        a_dead_letter(body="another"),
        a_dead_letter(prefix=Prefix.FAILED),
        a_dead_letter(schedule_id="", body="?"),
        a_dead_letter(schedule_id=an_id(NOW + 1)),
    ]
    for one in letters:
        store.put(one)
    assert everything(store) == sorted(one.key for one in letters)
    assert everything(store, "failed/") == [letters[2].key]
    assert everything(store, f"dead-lettered/{an_id()}/") == sorted(one.key for one in letters[:2])
    assert everything(store, "dead-lettered/malformed") == [letters[3].key]
    assert everything(store, "nothing") == []


def test_an_empty_store(store: DeadLetterStore) -> None:
    assert everything(store) == []


@pytest.mark.parametrize("key", ["nothing", "dead-lettered/x/y.json", " ", "\u00e4"])
def test_what_is_not_there(store: DeadLetterStore, key: str) -> None:
    assert store.get(key) is None
    store.remove(key)


def test_what_is_deleted_is_gone(store: DeadLetterStore) -> None:
    letter = a_dead_letter()
    store.put(letter)
    store.remove(letter.key)
    store.remove(letter.key)
    assert store.get(letter.key) is None
    assert everything(store) == []


@pytest.mark.parametrize("at_most", [1, 2, 7, 8])
def test_page_by_page(store: DeadLetterStore, at_most: int) -> None:
    """In order, each once; a page begins after the last key of the one before."""
    keys = [a_dead_letter(body=str(at)).key for at in range(7)]
    for at in range(7):
        store.put(a_dead_letter(body=str(at)))
    store.put(a_dead_letter(prefix=Prefix.FAILED))
    read: list[str] = []
    while page := store.list("dead-lettered/", read[-1] if read else "", at_most):
        assert len(page) <= at_most
        read += page
    assert read == sorted(keys)


def test_a_page_after_a_key_that_is_gone(store: DeadLetterStore) -> None:
    keys = sorted(a_dead_letter(body=str(at)).key for at in range(4))
    for at in range(4):
        store.put(a_dead_letter(body=str(at)))
    store.remove(keys[1])
    assert store.list("", keys[1], 10) == keys[2:]


# ------------------------------------------------------------ the adapter alone


@pytest.mark.parametrize("code", ["NoSuchKey", "404"])
def test_either_word_for_what_is_not_there(code: str) -> None:
    missing = ClientError({"Error": {"Code": code}}, "GetObject")
    assert StoredDeadLetters(S3Objects(s3=Failing(missing), bucket="b")).get("x") is None


@pytest.mark.parametrize("error", [*ERRORS, "NoSuchBucket"])
def test_what_failed_is_unavailable(error: str) -> None:
    failure = ERRORS.get(error) or ClientError({"Error": {"Code": error}}, "Operation")
    store = StoredDeadLetters(S3Objects(s3=Failing(failure), bucket="b"))
    for call in (
        lambda: store.put(a_dead_letter()),
        lambda: store.list("", "", 1),
        lambda: store.get("x"),
        lambda: store.remove("x"),
        lambda: store.set_aside(WaitingRecords(records=({},), reason="r", at=NOW)),
    ):
        with pytest.raises(Unavailable):
            call()


def test_what_fails_on_sqlite_is_unavailable() -> None:
    """So is a key that is no Unicode."""
    database = Database(layout=OBJECTS)
    objects = SqliteObjects(database=database)
    with pytest.raises(Unavailable):
        objects.put("\ud800", b"")
    database.close()
    for call in (lambda: objects.put("x", b""), lambda: objects.list("", "", 1), lambda: objects.get("x")):
        with pytest.raises(Unavailable):
            call()
