"""The definition goes by one list of fields, whatever it is written into; a new field is one line."""

import filecmp
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.history import cloud_events
from delayer.history.model import of_record
from delayer.masking.mask import masked
from delayer.records import repository as schedule_table
from delayer.relay.relay import first_attempt
from delayer.schedule import messages
from delayer.schedule import schedule as definition
from delayer.schedule.instants import Malformed
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.schedule.schedule import FIELDS, Definition, Schedule, check_json, from_json, from_texts, to_json
from delayer.schedule.table_change import ChangeKind
from tests.samples import a_definition, a_schedule
from tests.strategies import definitions, json_texts, schedules, texts

ROOT = Path(__file__).parents[3]

SPELLINGS = [  # what a parser would change
    '{"x": 1.0, "\u00e4 ": [ ]}',
    "1.0",
    "-0",
    "1E400",
    "[ ]",
    '"\\u00e4\\/"',
    '{"a":1,"a":2}',
    "null",
    "false",
    "9" * 400,
    '"\u2028\x7f"',
]

# ------------------------------------------------------------ one list


def test_each_field_is_in_the_list_once() -> None:
    """By the name of the API, which is also that of DynamoDB and of the events."""
    assert [one.name for one in FIELDS] == [one.name for one in attrs.fields(Definition)]
    first = ["action", "payload", "group", "onLate", "tags"]
    assert [one.wire_name for one in FIELDS][: len(first)] == first
    assert [one.wire_name for one in FIELDS if one.wire_name in first and not one.is_json] == ["group"]


def test_no_name_is_taken_by_what_surrounds_it() -> None:
    """All JSON here is flat: a field of a definition stands beside those of the message, event or record."""
    schedule = a_schedule(payload="")
    event = of_record(ChangeKind.INSERT, schedule, "c", 0)
    assert event
    around = [
        json.loads(messages.encode(first_attempt(DelayerMessage(schedule=schedule, nonce="n"), "f"))),
        json.loads(cloud_events.encode(event))["data"],
        schedule_table.to_item(schedule),
    ]
    defined = {"action", "payload"}  # the record always has a payload
    assert set(definition.given(schedule.definition)) == {"action"}
    reserved = set(chain(*around)) - defined
    assert not reserved & {one.wire_name for one in FIELDS}


@given(definitions)
def test_texts_and_back(given_definition: Definition) -> None:
    values = definition.given(given_definition)
    assert from_texts(values) == given_definition
    assert from_texts({**values, "colour": "blue"}) == given_definition, "another name is passed over"
    assert "" not in values.values(), "what is not given is left out"


@given(definitions)
def test_json_and_back(given_definition: Definition) -> None:
    encoded = msgspec.json.encode(to_json(given_definition))
    assert from_json(msgspec.json.decode(encoded, type=dict[str, msgspec.Raw])) == given_definition


@given(definitions, st.sets(st.sampled_from([one.wire_name for one in FIELDS])))
def test_what_is_left_out_is_left_out(given_definition: Definition, left_out: set[str]) -> None:
    """An event that is too large goes without them."""
    assert set(to_json(given_definition, left_out)) == set(definition.given(given_definition)) - left_out


@pytest.mark.parametrize("values", [{}, {"payload": "{}"}])
def test_without_an_action_it_is_none(values: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="action"):
        from_texts(values)
    with pytest.raises(TypeError, match="action"):
        from_json({name: msgspec.Raw(value.encode()) for name, value in values.items()})


@pytest.mark.parametrize("action", ["{}", "null", "[]", '"text"', '{"type":1}', '{"type":""}'])
def test_an_action_without_a_type_is_malformed(action: str) -> None:
    with pytest.raises(Malformed, match="not an action"):
        from_json({"action": msgspec.Raw(action.encode())})


@pytest.mark.parametrize("name", [one.name for one in FIELDS if one.is_json])
@pytest.mark.parametrize("text", ["{", '1,"nonce":"x"', "NaN", '"\x01"', "[" * 100_000, "tru"], ids=lambda one: one[:9])
def test_what_is_no_json_is_malformed_before_it_damages_a_message(name: str, text: str) -> None:
    """It goes into messages as it is: a record that was damaged must not get so far."""
    check_json(a_definition())
    damaged = a_definition(**{name: text})
    with pytest.raises(Malformed, match="is no JSON"):
        check_json(damaged)
    row = schedule_table.from_item(schedule_table.to_item(a_schedule(definition=damaged)))
    assert isinstance(row, Malformed)


