"""Where bodies are kept."""

from itertools import count
from typing import Any

import pytest
from attrs import evolve
from botocore.exceptions import ClientError

from delayer.aws.set_aside_store import S3SetAsideStore
from delayer.core.set_aside import Shelf, decode
from delayer.fakes import MemorySetAsideStore
from delayer.ports import SetAsideStore, Unavailable
from tests.clients import ERRORS, Failing
from tests.contract.conftest import REGION
from tests.samples import NOW, a_kept, an_id

_names = (f"bucket-{number}" for number in count())


def adapter(s3: Any) -> S3SetAsideStore:
    name = next(_names)
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    return S3SetAsideStore(s3=s3, bucket=name)


@pytest.fixture(params=["fake", "s3"])
def store(request: pytest.FixtureRequest, s3: Any) -> SetAsideStore:
    return MemorySetAsideStore() if request.param == "fake" else adapter(s3)


def everything(store: SetAsideStore, prefix: str = "") -> list[str]:
    return store.list(prefix, "", 1000)


def test_what_is_kept_is_got(store: SetAsideStore) -> None:
    kept = a_kept(body="the whole body \u00e4 \U0001f600 \n")
    store.keep(kept)
    content = store.get(kept.key)
    assert content is not None
    assert decode(content) == kept


def test_kept_twice_is_kept_once(store: SetAsideStore) -> None:
    """The later reason stands."""
    kept = a_kept()
    store.keep(kept)
    store.keep(evolve(kept, reason="another", at=NOW + 1))
    assert everything(store) == [kept.key]
    content = store.get(kept.key)
    assert content is not None
    assert decode(content).reason == "another"


def test_the_list_by_prefix(store: SetAsideStore) -> None:
    kept = [
        a_kept(),
        a_kept(body="another"),
        a_kept(shelf=Shelf.FAILED),
        a_kept(schedule_id="", body="?"),
        a_kept(schedule_id=an_id(NOW + 1)),
    ]
    for one in kept:
        store.keep(one)
    assert everything(store) == sorted(one.key for one in kept)
    assert everything(store, "failed/") == [kept[2].key]
    assert everything(store, f"set-aside/{an_id()}/") == sorted(one.key for one in kept[:2])
    assert everything(store, "set-aside/unreadable") == [kept[3].key]
    assert everything(store, "nothing") == []


def test_an_empty_store(store: SetAsideStore) -> None:
    assert everything(store) == []


@pytest.mark.parametrize("key", ["nothing", "set-aside/x/y.json", " ", "\u00e4"])
def test_what_is_not_there(store: SetAsideStore, key: str) -> None:
    assert store.get(key) is None
    store.discard(key)


def test_what_is_discarded_is_gone(store: SetAsideStore) -> None:
    kept = a_kept()
    store.keep(kept)
    store.discard(kept.key)
    store.discard(kept.key)
    assert store.get(kept.key) is None
    assert everything(store) == []


@pytest.mark.parametrize("at_most", [1, 2, 7, 8])
def test_page_by_page(store: SetAsideStore, at_most: int) -> None:
    """In order, each once; a page begins after the last key of the one before."""
    keys = [a_kept(body=str(at)).key for at in range(7)]
    for at in range(7):
        store.keep(a_kept(body=str(at)))
    store.keep(a_kept(shelf=Shelf.FAILED))
    read: list[str] = []
    while page := store.list("set-aside/", read[-1] if read else "", at_most):
        assert len(page) <= at_most
        read += page
    assert read == sorted(keys)


def test_a_page_after_a_key_that_is_gone(store: SetAsideStore) -> None:
    keys = sorted(a_kept(body=str(at)).key for at in range(4))
    for at in range(4):
        store.keep(a_kept(body=str(at)))
    store.discard(keys[1])
    assert store.list("", keys[1], 10) == keys[2:]


# ------------------------------------------------------------ the adapter alone


@pytest.mark.parametrize("code", ["NoSuchKey", "404"])
def test_either_word_for_what_is_not_there(code: str) -> None:
    missing = ClientError({"Error": {"Code": code}}, "GetObject")
    assert S3SetAsideStore(s3=Failing(missing), bucket="b").get("x") is None


@pytest.mark.parametrize("error", [*ERRORS, "NoSuchBucket"])
def test_what_failed_is_unavailable(error: str) -> None:
    failure = ERRORS.get(error) or ClientError({"Error": {"Code": error}}, "Operation")
    store = S3SetAsideStore(s3=Failing(failure), bucket="b")
    for call in (
        lambda: store.keep(a_kept()),
        lambda: store.list("", "", 1),
        lambda: store.get("x"),
        lambda: store.discard("x"),
    ):
        with pytest.raises(Unavailable):
            call()
