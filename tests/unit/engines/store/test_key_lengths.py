"""No name that is accepted makes a key that DynamoDB refuses: each key is built here at its longest (ADR 0147)."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

import delayer
from delayer.accept import repository as registry
from delayer.connections import repository as connections
from delayer.connections.model import SecretNote
from delayer.engines.store.model import Key, entry_key
from delayer.history import repository as journal
from delayer.http.json_body import MAX_KEY as LONGEST_IDEMPOTENCY_KEY
from delayer.http.problem import Invalid
from delayer.http.requests import MAX_HEADER, ApiRequest, Authorization, Unknown
from delayer.http.routing import CREATE
from delayer.jobs import repository as jobs
from delayer.lambdas.api import request_of
from delayer.owners.repository import row_of
from delayer.schedule.schedule import MAX_KEY, MAX_OWNER, SERIES_ID
from delayer.schedule.schedule_id import address_of
from delayer.series.ports import SeriesEntry
from delayer.series.repository import series_table
from delayer.series.rules.series import Directory
from delayer.wiring.environment import Environment
from tests.samples import an_id

PROJECT: Final = Path(__file__).parents[4]
PACKAGE: Final = Path(delayer.__file__).parent
REPOSITORIES: Final = sorted([*PACKAGE.glob("*/repository.py"), *PACKAGE.glob("*/repository/*.py")])
MAX_LIST: Final = 2_048  # bytes of a partition key of DynamoDB; a sort key has MAX_KEY
OWNER: Final = "o" * MAX_OWNER
NAME: Final = "n" * 128  # as openapi.yaml has it; of a group, too
SERIES: Final = "5" * SERIES_ID  # of a job and of a secret, too
SCHEDULE: Final = an_id()
MEMBER: Final = journal.entry_of(SCHEDULE)
FILED: Final = address_of(SCHEDULE)

ROUTES: Final = [
    f"{method.upper()} {path}"
    for path, methods in yaml.safe_load((PROJECT / "openapi.yaml").read_text())["paths"].items()
    for method in methods
    if method in ("get", "post", "put", "patch", "delete")
]

KEYS: Final[dict[str, Callable[[], Key]]] = {  # by the function that builds them
    "connections/repository.py connection_key": lambda: connections.connection_key(OWNER, NAME),
    "connections/repository.py count_key": lambda: connections.count_key(OWNER),
    "connections/repository.py note_key": lambda: connections.note_key(SecretNote(owner=OWNER, secret=SERIES, since=0)),
    "connections/repository.py token_key": lambda: connections.token_key(OWNER, NAME),
    "history/repository.py member_item": lambda: journal.member_item(registry.group_list(OWNER, NAME), SCHEDULE, 0, 0),
    "connections/repository.py gate_keys": lambda: connections.gate_keys(OWNER, NAME)[-1],
    "connections/repository.py schedule_use_key": lambda: connections.schedule_use_key(OWNER, NAME, SCHEDULE),
    "connections/repository.py series_writes": lambda: entry_key(
        connections.uses_list(OWNER, NAME), f"{connections.SERIES}{SERIES}"
    ),
    "jobs/repository.py latest_put": lambda: entry_key(jobs.group_job_list(OWNER, NAME)),
    "jobs/repository.py job_put": lambda: entry_key(jobs.job_list(OWNER, SERIES)),
    "history/repository.py _read": lambda: entry_key(journal.owner_list(OWNER), MEMBER),
    "history/repository.py _add": lambda: entry_key(f"live#{OWNER}", "000000#000"),
    "owners/repository.py spend": lambda: entry_key(f"rate#{OWNER}", "0" * 30),
    "accept/repository.py name_item": lambda: entry_key(registry.name_list(OWNER, NAME)),
    "accept/repository.py request_item": lambda: entry_key(
        registry.request_list(OWNER, "k" * LONGEST_IDEMPOTENCY_KEY),
    ),
    "accept/repository.py _place_in_group": lambda: entry_key(registry.group_list(OWNER, NAME), MEMBER),
    "series/repository/series_table.py part_key": lambda: series_table.part_key(Directory.ZONED, OWNER, SERIES),
    "series/repository/series_table.py directory_key": lambda: series_table.directory_key(
        OWNER, SeriesEntry(group=NAME, series=SERIES)
    ),
    "series/repository/series_table.py filed_in": lambda: series_table.filed_in(FILED.bucket, SCHEDULE),
    "series/repository/series_table.py name_item": lambda: entry_key(series_table.name_list(OWNER, NAME)),
    "series/repository/series_table.py cursor_item": lambda: entry_key(
        series_table.series_list(OWNER, SERIES), series_table.DEFINITION
    ),
}
OF_WHAT_IS_STORED: Final = {  # they build again what one of the others has built, to read it or to write over it
    "history/repository.py write",
    "jobs/repository.py read",
    "jobs/repository.py latest",
    "accept/repository.py named",
    "accept/repository.py requested",
    "accept/repository.py put_whole",
    "series/repository/series_table.py definition_item",
    "series/repository/series_table.py named",
    "series/repository/series_table.py _read",
    "series/repository/series_table.py _read_all",
    "series/repository/series_table.py _unchanged",
    "series/repository/series_table.py _key_in",
    "series/repository/upkeep.py carry",
}
WITHOUT_NAMES: Final = {  # only ids and digests of a fixed length are in them
    "history/repository.py event_item",
    "history/repository.py _note",
    "flow/repository.py to_item",
    "flow/repository.py change",
    "flow/repository.py remove",
    "flow/repository.py discard",
    "flow/repository.py begin_line",
    "flow/repository.py extend_line",
    "flow/repository.py take_seats",
    "flow/repository.py return_seats",
}


def builders() -> Iterator[str]:
    """The functions that build a key of a table that holds lists, by their file."""
    for file in REPOSITORIES:
        for function in ast.walk(ast.parse(file.read_text())):
            if isinstance(function, ast.FunctionDef) and any(_builds_a_key(node) for node in ast.walk(function)):
                yield f"{file.relative_to(PACKAGE)} {function.name}"


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
    longest: Any = series_table.part_key(Directory.ZONED, OWNER, SERIES)
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
        return Authorization(kind=authorization).owner_of(request_of(event))

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
    said = {
        f"{method.upper()} {path}": operation.get("x-delayer-creates")
        for path, item in yaml.safe_load((PROJECT / "openapi.yaml").read_text())["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }
    assert {route for route in ROUTES if route.startswith(("POST", "PUT"))} == {r for r in said if said[r] is not None}
    assert {route for route in said if said[route]} == CREATE
    assert "POST /schedules" in CREATE
    assert "POST /series/preview" not in CREATE


def test_a_header_counts_its_bytes_too() -> None:
    """Where the API is open, 256 characters of four bytes each are too long to create something."""
    open_to_all = Authorization(kind="NONE")
    longer, longest = "\U0001f600" * MAX_HEADER, "\U0001f600" * (MAX_OWNER // 4)
    for route in ROUTES:
        assert open_to_all.owner_of(ApiRequest(route=route, headers={"delayer-owner": longest})) == longest
    with pytest.raises(Invalid):
        open_to_all.owner_of(ApiRequest(route="POST /schedules", headers={"delayer-owner": longer}))
    assert open_to_all.owner_of(ApiRequest(route="GET /schedules", headers={"delayer-owner": longer})) == longer


@pytest.mark.parametrize("authorization", LONGEST)
def test_a_name_that_is_no_text_is_no_caller(authorization: str) -> None:
    """Half a surrogate pair cannot be a key: the answer was 500."""
    with pytest.raises(Unknown, match="its name is no Unicode text"):
        Authorization(kind=authorization).owner_of(
            request_of({"requestContext": {"authorizer": LONGEST[authorization]("i \udc80")}})
        )


def test_a_header_that_is_no_text_is_answered() -> None:
    with pytest.raises(Invalid):
        Authorization(kind="NONE").owner_of(ApiRequest(headers={"delayer-owner": "\udc80"}))
