"""`make deploy` deploys, without AWS: with the oldest and the newest SAM CLI, against a stub of S3 and CloudFormation.

It takes a minute: each SAM CLI builds and packages twice. The environments are made by `make test-all`.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from operate.deploy.expand import expand
from operate.deploy.reading import read_template
from operate.deploy.settled import everything
from tests.cfn import CODE, ROOT, deployed, expanded_with, in_a_bucket, transformed, written
from tests.deployment.performed import Project
from tests.deployment.stub import Account, Deployment, serving

pytestmark = pytest.mark.thorough

HARD = "https://example.com/?a='1'&b=\"2\"\\c"  # each kind of quotes, and a backslash
FUNCTION = "AWS::Serverless::Function"
AARCH64 = (183).to_bytes(2, "little")  # e_machine in the header of an ELF file
MOST_RESOURCES = 380  # of a stack with everything
OWN_CODE = re.compile(r"s3://[a-z0-9-]+/delayer/[0-9a-f]{32}")


@pytest.fixture(scope="module", params=["oldest", "newest"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    sam = ROOT / ".sam" / request.param
    if not (sam / "bin/sam").exists():
        assert "DELAYER_CI" not in os.environ, "make .sam/installed has made no SAM CLI"
        pytest.skip("make .sam/installed makes the environments of the SAM CLI")
    account = Account()
    with serving(account) as url:
        yield Project.copied(tmp_path_factory.mktemp(request.param), sam, url, account)


@pytest.fixture(scope="module")
def first(project: Project) -> Deployment:
    """By a person who only types Enter."""
    return project.make_deploy("TAGS=team=payments", enters=3)


@pytest.fixture(scope="module")
def second(project: Project, first: Deployment) -> Deployment:
    """By a program that gives values. What is not named keeps its value, also the actions of the stack."""
    if project.sam.name != "newest":
        pytest.skip("one version is enough for what the first deployment does not show; it takes half a minute")
    project.account.stacks[first.stack]["outputs"]["Actions"] = "http-request,remote,canary"
    lists = "Subscribers=failed-webhook Lanes=relaxed"
    return project.make_deploy(f"PARAMETERS=LogLevel=WARNING FailedWebhookUrl={HARD} {lists}")


def functions(deployment: Deployment) -> dict[str, dict[str, Any]]:
    """The properties of each, by its logical name."""
    resources = deployment.template["Resources"].items()
    return {name: one["Properties"] for name, one in resources if one["Type"] == FUNCTION}


def test_enter_answers_every_question_and_there_are_three(project: Project, first: Deployment) -> None:
    asked = project.said[0].partition("The stack delayer")[0]
    assert re.findall(r"\[([^\]\s]*)\]: ", asked) == ["us-east-1", "AWS_IAM", "nowhere"]
    assert first.kind == "CREATE"
    assert first.parameters == {"ApiAuthorization": "AWS_IAM", "AlarmEmail": ""}
    answers = (project.folder / "project/deploy-answers.toml").read_text()
    assert 'region = "us-east-1"' in answers
    assert first.tags == {"delayer:stack": "delayer", "team": "payments"}, "for the bill"


def test_what_the_account_lets_run_at_a_time_is_said_before(project: Project, first: Deployment) -> None:
    said = project.said[0]
    assert said.index("The account lets 10 functions run at a time") < said.index("+ sam build")
    assert "--quota-code L-B99A9384 --desired-value 1000" in said


def test_no_local_path_is_left_and_each_archive_has_its_handler(project: Project, first: Deployment) -> None:
    """Each function has an archive of its own folder."""
    found = functions(first)
    archives = {name: properties["CodeUri"] for name, properties in found.items()}
    assert [uri for uri in archives.values() if not OWN_CODE.fullmatch(uri)] == []
    handler = first.template["Globals"]["Function"]["Handler"]
    for name, properties in found.items():
        file = properties.get("Handler", handler).rpartition(".")[0] + ".py"
        assert file in project.names_in(archives[name]), name
        folder = properties["FunctionName"]["Fn::Sub"].removeprefix("${AWS::StackName}-")
        own = {path.name for path in (ROOT / "functions" / folder).iterdir() if path.is_file()}
        assert set(project.names_in(archives[name])) == own, name


def test_the_layer_has_the_package_and_its_libraries(project: Project, first: Deployment) -> None:
    """Built from wheels for arm64, whatever machine builds."""
    layer = first.template["Resources"]["DelayerLayer"]["Properties"]
    archive = project.archive(layer["ContentUri"])
    names = archive.namelist()
    assert "python/delayer/__init__.py" in names
    assert [name for name in names if name.startswith("python/aws_lambda_powertools/")]
    compiled = [name for name in names if name.endswith(".so")]
    assert compiled
    assert [name for name in compiled if archive.read(name)[18:20] != AARCH64] == []


def test_nothing_of_the_language_extensions_is_left(first: Deployment) -> None:
    """And the template is well below the megabyte that CloudFormation takes."""
    assert first.template["Transform"] == "AWS::Serverless-2016-10-31"
    for word in ("Fn::ForEach", "DefaultValue", "LanguageExtensions", "&{", "Fn::Length", "Fn::ToJsonString"):
        assert word not in first.text, word
    assert "Actions" not in first.template["Parameters"]
    assert len(first.text.encode()) < 700_000
    assert first.capabilities == ["CAPABILITY_IAM"]


def test_what_arrives_is_what_the_emulator_runs(first: Deployment) -> None:
    """But for the addresses of the code."""
    assert without_code(first.template) == without_code(expanded_here())


def test_the_translator_accepts_it_and_the_resources_are_few(project: Project, first: Deployment) -> None:
    """The translator of this SAM CLI makes what CloudFormation creates; it takes some seconds."""
    assert without_layer(project.translated(first.text)) == without_layer(transformed(expanded_with()))
    made = project.translated(json.dumps(in_a_bucket(expanded_here(everything(written())))))
    assert len(made["Resources"]) <= MOST_RESOURCES
    assert without_layer(made) == without_layer(deployed())


def test_with_values_nothing_is_asked_and_each_arrives_as_it_was_written(project: Project, second: Deployment) -> None:
    assert second.kind == "UPDATE"
    assert second.parameters == {"LogLevel": "WARNING", "FailedWebhookUrl": HARD}
    assert "]: " not in project.said[1]
    assert HARD not in project.said[1], "it is a secret"
    assert set(second.kept) == set(second.template["Parameters"]) - set(second.parameters)
    assert second.tags == {"delayer:stack": "delayer", "team": "payments"}, "which CloudFormation would take away"


def test_the_actions_of_the_stack_are_kept(second: Deployment) -> None:
    executors = [name for name in functions(second) if name.startswith("Executor")]
    assert executors == ["Executorhttprequest", "Executorremote", "Executorcanary"]
    assert second.template["Outputs"]["Actions"]["Value"] == "http-request,remote,canary"
    assert second.template["Outputs"]["Subscribers"]["Value"] == "failed-webhook", "and what is named counts"
    assert [one["CodeUri"] for one in functions(second).values() if not OWN_CODE.fullmatch(one["CodeUri"])] == []


def test_a_lane_that_a_stack_gets_is_there_before_the_api_accepts_for_it(project: Project, second: Deployment) -> None:
    """In an update of its own: one that fails takes back the table that it has made (ADR 0172)."""
    _, before, after = project.account.deployments
    assert after is second
    assert "in two steps" in project.said[1]
    assert before.parameters == after.parameters
    for deployment, lanes in ((before, ""), (after, "relaxed")):
        assert functions(deployment)["ApiSchedulePost"]["Environment"]["Variables"]["LANES"] == lanes
        assert "RelaxedTable" in deployment.template["Resources"]


def without_layer(template: dict[str, Any]) -> dict[str, str]:
    """The type of each resource. The name of the layer has a hash of where its archive is."""
    types = {name: str(one["Type"]) for name, one in template["Resources"].items()}
    return {name: kind for name, kind in types.items() if kind != "AWS::Lambda::LayerVersion"}


def expanded_here(lists: dict[str, str] | None = None) -> dict[str, Any]:
    """By the same function, from the same file."""
    plain: dict[str, Any] = json.loads(json.dumps(expand(read_template(ROOT / "template.yaml"), lists or {})))
    return plain


def without_code(template: dict[str, Any]) -> dict[str, Any]:
    """Nor what SAM notes for itself."""
    resources = {
        name: {
            **{key: value for key, value in one.items() if key != "Metadata"},
            "Properties": {key: value for key, value in one.get("Properties", {}).items() if key not in CODE.values()},
        }
        for name, one in template["Resources"].items()
    }
    return {**template, "Resources": resources}
