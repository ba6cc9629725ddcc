"""PUT, DELETE and the schedules that name a connection, on the fakes of a world."""

import json
from typing import Any

import pytest
from attrs import define, evolve

from delayer.connections.admission import admit_connection
from delayer.connections.model import MOST, SWEPT_AFTER, Live, SecretNote, closed
from delayer.connections.put_and_delete import (
    ConnectionDeleted,
    ConnectionFound,
    ConnectionPut,
    DeleteConnection,
    InUse,
    NoConnection,
    PutConnection,
    ReadConnections,
    TooMany,
)
from delayer.engines.memory import MemorySecrets
from delayer.engines.ports import TOKEN_KEY, Unavailable
from delayer.http.problem import Invalid
from delayer.schedule.instants import DAY, HOUR, MINUTE, STALE_AFTER
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.wiring.build import build
from delayer.wiring.use_cases import put_connection
from tests.looking import all_notes, all_rows, put_row
from tests.samples import OWNER, a_claim
from tests.world import START, World

BODY = json.dumps({"type": "api-key", "headerName": "X-Api-Key", "value": "k-1"}).encode()


@define
class Stand:
    """A world, and the calls about connections."""

    world: World
    put: PutConnection
    delete: DeleteConnection

    def make(self, name: str = "crm", body: bytes = BODY) -> None:
        assert isinstance(self.put(admit_connection(body), OWNER, name), ConnectionPut)

    def post(self, connection: str = "crm", **fields: Any) -> str:
        """The id of a schedule that names it."""
        headers = fields.pop("headers", {})
        action = {"type": "http-request", "url": "http://x/", "connection": connection, "headers": headers}
        when = {} if "when" in fields else {"delaySeconds": 3600}
        body = json.dumps({"action": action, **when, **fields}).encode()
        accepted: Any = self.world.accept(body, OWNER)
        return str(accepted.schedule_id)

    @property
    def secrets(self) -> list[str]:
        return sorted(self.world.secrets.texts.values())


@pytest.fixture
def stand() -> Stand:
    world = World()
    return Stand(world, put_connection(world.ports("put")), build(DeleteConnection, world.ports("delete")))


def test_a_put_leaves_one_secret_and_no_note(stand: Stand) -> None:
    stand.make()
    first = stand.world.connections.read(OWNER, "crm")
    stand.world.clock.sleep_until(stand.world.clock.now() + HOUR)
    stand.make(body=BODY.replace(b"k-1", b"k-2"))
    second = stand.world.connections.read(OWNER, "crm")
    assert first
    assert second
    assert (second.revision, second.created_at, second.changed_at) == (2, START, START + HOUR)
    assert [text.count("k-2") for text in stand.secrets] == [1]
    assert all_notes(stand.world.connections) == []


OAUTH = {"type": "oauth2-client-credentials", "tokenUrl": "https://idp/token", "clientId": "c", "clientSecret": "s"}


def test_the_first_with_tokens_makes_their_key(stand: Stand) -> None:
    """Others need none; a later one does not change it, or all tokens would have to be fetched anew."""
    key = (SYSTEM_OWNER, TOKEN_KEY)
    stand.make()
    assert key not in stand.world.secrets.texts
    stand.make("erp", json.dumps(OAUTH).encode())
    made = stand.world.secrets.texts[key]
    assert len(bytes.fromhex(made)) == 32
    stand.make("shop", json.dumps(OAUTH).encode())
    assert stand.world.secrets.texts[key] == made


def test_an_owner_has_a_hundred_at_most(stand: Stand) -> None:
    """And may still replace them."""
    for number in range(MOST):
        stand.make(f"c{number}")
    assert stand.put(admit_connection(BODY), OWNER, "crm") == TooMany()
    stand.make("c0")
    assert isinstance(stand.put(admit_connection(BODY), "another", "crm"), ConnectionPut)