# ------------------------------------------------------------ through everything that holds it


def through_a_message(schedule: Schedule) -> Schedule:
    return messages.decode(messages.encode(DelayerMessage(schedule=schedule, nonce="n")), DelayerMessage).schedule


def through_a_hand_over(schedule: Schedule) -> Schedule:
    handed_over = first_attempt(DelayerMessage(schedule=schedule, nonce="n"), "f")
    return messages.decode(messages.encode(handed_over), ExecutorMessage).schedule


def through_the_table(schedule: Schedule) -> Schedule:
    row = schedule_table.from_item(schedule_table.to_item(schedule))
    assert isinstance(row, Schedule), row
    return row


def through_an_event(schedule: Schedule) -> Schedule:
    event = of_record(ChangeKind.INSERT, schedule, "c", 0)
    assert event
    original = cloud_events.decode(cloud_events.encode(event)).original
    assert original
    assert original.is_complete
    return original.schedule


WAYS = pytest.mark.parametrize(
    "way", [through_a_message, through_a_hand_over, through_the_table, through_an_event], ids=lambda way: way.__name__
)


@given(schedules)
def test_messages_and_events_carry_everything(schedule: Schedule) -> None:
    for way in (through_a_message, through_a_hand_over):
        assert way(schedule) == schedule
    assert through_an_event(schedule) == attrs.evolve(schedule, definition=masked(schedule.definition))


@given(definitions, json_texts)
def test_the_table_carries_everything(defined: Definition, payload: str) -> None:
    """But the few characters that SQS refuses, which admission escapes, and which are malformed here."""
    schedule = attrs.evolve(a_schedule(), definition=attrs.evolve(defined, payload=payload))
    values = definition.given(schedule.definition).values()
    sendable = not any(schedule_table.UNSENDABLE.search(text) for text in values)
    row = schedule_table.from_item(schedule_table.to_item(schedule))
    assert row == schedule if sendable else isinstance(row, Malformed)


@WAYS
@pytest.mark.parametrize("text", SPELLINGS)
@pytest.mark.parametrize("name", ["payload", "tags", "on_late"])
def test_json_stays_as_its_client_wrote_it(way: Any, text: str, name: str) -> None:
    """Byte for byte: no number loses a digit, no blank is gone."""
    schedule = a_schedule(definition=a_definition(**{name: text}))
    assert getattr(way(schedule).definition, name) == text


@given(json_texts, texts)
def test_json_on_the_wire_is_flat_and_raw(payload: str, group: str) -> None:
    """A value that is JSON is no text in JSON: it is serialised once."""
    schedule = a_schedule(payload=payload, group=group[:128])
    event = of_record(ChangeKind.INSERT, schedule, "c", 0)
    assert event
    for text in (messages.encode(DelayerMessage(schedule=schedule, nonce="n")), cloud_events.encode(event)):
        assert f'"payload":{payload}' in text
        content = json.loads(text)
        assert content.get("data", content)["action"]["type"] == "http-request"


# ------------------------------------------------------------ a new field is one line

DECLARED = '    note: str = field(default="", validator=instance_of(str))\n'
SCHEMA = "        note:\n          type: string\n          maxLength: 40\n"
TOUCHED = ["openapi.yaml", "shared/delayer/http/contract.json", "shared/delayer/schedule/schedule.py"]

