"""A page of a list costs what is on it, however long the list is. `python -m bench.lists` measures the time."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

from bench import lists
from delayer.ledger.model import LedgerRow
from delayer.ledger.repository import StoredLedger

filled = cache(lists.filled)  # nobody changes what is in it here


def rows_read(do: Callable[[], Any]) -> int:
    """How many rows of the ledger are asked for."""
    read_all, asked = StoredLedger.read_all, list[str]()

    def noting(ledger: StoredLedger, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        asked.extend(schedule_ids)
        return read_all(ledger, schedule_ids)

    with patch.object(StoredLedger, "read_all", noting):
        do()
    assert asked, "a page shows the states of what is on it"
    return len(asked)


@pytest.mark.parametrize("query", lists.LISTS.values(), ids=lists.LISTS)
def test_the_length_of_a_list_is_not_read(query: str) -> None:
    """The first takes about a second: all are posted."""
    short, long = filled(200), filled(600)
    assert rows_read(lambda: short.get(f"/schedules?limit=50{query}")) == rows_read(
        lambda: long.get(f"/schedules?limit=50{query}")
    )


def test_a_list_is_in_due_order_whatever_the_order_of_its_members() -> None:
    http = filled(200)
    listed: list[str] = []
    cursor = ""
    while True:
        page = http.get(f"/schedules?limit=70{cursor}").json()
        listed += [one["pointInTime"] for one in page["schedules"]]
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert listed == sorted(listed)
    assert len(listed) == 200
