"""The threat model: each protection names tests that exist; what the page says of rights is what the template says."""

import json
import re
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data

from delayer.owners.model import pattern_of, site_of
from tests.cfn import ROOT, functions, leading_keys, listed, resource_name, resources, statements
from tests.openapi import openapi
from tests.running.of_each import of_each

PAGE = (ROOT / "docs/decide/security.md").read_text()
NAMED = re.compile(r"`(tests/[\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)")
READS = {"GetItem", "Query", "BatchGetItem", "GetSecretValue", "GetObject"}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "CreateSecret", "DeleteSecret"}


def section(heading: str) -> str:
    """What is below a heading of the second level."""
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def part(heading: str) -> str:
    """What is below a heading of the third level."""
    return PAGE.split(f"\n### {heading}\n")[1].split("\n### ")[0].split("\n## ")[0]


def rows(text: str) -> dict[str, list[str]]:
    """The rows of the tables in a text, by their first cell."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    return {first: others for first, *others in cells if set(first) != {"-"}}


def slug(heading: str) -> str:
    from markdown.extensions.toc import slugify  # type: ignore[import-untyped]

    return str(slugify(heading, "-"))


ACTORS = {text.partition("\n")[0]: text for text in section("Threat model").split("\n### ")[1:]}
each_actor = of_each(ACTORS)


def test_each_actor_is_in_the_summary() -> None:
    linked = re.findall(r"^\| \[[^\]]+\]\(#([\w-]+)\) \|", section("In short"), re.MULTILINE)
    assert linked == [slug(actor) for actor in ACTORS]


@each_actor
def test_says_what_it_wants_what_stops_it_and_what_does_not(actor: str) -> None:
    wants, rest = ACTORS[actor].split("\n**What stops it**\n")
    stops, does_not = rest.split("\n**What does not**\n")
    assert "**Wants**" in wants
    assert re.findall(r"^1\. ", stops, re.MULTILINE)
    assert re.findall(r"^- ", does_not, re.MULTILINE)


@each_actor
def test_each_protection_has_its_test_under_the_same_number(actor: str) -> None:
    stops = ACTORS[actor].split("\n**What stops it**\n")[1].split("\n**What does not**\n")[0]
    protections, tests = stops.split('\n??? info "The test of each"\n')
    numbers = re.findall(r"^(\d+)\. ", protections, re.MULTILINE)
    assert [found[0] for found in re.findall(rf"^    (\d+)\. {NAMED.pattern}", tests, re.MULTILINE)] == numbers


@each_actor
def test_the_tests_exist(actor: str) -> None:
    for path, names in NAMED.findall(ACTORS[actor]):
        source = (ROOT / path).read_text()
        assert [name for name in re.findall(r"test_\w+", names) if f"def {name}(" not in source] == [], path


def test_no_test_is_named_in_another_form() -> None:
    """Else nobody would look whether it is there."""
    assert len(NAMED.findall(PAGE)) == PAGE.count("`tests/")


# ------------------------------------------------------------ who may do what


def test_scopes_are_those_of_the_contract() -> None:
    paths = openapi()["paths"]
    reads = {
        f"{method.upper()} {path}"
        for path, item in paths.items()
        for method, operation in item.items()
        if isinstance(operation, dict) and operation.get("x-delayer-access") == "read"
    }
    [stated] = rows(part("Callers, with JWT"))["read"]
    assert set(re.findall(r"`([^`]+)`", stated)) == reads
    assert paths["/signing-secret"]["get"]["x-delayer-access"] == "write"


def test_calls_of_iam_are_routes() -> None:
    routes = {route["RouteKey"].replace(" ", "") for route in resources("AWS::ApiGatewayV2::Route").values()}
    patterns = re.findall(r"`…/\$default/([^`]+)`", part("Callers, with IAM"))
    assert patterns
    assert [one for one in patterns if not [route for route in routes if fnmatchcase(route, one)]] == []


def test_commands_of_operators() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for command, cells in rows(part("Operators")).items():
        for target in re.findall(r"`make ([a-z-]+)`", command):
            assert f"\n{target}:" in makefile, target
        for name in re.findall(r"`(operator-[a-z-]+)`", cells[0]):
            assert name in functions()
    assert {name for name in functions() if name.startswith("operator-")} <= set(re.findall(r"`([\w-]+)`", PAGE))


def touching(place: str, key: str, calls: set[str]) -> set[str]:
    """The functions whose roles allow one of these calls on a resource, in a table on this row."""
    return {
        function
        for function in functions()
        for statement in statements(function)
        if calls & {action.partition(":")[2] for action in listed(statement["Action"])}
        and any(resource_name(one) == place for one in listed(statement["Resource"]) if isinstance(one, dict))
        and (not key or any(fnmatchcase(key, limit) for limit in leading_keys(statement) or {"*"}))
    }


@pytest.mark.parametrize(
    ("what", "place", "key"),
    [
        ("`signing-key`", "ControlTable", "signing-key"),
        ("`id-key`", "ControlTable", "id-key"),
        ("values of connections, and the key behind their tokens", "AWS::StackName/connections", ""),
        ("owner policies", "ControlTable", "owner-policy#somebody"),
        ("registered actions", "ControlTable", "actions"),
        ("dead letters", "DeadLetterBucket/*", ""),
    ],
    ids=["signing-key", "id-key", "connections", "owner-policies", "actions", "dead-letters"],
)
def test_who_reads_what_is_secret(what: str, place: str, key: str) -> None:
    """Where the page says in words who does, the functions that it names are among them."""
    read, written = rows(part("Who reads what is secret"))[what]
    for cell, calls in ((read, READS), (written, WRITES)):
        named, allowed = set(re.findall(r"`([\w-]+)`", cell)), touching(place, key, calls)
        in_words = re.sub(r"`[\w-]+`|, | and ", "", cell)
        assert named <= allowed if in_words and in_words != "nobody" else named == allowed, f"{what}: {sorted(allowed)}"


# ------------------------------------------------------------ what does not stop them


@cache
def aws_policies() -> dict[str, Any]:
    """As moto has copied them: four megabytes."""
    policies: dict[str, Any] = json.loads(aws_managed_policies_data)
    return policies


def aws_policy(name: str) -> list[str]:
    """What a policy of AWS allows."""
    document: dict[str, Any] = aws_policies()[name]["Document"]
    return [action for statement in document["Statement"] for action in listed(statement.get("Action", []))]


def test_read_only_access_reads_everything_and_view_only_access_does_not() -> None:
    allowed = [re.sub(r"\*$", "", action) for action in aws_policy("ReadOnlyAccess")]
    calls = (
        "dynamodb:Scan",
        "dynamodb:GetItem",
        "sqs:ReceiveMessage",
        "s3:GetObject",
        "lambda:GetFunctionConfiguration",
    )
    for call in calls:
        assert any(call.startswith(action) for action in allowed), call
        assert not any(fnmatchcase(call, action) for action in aws_policy("ViewOnlyAccess")), call
    for stated in ("dynamodb:Scan", "sqs:Receive*", "s3:Get*", "lambda:Get*"):
        assert stated in aws_policy("ReadOnlyAccess")
        assert f"`{stated}`" in PAGE


def test_what_is_to_be_denied_covers_what_read_only_access_allows() -> None:
    document = json.loads(part("What to deny to those who read").split("```json\n")[1].split("```")[0])
    assert {statement["Effect"] for statement in document["Statement"]} == {"Deny"}
    tables, *others = document["Statement"]
    denied = [action for statement in others for action in listed(statement["Action"])]
    for call in ("sqs:ReceiveMessage", "s3:GetObject", "s3:GetObjectVersion", "lambda:GetFunctionConfiguration"):
        assert any(fnmatchcase(call, action) for action in denied), call
    for call in ("dynamodb:Scan", "dynamodb:Query", "dynamodb:GetRecords", "dynamodb:PartiQLSelect"):
        assert not any(fnmatchcase(call, action) for action in tables["NotAction"]), call


def test_a_pattern_with_the_port_443_refuses_plain_http() -> None:
    pattern = pattern_of("*.example.com:443")
    plain, tls = site_of("http://api.example.com/hook"), site_of("https://api.example.com/hook")
    assert plain
    assert tls
    assert pattern.matches(tls)
    assert not pattern.matches(plain)
    assert pattern_of("*.example.com").matches(plain)


def test_the_rate_is_that_of_the_stage() -> None:
    [stage] = resources("AWS::ApiGatewayV2::Stage").values()
    assert f"{stage['DefaultRouteSettings']['ThrottlingRateLimit']:,} calls a second" in PAGE


def test_what_the_page_misses_is_still_missing() -> None:
    """When one of these comes, the page has to say so."""
    template = (ROOT / "template.yaml").read_text()
    for word in (
        "CodeSigningConfig",
        "DeletionProtectionEnabled",
        "AWS::KMS::Key",
        "AWS::WAFv2",
        "ObjectLock",
    ):
        assert word not in template, word


def test_how_to_report_a_vulnerability_is_at_the_root() -> None:
    """Without a host or an address that nobody has."""
    text = (ROOT / "SECURITY.md").read_text()
    assert "docs/decide/security.md" in text
    assert "@" not in text
    assert "http" not in text


@pytest.mark.parametrize("word", ["encryption", "KMS", "threat model", "retention", "least privilege", "GDPR"])
def test_the_words_that_a_reader_searches_for(word: str) -> None:
    both = PAGE + (ROOT / "docs/decide/data.md").read_text()
    assert word.lower() in both.lower()
