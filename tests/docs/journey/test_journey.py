"""The page shows one schedule as it really looks at each step: what the functions write is what is on file."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from delayer.schedule.messages import DelayerMessage, ExecutorMessage, decode
from delayer.schedule.schedule_id import is_genuine
from tests.docs.journey.artefacts import Json
from tests.docs.journey.stack import JourneyStack, journey_stack
from tests.docs.journey.story import CALLER, FOLDER, Story
from tests.docs.test_site import page
from tests.fakes.stack import KEY
from tests.samples import GOLDEN, OWNER

PAGE = "how-it-works/journey.md"
FILES = {path.name: path.read_text() for path in sorted(FOLDER.iterdir())}
AS_OF_VERSION_1 = {
    "record.json": "schedule-item.json",
    "claimed.json": "ledger-item.json",
    "remove.json": "stream-remove.json",
}
MESSAGES = {"delayer-message.json": DelayerMessage, "executor-message.json": ExecutorMessage}
NOT_OF_EACH = {"SizeBytes", "retryOf", "detail"}  # DynamoDB's own calculation; what follows an attempt that failed


@pytest.fixture(scope="module")
def stack() -> Iterator[JourneyStack]:
    with journey_stack() as stack:
        yield stack


@pytest.fixture(scope="module")
def story(stack: JourneyStack) -> dict[str, str]:
    return Story(stack).tell()


def document(name: str) -> Json:
    found: Json = json.loads(FILES[name])
    return found


def test_the_files_are_what_the_functions_write(story: dict[str, str]) -> None:
    assert set(story) == set(FILES)
    for name, text in story.items():
        assert text == FILES[name], f"{name}: run `PYTHONPATH=shared:client:. python -m tests.docs.journey`"


def test_it_is_the_story_of_one_schedule() -> None:
    ids = {found for text in FILES.values() for found in re.findall(r"\b040[0-9a-v]{44}\b", text)}
    [schedule_id] = ids
    assert is_genuine(schedule_id, OWNER, key=KEY)


def test_the_target_can_verify_the_request(stack: JourneyStack, story: dict[str, str]) -> None:
    """With the secret that the owner is shown, by the library of the scheme; its own clock is another one."""
    secret = json.loads(stack.function("api-signing-secret")({**CALLER, "routeKey": "GET /signing-secret"})["body"])
    head, _, body = story["request.http"].partition("\n\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head.splitlines()[1:])}
    made = datetime.fromtimestamp(int(headers["webhook-timestamp"]), tz=UTC)
    signed = Webhook(secret["current"]).sign(headers["webhook-id"], made, body.removesuffix("\n"))
    assert signed in headers["webhook-signature"].split(" ")


@pytest.mark.parametrize(("name", "on_file"), AS_OF_VERSION_1.items())
def test_it_has_the_attributes_that_version_1_wrote(name: str, on_file: str) -> None:
    """The formats themselves are held by the tests of tests/golden/v1."""
    assert names_in(json.loads((GOLDEN / on_file).read_text())) - NOT_OF_EACH <= names_in(document(name))


@pytest.mark.parametrize(("name", "kind"), MESSAGES.items())
def test_the_messages_are_read_as_those_of_version_1(name: str, kind: type) -> None:
    body = decode(json.dumps(document(name)["MessageBody"]), kind)
    assert type(body) is type(decode((GOLDEN / name).read_text(), kind)) is kind


def names_in(node: object) -> set[str]:
    """All names of fields, however deep."""
    if not isinstance(node, dict):
        return set()
    return {*node, *(name for one in node.values() for name in names_in(one))}


def test_the_page_shows_every_file_and_types_none() -> None:
    text = page(PAGE)
    shown = re.findall(r'--8<-- "tests/golden/journey/([a-z.-]+)"', text)
    assert sorted(shown) == sorted(FILES)
    fences = re.findall(r"^ *```(?:json|http)[^\n]*\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)
    assert [fence for fence in fences if "--8<--" not in fence] == []


def test_what_the_page_says_of_the_two_rows_and_of_the_journal() -> None:
    before, after = document("claimed.json"), document("executed.json")
    changed = [name for name in after if after[name] != before.get(name)]
    assert changed == ["state", "revision", "at", "detail", "attemptedAt"]
    assert "Only `state`, `revision`, `at` and `detail` have changed; `attemptedAt` is new" in page(PAGE)
    assert "attemptedAt" not in before
    assert len([name for name in FILES if name.startswith("event-")]) == 4
    assert len([name for name in FILES if name.startswith("journal-")]) == 2


def test_each_function_loads_the_files_that_the_page_names_for_it() -> None:
    loaded = json.loads((GOLDEN / "../cold-starts.json").read_text())
    rows = re.findall(r"^\| \[\d.*?\| (`[^|]+) \| ([^|]+) \| ([^|]+) \|$", page(PAGE), re.MULTILINE)
    assert len(rows) == 8
    for functions, *cells in rows:
        named = {
            f"delayer.{name.replace('/', '.')}" for cell in cells for name in re.findall(r"`([a-z_/]+)\.py`", cell)
        }
        found = {name for one in re.findall("`([a-z0-9-]+)`", functions) for name in loaded[one]["ours"]}
        assert named - found - {*loaded["all functions"]["ours"]} == set()