SCRIPT = """
import json

from delayer.records.repository import from_item, to_item
from delayer.accept import routes as answers
from delayer.http import answers as http_answers
from delayer.actions.rules.model import Refused
from delayer.http.problem import Invalid
from delayer.schedule.instants import MINUTE
from delayer.engines.ports import ReceivedMessage
from delayer.accept.use_cases.lookup import Lookup
from delayer.wiring.build import build
from tests.world import ACTION, START, World

world, seen = World(), {}


def post(seconds):
    body = {"delaySeconds": seconds, "action": ACTION, "payload": {"a": 1}, "note": "remember"}
    return world.accept(json.dumps(body).encode(), "owner").schedule_id


def shown(schedule_id):
    status = build(Lookup, world.ports("lookup")).by_id(schedule_id, "owner")
    return json.loads(http_answers.response(200, answers.shown(status)).body)


def note(definition):
    return getattr(definition, "note", None)


try:
    far = post(3600)
except Invalid as error:
    print(json.dumps({"refused": [one.field for one in error.errors]}))
    raise SystemExit(0)
seen["GET of one in the table"] = shown(far).get("note")
seen["DynamoDB item"] = note(from_item(to_item(world.stored(far))).definition)
patched = world.replace.by_id(far, "owner", point_in_time=None, payload="2").schedule
seen["PATCH"] = note(patched.definition)
seen["GET after a PATCH"] = shown(patched.id).get("note")

world.target.answers = [Refused("HTTP 404")]
near = post(60)
world.run_until(START + 2 * MINUTE)
world.announce(world.lifecycle_records())
events = [json.loads(one.text) for one in world.topic.published]
[event] = [one for one in events if one["subject"] == near and one["type"].endswith(".scheduled")]
seen["lifecycle event"] = event["data"].get("note")
for number, announcement in enumerate(world.topic.published):
    assert world.write_journal([ReceivedMessage(message_id=str(number), body=announcement.text)]) == []
[original] = [one.original for one in world.journal.history(near, "owner") if one.original]
seen["history of the journal"] = note(original.schedule.definition)
seen["GET of one that has failed"] = shown(near).get("note")
[key] = world.store.list("failed/", "", 10)
assert world.redrive.redrive(key)["stillStored"] is False
world.run_until(START + 4 * MINUTE)
first, second = [message for _, message in world.target.reached if message.schedule.id == near]
seen["executor message"] = note(first.schedule.definition)
seen["executor message after a redrive"] = note(second.schedule.definition)
print(json.dumps(seen))
"""

PLACES = {
    "GET of one in the table",
    "DynamoDB item",
    "PATCH",
    "GET after a PATCH",
    "lifecycle event",
    "history of the journal",
    "GET of one that has failed",
    "executor message",
    "executor message after a redrive",
}


def run(copy: Path, *arguments: str) -> str:
    """Python in the copy, which knows nothing of this project."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy / "shared"), str(copy)])}
    done = subprocess.run(
        [sys.executable, "-B", *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The production code, the contract with its actions, and the world in which the functions run."""
    for folder in ("shared", "functions"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("openapi.yaml", "template.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "tests/fakes", tmp_path / "tests/fakes", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("world.py", "looking.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests")
    return tmp_path


def insert(path: Path, text: str, before: str) -> None:
    content = path.read_text()
    assert content.count(before) == 1, before
    path.write_text(content.replace(before, text + before))


def describe(copy: Path) -> None:
    """The schema in openapi.yaml, and what is generated from it."""
    insert(
        copy / "openapi.yaml", SCHEMA, "        payload:\n          description: Any JSON. The target receives exactly"
    )
    run(copy, "shared/contract.py")


def declare(copy: Path) -> None:
    """The one line of code."""
    insert(copy / "shared/delayer/schedule/schedule.py", DECLARED, "\n    @cached_property\n    def action_type")


def files_that_differ(copy: Path) -> Iterator[str]:
    for path in sorted(one for one in copy.rglob("*") if one.is_file() and "__pycache__" not in one.parts):
        name = str(path.relative_to(copy))
        if not (ROOT / name).is_file() or not filecmp.cmp(path, ROOT / name, shallow=False):
            yield name


def test_a_field_that_only_passes_through_is_one_line_and_its_schema(copy: Path) -> None:
    """From the POST to the target, the events, the history, GET, PATCH and a redrive (ADR 0057).

    It takes some seconds: a process makes the contract anew.
    """
    describe(copy)
    declare(copy)
    seen = json.loads(run(copy, "-c", SCRIPT))
    assert seen == dict.fromkeys(PLACES, "remember")
    assert list(files_that_differ(copy)) == TOUCHED


def test_without_its_line_it_gets_nowhere(copy: Path) -> None:
    """So that the test above can fail. It takes some seconds: a process makes the contract anew."""
    describe(copy)
    assert json.loads(run(copy, "-c", SCRIPT)) == dict.fromkeys(PLACES)


def test_without_its_schema_it_is_refused(copy: Path) -> None:
    """It takes a second: a process reads the contract."""
    declare(copy)
    assert json.loads(run(copy, "-c", SCRIPT)) == {"refused": ["note"]}