def test_of_many_puts_at_the_same_time_no_more_are_taken(stand: Stand) -> None:
    """Each has seen that there is room for one; the others leave nothing behind."""
    for number in range(MOST - 1):
        stand.make(f"c{number}")
    connections = stand.world.connections

    class Racing(MemorySecrets):
        def create(self, owner: str, secret: str, text: str) -> None:
            super().create(owner, secret, text)
            if len(all_rows(connections)) < MOST:
                stand.make("faster")

    put = evolve(stand.put, secrets=Racing(stand.world.secrets.texts))
    assert put(admit_connection(BODY), OWNER, "crm") == TooMany()
    assert (len(all_rows(connections)), len(stand.secrets), all_notes(connections)) == (MOST, MOST, [])


def test_a_put_that_others_outrun_all_the_time_leaves_nothing_behind(stand: Stand) -> None:
    stand.make()

    class Outrun:
        """Somebody else has always written a moment ago."""

        def __getattr__(self, name: str) -> Any:
            return getattr(stand.world.connections, name)

        def write(self, *_: Any) -> bool:
            return False

    before = stand.secrets
    with pytest.raises(Unavailable, match="others change this connection"):
        evolve(stand.put, connections=Outrun())(admit_connection(BODY.replace(b"k-1", b"k-2")), OWNER, "crm")
    assert (stand.secrets, all_notes(stand.world.connections)) == (before, [])


def test_what_a_call_left_behind_is_swept_by_a_later_one(stand: Stand) -> None:
    """Of whatever owner. What is as young as a call may be is left alone."""
    for secret, age in (("old", SWEPT_AFTER + 1), ("young", SWEPT_AFTER - 1)):
        stand.world.connections.note(SecretNote(owner="another", secret=secret, since=START - age))
        stand.world.secrets.create("another", secret, secret)
    stand.make()
    assert ("another", "old") not in stand.world.secrets.texts
    assert ("another", "young") in stand.world.secrets.texts
    assert [note.secret for note in all_notes(stand.world.connections)] == ["young"]


def test_a_secret_that_cannot_be_deleted_now_is_deleted_later(stand: Stand) -> None:
    class Broken(MemorySecrets):
        def delete(self, owner: str, secret: str) -> None:
            raise Unavailable("delete a secret")

    stand.make()
    broken: Any = Broken(stand.world.secrets.texts)
    sweep = evolve(stand.put.sweep, secrets=broken)
    put = evolve(stand.put, sweep=sweep)
    assert isinstance(put(admit_connection(BODY.replace(b"k-1", b"k-2")), OWNER, "crm"), ConnectionPut)
    assert len(stand.secrets) == 2
    stand.world.clock.sleep_until(stand.world.clock.now() + SWEPT_AFTER + MINUTE)
    assert stand.delete(OWNER, "erp") == NoConnection()
    assert len(stand.secrets) == 1
    assert all_notes(stand.world.connections) == []


# ------------------------------------------------------------ what names it


def field(raised: Any) -> list[str]:
    return [error.field for error in raised.value.errors]


def test_a_schedule_names_what_is_there(stand: Stand) -> None:
    with pytest.raises(Invalid) as raised:
        stand.post()
    assert field(raised) == ["action.connection"]
    stand.make()
    stand.post()
    with pytest.raises(Invalid) as raised:
        stand.post("erp")
    assert "no such connection: erp" in raised.value.errors[0].problem


def test_the_connection_of_another_is_not_there(stand: Stand) -> None:
    assert isinstance(stand.put(admit_connection(BODY), "another", "crm"), ConnectionPut)
    with pytest.raises(Invalid):
        stand.post()


@pytest.mark.parametrize("name", ["X-Api-Key", "x-api-KEY"])
def test_a_header_that_it_sets_is_refused(stand: Stand, name: str) -> None:
    stand.make()
    with pytest.raises(Invalid) as raised:
        stand.post(headers={name: "by hand"})
    assert field(raised) == [f"action.headers.{name}"]
    assert "by hand" not in repr(raised.value.errors)


