"""The page of the stack's resources says what the template says: tables, and who may do what."""

import re

from delayer.accept.repository import group_list, name_list, request_list
from delayer.jobs.repository import group_job_list, job_list
from docs.hooks.reference.functions.policies import kind_of
from docs.hooks.reference.pages import filled
from tests.cfn import ROOT, functions, managed_policies_of, resources

PAGE = filled((ROOT / "docs/reference/resources.md").read_text(), "reference/resources.md")


def rows(heading: str) -> dict[str, list[str]]:
    """The rows of the table below a heading, by the code in their first cell."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\| `.+$", section, re.MULTILINE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


NEEDED = sorted({f"{kind_of(one)}-*" if kind_of(one) else one for one in functions()})


def test_all_functions_are_there() -> None:
    """A row for one executor says what it may do beyond the others. It may be left out: its own page can say it."""
    described = set(rows("Policies"))
    assert set(NEEDED) <= described
    assert {one for one in described if not one.endswith("-*")} <= set(functions())


def test_each_policy_belongs_to_a_function() -> None:
    """Otherwise what it allows would be missing from the page."""
    roles = [function["Role"]["Fn::GetAtt"].removesuffix(".Arn") for function in functions().values()]
    attached = [role["Ref"] for policy in resources("AWS::IAM::Policy").values() for role in policy["Roles"]]
    assert sorted(resources("AWS::IAM::Role")) == sorted([*roles, "ApiInvokerRole"])
    assert set(attached) <= set(roles)
    managed = {name for role in resources("AWS::IAM::Role") for name in managed_policies_of(role)}
    assert managed == set(resources("AWS::IAM::ManagedPolicy"))


def test_a_row_says_what_the_role_allows_and_on_what() -> None:
    """The rights themselves are on file: tests/golden/permissions.json."""
    found = rows("Policies")
    assert found["api-default"] == ["nothing"]
    assert found["api-job-get"] == ["`RegistryTable`: GetItem"]
    signing = "`ControlTable` (`signing#*`): GetItem, PutItem; `ControlTable` (`signing-key`): GetItem"
    assert found["api-signing-secret"] == [signing]
    assert found["subscriber-*"] == ["`Subscriber*Queue`: receive"]
    assert "`LedgerTable.StreamArn`: read" in found["stream-lifecycle"][0]
    assert found["executor-remote"] == ["`ControlTable` (`actions`): GetItem"], "beyond what all executors may"


def test_the_tables_are_those_of_the_template() -> None:
    """Key, stream and what expires."""
    tables = resources("AWS::DynamoDB::Table")
    assert sorted(rows("Tables")) == sorted(tables)
    for name, table in tables.items():
        key, stream, expires, *_ = rows("Tables")[name]
        assert re.findall(r"`(\w+)`", key) == [part["AttributeName"] for part in table["KeySchema"]], name
        assert (stream != "no") == ("StreamSpecification" in table), name
        assert (expires != "never") == ("TimeToLiveSpecification" in table), name


def test_the_lists_of_the_registry_are_those_of_the_code() -> None:
    """The key `list` of a name, an idempotency key, a group, a job, and the latest job of a group."""
    shown = [form.split("#")[0] for form in rows("Lists of the registry")]
    coded = [
        make("owner", "x").split("#")[0] for make in (name_list, request_list, group_list, job_list, group_job_list)
    ]
    assert shown[: len(coded)] == coded
