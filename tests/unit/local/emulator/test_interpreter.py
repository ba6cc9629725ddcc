"""Ids are as random as before, and each is another one."""

import threading
import uuid
from types import SimpleNamespace

from local.emulator.interpreter import READ_AT_ONCE, RandomBytes, make_ids_quickly


def test_ids_are_of_the_fourth_version_and_each_is_another_one() -> None:
    module = SimpleNamespace(uuid4=uuid.uuid4)
    make_ids_quickly(module)
    ids = [module.uuid4() for _ in range(1000)]
    assert {(one.version, one.variant) for one in ids} == {(4, uuid.RFC_4122)}
    assert len(set(ids)) == 1000


def test_no_byte_is_given_twice_also_not_to_two_threads() -> None:
    store, taken = RandomBytes(), list[bytes]()
    threads = [
        threading.Thread(target=lambda: taken.extend(store.take(16) for _ in range(READ_AT_ONCE // 16)))
        for _ in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(20)
    assert {len(one) for one in taken} == {16}
    assert len(set(taken)) == len(taken) == 4 * READ_AT_ONCE // 16