def test_what_is_for_other_hosts_cannot_be_named(stand: Stand) -> None:
    """The schedules of this stand lead to http://x/, and so do its series."""
    stand.make(body=json.dumps({**json.loads(BODY), "hosts": ["y", "*.x.example"]}).encode())
    with pytest.raises(Invalid) as raised:
        stand.post()
    assert field(raised) == ["action.url"]
    assert "the connection crm is not for this host: x" in raised.value.errors[0].problem
    assert "y, *.x.example" in raised.value.errors[0].allowed
    with pytest.raises(Invalid):
        series_naming(stand)
    stand.make(body=json.dumps({**json.loads(BODY), "hosts": ["y", "x"]}).encode())
    stand.post()
    series_naming(stand)


def test_what_is_being_deleted_cannot_be_named(stand: Stand) -> None:
    stand.make()
    row = stand.world.connections.read(OWNER, "crm")
    assert row
    assert stand.world.connections.write(closed(row), row)
    with pytest.raises(Invalid) as raised:
        stand.post()
    assert "being deleted" in raised.value.errors[0].problem


def test_a_delete_is_refused_while_a_live_schedule_names_it(stand: Stand) -> None:
    stand.make()
    schedule = stand.post()
    assert stand.delete(OWNER, "crm") == InUse(Live(schedules=(schedule,)))
    row = stand.world.connections.read(OWNER, "crm")
    assert row
    assert not row.closing
    stand.world.cancel(schedule, OWNER)
    assert stand.delete(OWNER, "crm") == ConnectionDeleted()
    assert (stand.secrets, all_notes(stand.world.connections)) == ([], [])
    assert stand.delete(OWNER, "crm") == NoConnection()


def test_by_force_it_is_deleted_in_any_case(stand: Stand) -> None:
    stand.make()
    stand.post()
    assert stand.delete(OWNER, "crm", force=True) == ConnectionDeleted()
    assert stand.secrets == []


def test_a_delete_that_died_is_ended_by_the_next_or_undone_by_a_put(stand: Stand) -> None:
    for undone in (False, True):
        stand.make()
        row = stand.world.connections.read(OWNER, "crm")
        assert row
        assert stand.world.connections.write(closed(row), row)
        if undone:
            stand.make()
            stand.post()
            assert isinstance(stand.delete(OWNER, "crm"), InUse)
        else:
            assert stand.delete(OWNER, "crm") == ConnectionDeleted()


def test_a_delete_that_finds_it_closed_and_in_use_opens_it(stand: Stand) -> None:
    stand.make()
    schedule = stand.post()
    row = stand.world.connections.read(OWNER, "crm")
    assert row
    assert stand.world.connections.write(closed(row), row)
    assert stand.delete(OWNER, "crm") == InUse(Live(schedules=(schedule,)))
    assert stand.post()


def test_a_schedule_that_is_replaced_or_changed_holds_it_by_its_new_id(stand: Stand) -> None:
    stand.make()
    old = stand.post(name="n")
    replaced: Any = stand.world.replace.by_id(old, OWNER, point_in_time=START + 2 * HOUR, payload=None)
    assert stand.delete(OWNER, "crm") == InUse(Live(schedules=(replaced.schedule.id,)))


def test_what_has_no_time_yet_holds_it_before_and_after_its_decision(stand: Stand) -> None:
    stand.make()
    waits = stand.post(when={"policy": "spread", "seconds": 3600})
    assert stand.delete(OWNER, "crm") == InUse(Live(schedules=(waits,)))
    assert stand.delete(OWNER, "crm", force=True) == ConnectionDeleted()


def test_a_look_up_says_how_many_name_it(stand: Stand) -> None:
    stand.make()
    ids = {stand.post(), stand.post()}
    found = build(ReadConnections, stand.world.ports("read")).one(OWNER, "crm")
    assert isinstance(found, ConnectionFound)
    assert set(found.live.schedules) == ids


