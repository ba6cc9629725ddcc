"""No name that is accepted makes a key that DynamoDB refuses: each key is built here at its longest (ADR 0147)."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from delayer.aws.http.requests import CREATE, MAX_HEADER, Unknown, owner_of
from delayer.core.api.json_body import MAX_KEY as LONGEST_IDEMPOTENCY_KEY
from delayer.core.api.problem import Invalid
from delayer.core.connections.connection import SecretNote
from delayer.core.schedule.schedule import MAX_KEY, MAX_OWNER, SERIES_ID
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.upkeep.rounds import Directory
from delayer.ports.series import SeriesEntry
from delayer.repositories.connections import connections, tokens
from delayer.repositories.control.owner_policies import row_of
from delayer.repositories.journal import journal
from delayer.repositories.registry import jobs, lists, registry, uses
from delayer.repositories.series import directories, series_table
from delayer.store.items import Key, entry_key
from delayer.wiring.environment import Environment
from tests.samples import an_id

PROJECT: Final = Path(__file__).parents[3]
REPOSITORIES: Final = Path(series_table.__file__).parents[1]
MAX_LIST: Final = 2_048  # bytes of a partition key of DynamoDB; a sort key has MAX_KEY
OWNER: Final = "o" * MAX_OWNER
NAME: Final = "n" * 128  # as openapi.yaml has it; of a group, too
SERIES: Final = "5" * SERIES_ID  # of a job and of a secret, too
SCHEDULE: Final = an_id()
MEMBER: Final = lists.entry_of(SCHEDULE)
FILED: Final = address_of(SCHEDULE)

ROUTES: Final = [
    f"{method.upper()} {path}"
    for path, methods in yaml.safe_load((PROJECT / "openapi.yaml").read_text())["paths"].items()
    for method in methods
    if method in ("get", "post", "put", "patch", "delete")
]

KEYS: Final[dict[str, Callable[[], Key]]] = {  # by the function that builds them
    "connections/connections.py connection_key": lambda: connections.connection_key(OWNER, NAME),
    "connections/connections.py count_key": lambda: connections.count_key(OWNER),
    "connections/connections.py note_key": lambda: connections.note_key(
        SecretNote(owner=OWNER, secret=SERIES, since=0)
    ),
    "connections/tokens.py token_key": lambda: tokens.token_key(OWNER, NAME),
    "registry/lists.py member_item": lambda: lists.member_item(registry.group_list(OWNER, NAME), SCHEDULE, 0, 0),
    "registry/uses.py gate_keys": lambda: uses.gate_keys(OWNER, NAME)[-1],
    "registry/uses.py schedule_use_key": lambda: uses.schedule_use_key(OWNER, NAME, SCHEDULE),
    "registry/uses.py series_writes": lambda: entry_key(uses.uses_list(OWNER, NAME), f"{uses.SERIES}{SERIES}"),
    "registry/jobs.py latest_put": lambda: entry_key(jobs.group_job_list(OWNER, NAME)),
    "registry/jobs.py job_put": lambda: entry_key(jobs.job_list(OWNER, SERIES)),
    "journal/journal.py _read": lambda: entry_key(journal.owner_list(OWNER), MEMBER),
    "journal/live_count.py _add": lambda: entry_key(f"live#{OWNER}", "000000#000"),
    "registry/rate_limit.py spend": lambda: entry_key(f"rate#{OWNER}", "0" * 30),
    "registry/registry.py name_item": lambda: entry_key(registry.name_list(OWNER, NAME)),
    "registry/registry.py request_item": lambda: entry_key(
        registry.request_list(OWNER, "k" * LONGEST_IDEMPOTENCY_KEY),
    ),
    "registry/registry.py _place_in_group": lambda: entry_key(registry.group_list(OWNER, NAME), MEMBER),
    "series/directories.py directory_key": lambda: directories.directory_key(Directory.ZONED, OWNER, SERIES),
    "series/series_table.py directory_key": lambda: series_table.directory_key(
        OWNER, SeriesEntry(group=NAME, series=SERIES)
    ),
    "series/series_table.py filed_in": lambda: series_table.filed_in(FILED.bucket, SCHEDULE),
    "series/series_table.py name_item": lambda: entry_key(series_table.name_list(OWNER, NAME)),
    "series/series_table.py cursor_item": lambda: entry_key(
        series_table.series_list(OWNER, SERIES), series_table.DEFINITION
    ),
}
OF_WHAT_IS_STORED: Final = {  # they build again what one of the others has built, to read it or to write over it
    "journal/journal.py write",
    "registry/jobs.py read",
    "registry/jobs.py latest",
    "registry/registry.py named",
    "registry/registry.py requested",
    "registry/registry.py put_whole",
    "series/series_table.py definition_item",
    "series/series_table.py named",
    "series/series_table.py _read",
    "series/series_table.py _read_all",
    "series/series_table.py _unchanged",
    "series/upkeep.py carry",
}
WITHOUT_NAMES: Final = {  # only ids and digests of a fixed length are in them
    "journal/journal.py event_item",
    "journal/live_count.py _note",
    "flow/blocks.py to_item",
    "flow/blocks.py change",
    "flow/blocks.py remove",
    "flow/blocks.py discard",
    "flow/lines.py begin_line",
    "flow/lines.py extend_line",
    "flow/seats.py take_seats",
    "flow/seats.py return_seats",
}


def builders() -> Iterator[str]:
    """The functions that build a key of a table that holds lists, by their file."""
    for file in sorted(REPOSITORIES.rglob("*.py")):
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef) and any(_builds_a_key(node) for node in ast.walk(function)):
                yield f"{file.relative_to(REPOSITORIES)} {function.name}"


def _builds_a_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "entry_key"


def test_each_function_that_builds_a_key_is_known_here() -> None:
    assert set(builders()) == {*KEYS} | OF_WHAT_IS_STORED | WITHOUT_NAMES


@pytest.mark.parametrize("builder", KEYS)
def test_a_key_at_its_longest_is_accepted(builder: str) -> None:
    key: Any = KEYS[builder]()
    assert len(key["list"].encode()) <= MAX_LIST
    assert len(key["entry"].encode()) <= MAX_KEY


def test_the_longest_key_leaves_no_byte_unused() -> None:
    """Otherwise the limit would be lower than it has to be."""
    longest: Any = directories.directory_key(Directory.ZONED, OWNER, SERIES)
    assert len(longest["entry"]) == MAX_KEY


def test_control_rows_have_room_for_the_longest_owner() -> None:
    assert max(len(name) for name in (row_of(OWNER), f"signing#{OWNER}")) <= MAX_LIST


def test_what_is_issued_is_as_long_as_is_reckoned_here() -> None:
    environment = Environment("api")
    assert len(environment.new_series_id()) == len(environment.new_job_id()) == SERIES_ID


LONGEST: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "AWS_IAM": lambda name: {"iam": {"userArn": name}},
    "JWT": lambda name: {"jwt": {"claims": {"iss": "i", "sub": name.removeprefix("i ")}}},
}


@pytest.mark.parametrize("authorization", LONGEST)
@pytest.mark.parametrize("letter", ["o", "\u20ac"], ids=["ASCII", "three bytes"])
def test_an_owner_of_a_longer_name_keeps_what_it_has(authorization: str, letter: str) -> None:
    """Only what would create something is refused, whatever it is, and not the first series with a zone."""
    size = len(letter.encode())
    longest = "i " + letter * ((MAX_OWNER - 2) // size)
    longer = "i " + letter * ((MAX_KEY - 2) // size)

    def asks(name: str, route: str) -> str:
        event = {"routeKey": route, "requestContext": {"authorizer": LONGEST[authorization](name)}}
        return owner_of(event, authorization)

    for route in ROUTES:
        assert asks(longest, route) == longest
        if route in CREATE:
            with pytest.raises(Invalid) as refused:
                asks(longer, route)
            [error] = refused.value.errors
            assert (error.field, error.allowed) == ("owner", "a name of at most 991 bytes")
        else:
            assert asks(longer, route) == longer
        with pytest.raises(Unknown, match="its name is over 1,024 bytes"):
            asks(longer + letter, route)


def test_each_route_that_creates_something_is_known() -> None:
    """A POST or a PUT creates something, but for those that are about what is there already, or create nothing."""
    about_what_is_there = {
        "POST /schedules/{id}/stop",
        "POST /series/{seriesId}/pause",
        "POST /series/{seriesId}/resume",
        "POST /series/{seriesId}/run-now",
        "POST /series/{seriesId}/backfill",
        "POST /series/preview",
        "POST /signing-secret/rotate",
        "POST /connections/{name}/test",
    }
    assert {route for route in ROUTES if route.startswith(("POST", "PUT"))} == CREATE | about_what_is_there


def test_a_header_counts_its_bytes_too() -> None:
    """Where the API is open, 256 characters of four bytes each are too long to create something."""
    longer, longest = "\U0001f600" * MAX_HEADER, "\U0001f600" * (MAX_OWNER // 4)
    for route in ROUTES:
        assert owner_of({"routeKey": route, "headers": {"delayer-owner": longest}}, "NONE") == longest
    with pytest.raises(Invalid):
        owner_of({"routeKey": "POST /schedules", "headers": {"delayer-owner": longer}}, "NONE")
    assert owner_of({"routeKey": "GET /schedules", "headers": {"delayer-owner": longer}}, "NONE") == longer


@pytest.mark.parametrize("authorization", LONGEST)
def test_a_name_that_is_no_text_is_no_caller(authorization: str) -> None:
    """Half a surrogate pair cannot be a key: the answer was 500."""
    with pytest.raises(Unknown, match="its name is no Unicode text"):
        owner_of({"requestContext": {"authorizer": LONGEST[authorization]("i \udc80")}}, authorization)


def test_a_header_that_is_no_text_is_answered() -> None:
    with pytest.raises(Invalid):
        owner_of({"headers": {"delayer-owner": "\udc80"}}, "NONE")
