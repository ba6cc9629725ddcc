"""How fresh the registered types are for those who accept and route actions."""

import pytest
from attrs import define, field

from delayer.actions.registered import RegisteredActions
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration, Registrations
from delayer.engines.memory import ManualClock
from delayer.engines.ports import Unavailable
from delayer.schedule.instants import MINUTE, SECOND

START = 1_795_251_600_000


def a_registration(kind: str, token: str = "1") -> Registration:
    return Registration(action=ActionType(type=kind, schema="{}"), stack="s", token=token)


@define
class Counted:
    """Port ReadsActions: counts the reads, and fails some."""

    rows: dict[str, Registrations] = field(factory=dict)
    reads: int = 0
    fails: bool = False

    def actions(self) -> dict[str, Registrations]:
        self.reads += 1
        if self.fails:
            raise Unavailable("DynamoDB")
        return dict(self.rows)


@define
class Reader:
    """One execution environment."""

    clock: ManualClock = field(factory=lambda: ManualClock(START))
    store: Counted = field(factory=Counted)
    actions: RegisteredActions = field(init=False)

    @actions.default
    def _make(self) -> RegisteredActions:
        return RegisteredActions(clock=self.clock, action_rows=self.store)

    def wait(self, milliseconds: int) -> None:
        self.clock.sleep_until(self.clock.now() + milliseconds)


@pytest.fixture
def reader() -> Reader:
    reader = Reader()
    reader.store.rows = {"a": (a_registration("a"), a_registration("a", "2"))}
    return reader


def test_the_last_registration_is_in_force(reader: Reader) -> None:
    assert reader.actions.registration("a").token == "2"
    assert dict(reader.actions) == {"a": ActionType(type="a", schema="{}")}
    assert "b" not in reader.actions
    assert reader.actions.get("b") is None


def test_nothing_is_read_before_it_is_needed_and_then_once(reader: Reader) -> None:
    assert reader.store.reads == 0
    for _ in range(100):
        assert "a" in reader.actions
        reader.wait(10)
    assert reader.store.reads == 1


def test_a_change_is_known_within_a_minute_also_if_a_read_fails_once(reader: Reader) -> None:
    assert reader.actions.registration("a").token == "2"
    reader.store.rows = {"a": (a_registration("a", "3"),)}
    tokens = []
    for second in range(60):
        reader.store.fails = 25 <= second < 31
        tokens.append(reader.actions.registration("a").token)
        reader.wait(SECOND)
    assert "3" not in tokens[:25]
    assert reader.actions.registration("a").token == "3"


def test_a_new_type_is_known_at_once_where_it_is_asked_for(reader: Reader) -> None:
    assert "b" not in reader.actions
    reader.store.rows["b"] = (a_registration("b"),)
    reader.wait(SECOND)
    assert "b" in reader.actions


def test_one_who_makes_up_types_causes_one_read_a_second(reader: Reader) -> None:
    for number in range(1_000):
        assert f"made-up-{number}" not in reader.actions
        reader.wait(10)
    assert reader.store.reads <= 11


def test_a_failed_read_keeps_what_was_known(reader: Reader) -> None:
    """For as long as it takes: an outage of one table must not become one of the API."""
    assert "a" in reader.actions
    reader.store.fails = True
    reader.wait(60 * MINUTE)
    assert "a" in reader.actions
    assert "b" not in reader.actions
    reader.store.fails = False
    reader.store.rows = {}
    reader.wait(MINUTE)
    assert "a" not in reader.actions


def test_without_any_read_nobody_knows(reader: Reader) -> None:
    """It is not said that there is no such type."""
    reader.store.fails = True
    with pytest.raises(Unavailable):
        reader.actions.registration("a")
    reader.store.fails = False
    assert "a" in reader.actions