# ------------------------------------------------------------ series


def series_naming(stand: Stand, connection: str = "crm", **fields: Any) -> str:
    action = {"type": "http-request", "url": "http://x/", "connection": connection}
    body = json.dumps({"repeat": {"every": "PT1H"}, "action": action, **fields}).encode()
    created: Any = stand.world.create_series(body, OWNER)
    return str(created.series)


def test_a_series_holds_it_once_and_its_occurrences_do_not(stand: Stand) -> None:
    stand.make()
    series = series_naming(stand)
    assert stand.delete(OWNER, "crm") == InUse(Live(series=(series,)))
    assert len(stand.world.connections.uses(OWNER, "crm", "", 10).uses) == 1


def test_a_series_names_what_is_there(stand: Stand) -> None:
    with pytest.raises(Invalid):
        series_naming(stand)


@pytest.mark.parametrize("retry", [{}, {"maxAgeSeconds": 60}], ids=["of a day", "of a minute"])
def test_a_series_that_is_over_holds_it_as_long_as_an_attempt_may_be_made(
    stand: Stand, retry: dict[str, object]
) -> None:
    """Its owner may be suspended: then what was claimed waits, and its policy gives nothing up."""
    stand.make()
    series = series_naming(stand, retry=retry)
    stand.world.halt.delete(OWNER, series)
    over = stand.world.clock.now()
    for later in (0, 3 * DAY, STALE_AFTER - 1):
        stand.world.clock.sleep_until(over + later)
        assert stand.delete(OWNER, "crm") == InUse(Live(series=(series,), held_until=(over + STALE_AFTER,)))
    stand.world.clock.sleep_until(over + STALE_AFTER)
    assert stand.delete(OWNER, "crm") == ConnectionDeleted()


def test_an_occurrence_of_a_suspended_owner_finds_its_connection_days_after_the_end_of_its_series(
    stand: Stand,
) -> None:
    """It was claimed before: so it is attempted when the suspension is over, and its connection is still there."""
    stand.make()
    series = series_naming(stand, retry={"maxAgeSeconds": 3600})
    world = stand.world
    found = world.series.cursor(OWNER, series)
    assert found
    put_row(world.ledger, a_claim(schedule_id=found.current, owner=OWNER))
    world.clock.sleep_until(found.at)
    world.halt.delete(OWNER, series)
    world.clock.sleep_until(found.at + 3 * DAY)
    assert stand.delete(OWNER, "crm") == InUse(Live(series=(series,), held_until=(found.at + STALE_AFTER,)))


def test_a_series_that_changes_its_connection_holds_both_as_long_as_an_attempt_may_be_made(stand: Stand) -> None:
    stand.make()
    stand.make("erp")
    series = series_naming(stand)

    def to_erp(definition: Any) -> Any:
        action = definition.definition.action.replace("crm", "erp")
        return evolve(definition, definition=evolve(definition.definition, action=action))

    stand.world.change_series(OWNER, series, to_erp)
    assert isinstance(stand.delete(OWNER, "crm"), InUse)
    assert isinstance(stand.delete(OWNER, "erp"), InUse)
    stand.world.clock.sleep_until(stand.world.clock.now() + STALE_AFTER)
    assert stand.delete(OWNER, "crm") == ConnectionDeleted()
    assert isinstance(stand.delete(OWNER, "erp"), InUse)


def test_a_series_cannot_be_changed_to_what_is_not_there(stand: Stand) -> None:
    stand.make()
    series = series_naming(stand)

    def to_nothing(definition: Any) -> Any:
        action = definition.definition.action.replace("crm", "nothing")
        return evolve(definition, definition=evolve(definition.definition, action=action))

    with pytest.raises(Invalid):
        stand.world.change_series(OWNER, series, to_nothing)
