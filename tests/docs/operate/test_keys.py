"""The page on keys says what the code and the template say."""

import json
import re
from hashlib import sha256
from typing import Any

from delayer.engines.aws.secrets import secret_name
from delayer.engines.ports import TOKEN_KEY
from delayer.schedule.instants import DAY, MINUTE
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.signing import rules as rotation
from delayer.signing.id_keys import USAGE
from tests.cfn import ROOT, expanded
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/operate/keys.md").read_text()
RESOURCES = expanded()["Resources"]


def who_names(text: str, *kinds: str) -> set[str]:
    """The resources of these types whose properties hold a text."""
    return {
        name for name, one in RESOURCES.items() if one["Type"] in kinds and text in json.dumps(one.get("Properties"))
    }


def test_each_key_of_the_table_has_a_section() -> None:
    rows = re.findall(r"^\| \[[^\]]+\]\(#([a-z0-9-]+)\)", PAGE, re.MULTILINE)
    headings = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    assert [re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings] == rows


@of_each(PAGE.split("\n## ")[1:])
def test_a_section_says_what_happens_and_how_to_check_it(section: str) -> None:
    assert "**Check it**" in section or section.startswith(("Encryption keys", "The webhook address"))


def test_the_payloads_are_commands_of_the_function() -> None:
    payloads: list[dict[str, Any]] = [json.loads(text) for text in re.findall(r"--payload '(\{.*?\})'", PAGE)]
    assert {one["command"] for one in payloads} == {"rotate", "show", "rotate-signing-key"}
    assert [one for one in payloads if f'"{one["command"]}"' not in USAGE] == []


def test_four_functions_read_the_signing_key() -> None:
    named = who_names('"signing-key"', "AWS::IAM::Role", "AWS::IAM::ManagedPolicy")
    readers = {"ApiSigningSecretRole", "ApiConnectionTestRole", "ExecutorhttprequestPermissions", "OperatorIdKeyRole"}
    assert named == readers


def test_the_name_of_the_key_behind_tokens() -> None:
    """As the command on the page makes it."""
    name = secret_name("delayer/connections", SYSTEM_OWNER, TOKEN_KEY)
    assert name == f"delayer/connections/{sha256(b'delayer:system').hexdigest()[:32]}/token-key"
    assert '"delayer/connections/$(printf delayer:system | sha256sum | cut -c1-32)/token-key"' in PAGE


def test_the_times_of_the_rotations() -> None:
    assert rotation.CURRENT_AFTER == rotation.NEXT_AFTER == 10 * MINUTE
    assert rotation.KEY_OVERLAP == 7 * DAY
    assert rotation.OVERLAP == DAY


def test_what_is_stored_is_encrypted_as_the_page_says() -> None:
    """Seven tables by DynamoDB, all queues by SQS, the bucket by S3; no key of the stack's own."""
    of_type: dict[str, list[Any]] = {}
    for one in RESOURCES.values():
        of_type.setdefault(one["Type"], []).append(one.get("Properties", {}))
    tables = of_type["AWS::DynamoDB::Table"]
    assert len(tables) == 7
    assert not any("SSESpecification" in table for table in tables)
    assert all(queue["SqsManagedSseEnabled"] is True for queue in of_type["AWS::SQS::Queue"])
    assert "AWS::KMS::Key" not in of_type
