"""The page about AWS: its policies fit the API, and its first call is signed as AWS wants it."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

import delayer_client
from delayer_client import Aws
from delayer_client.calls.call import Call
from delayer_client.cli.app import app
from delayer_client.cli.session import Surroundings
from delayer_client.testing import FakeDelayer
from delayer_client.transport.credentials import by_what_is_there
from local.emulator.access.claims import Received, claim_of
from local.emulator.access.signatures import Signatures
from local.receiver import ReceivedRequest, Receiver
from operate.move_queues import TAG
from tests.cfn import ROOT, deployed, resources, written
from tests.docs.blocks.fences import Fence, fences_in

PAGE = (ROOT / "docs/start/aws.md").read_text()
FENCES = list(fences_in("start/aws.md", PAGE))
POLICIES = [json.loads(fence.text) for fence in FENCES if fence.language == "json"]
URL = "https://abc123.execute-api.eu-west-1.amazonaws.com"
ARN = re.compile(r"arn:aws:execute-api:eu-west-1:123456789012:abc123/(?P<stage>[^/]+)/(?P<call>.+)")
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAFIRST",
    "AWS_SECRET_ACCESS_KEY": "first-secret",
    "AWS_SESSION_TOKEN": "first-token",
}


def routes() -> list[str]:
    """GET /schedules/{id} and all others, as `GET/schedules/x`. Not `$default`, for what is no path of the API."""
    found = [one["RouteKey"] for one in resources("AWS::ApiGatewayV2::Route").values()]
    return [re.sub(r"\{\w+\}", "x", route).replace(" ", "") for route in found if "/" in route]


def stage() -> str:
    [found] = [one for one in deployed()["Resources"].values() if one["Type"] == "AWS::ApiGatewayV2::Stage"]
    return str(found["Properties"]["StageName"])


def statements() -> Iterator[dict[str, Any]]:
    for policy in POLICIES:
        assert policy["Version"] == "2012-10-17"
        yield from policy["Statement"]


def reached(resource: str) -> set[str]:
    """The routes that a resource of a policy stands for. `*` is any text, as IAM has it."""
    found = ARN.fullmatch(resource)
    assert found, resource
    assert found["stage"] == stage()
    pattern = ".*".join(map(re.escape, found["call"].split("*")))
    return {route for route in routes() if re.fullmatch(pattern, route)}


def test_each_policy_is_about_calls_that_the_api_has() -> None:
    assert len(POLICIES) == 3
    for statement in statements():
        assert set(statement) == {"Effect", "Action", "Resource"}
        assert statement["Action"] == "execute-api:Invoke"
        resources = statement["Resource"]
        for resource in [resources] if isinstance(resources, str) else resources:
            assert reached(resource), resource


def test_the_first_policy_allows_all_and_the_last_one_reads_all_but_the_secret() -> None:
    every = set(routes())
    assert len(every) > 30
    [whole], _, [allow, deny] = [policy["Statement"] for policy in POLICIES]
    assert reached(whole["Resource"]) == every
    left = reached(allow["Resource"]) - reached(deny["Resource"])
    assert left == {route for route in every if route.startswith("GET/")} - {"GET/signing-secret"}
    assert deny["Effect"] == "Deny"


class Recorded(httpx.BaseTransport):
    """Keeps what is called, as a policy names it."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self.inner = inner
        self.calls: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = re.sub(r"^/schedules/[^/]+$", "/schedules/x", request.url.path)
        self.calls.add(f"{request.method}{path}")
        return self.inner.handle_request(request)


def test_the_second_policy_is_enough_for_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks which actions there are, schedules, and with `--wait` looks the schedule up."""
    monkeypatch.setenv("DELAYER_URL", "http://delayer.fake")
    fake = FakeDelayer()
    recorded = Recorded(fake.transport)
    surroundings = Surroundings(
        transport=recorded,
        now=lambda: fake.now,
        sleep=lambda seconds: fake.advance(timedelta(seconds=seconds)),
        is_terminal=lambda: False,
    )
    command, *arguments = shlex.split(first_call("Command line", "sh").text.replace("\\\n", ""), comments=True)
    assert command == ".venv/bin/delayer"
    done = CliRunner().invoke(app, arguments, obj=surroundings, prog_name="delayer")
    assert done.exit_code == 0, done.output
    _, [service], _ = [policy["Statement"] for policy in POLICIES]
    assert recorded.calls == {"GET/actions", "POST/schedules", "GET/schedules/x"}
    assert recorded.calls <= set().union(*map(reached, service["Resource"]))


def test_the_address_has_no_stage_so_the_stage_is_the_default_one() -> None:
    assert stage() == "$default"
    url = deployed()["Outputs"]["ApiUrl"]["Value"]
    assert url == {"Fn::Sub": "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}"}
    assert "`ApiId`" in PAGE
    assert deployed()["Outputs"]["ApiId"]["Value"] == {"Ref": "Api"}


def test_the_default_asks_for_signatures_and_the_queue_of_the_page_may_be_sent_to() -> None:
    parameters = deployed()["Parameters"]
    assert parameters["ApiAuthorization"]["Default"] == "AWS_IAM"
    pattern = parameters["SqsTargetNamePattern"]["Default"].replace("*", ".*")
    assert all(re.fullmatch(pattern, name) for name in re.findall(r"amazonaws\.com/123456789012/([\w-]+)", PAGE))
    named = re.findall(r"^\| `(\w+)`", PAGE.split("### Parameters to choose")[1].split("###")[0], re.MULTILINE)
    assert set(named) <= set(written()["Parameters"])


def test_the_page_names_each_service_that_the_template_has_resources_of() -> None:
    """Whoever deploys must be allowed to use all of them."""
    types = [one["Type"].split("::") for one in deployed()["Resources"].values()]
    services = {kind[1].lower().removesuffix("v2") for kind in types if kind[0] == "AWS"}
    assert {one for one in services if f"(`{one}`)" not in PAGE} == set()


def test_what_is_kept_is_named() -> None:
    """A custom resource is no thing of its own."""
    kept = {one["Type"] for one in deployed()["Resources"].values() if "Retain" in one.get("DeletionPolicy", "")}
    kept.discard("Custom::DelayerKeys")
    kinds = {"AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket", "AWS::Lambda::LayerVersion"}
    assert kept == kinds
    for kind in ("AWS::DynamoDB::Table", "AWS::S3::Bucket"):
        assert f"resources {kind} >" in PAGE
    assert "list-layer-versions" in PAGE
    queues = [one["Properties"] for one in deployed()["Resources"].values() if one["Type"] == "AWS::SQS::Queue"]
    assert all(TAG in [tag["Key"] for tag in queue["Tags"]] for queue in queues)
    assert f"--tag-filters Key={TAG} " in PAGE


def test_the_cost_is_that_of_its_page() -> None:
    [named] = re.findall(r"costs about (\$\d+) a month", PAGE)
    assert f"about {named} a month" in (ROOT / "docs/decide/cost.md").read_text()


@pytest.fixture
def received() -> Iterator[Receiver]:
    """In the place of API Gateway."""
    with Receiver() as receiver:
        yield receiver


def first_call(tab: str, language: str) -> Fence:
    section = PAGE.split("\n## The first signed call\n")[1].split("\n## ")[0]
    [found] = [one for one in fences_in("start/aws.md", section) if (one.tab, one.language) == (tab, language)]
    return found


def assert_signed(request: ReceivedRequest, token: str = "first-token") -> None:
    """For the API of this region, with these credentials, a moment ago. The signature is calculated again."""
    received = Received(
        method=request.method, path=request.path, query="", headers=dict(request.headers), body=request.body
    )
    claim = claim_of(received)
    assert (claim.service, claim.region, claim.access_key_id) == ("execute-api", "eu-west-1", "AKIAFIRST")
    assert request.headers.get("x-amz-security-token", "") == token
    Signatures(lambda _key, _token: KEYS["AWS_SECRET_ACCESS_KEY"]).check(received)


def assert_accepted(body: bytes) -> None:
    """Delayer itself takes it, and sends the payload to the queue."""
    with FakeDelayer() as fake:
        call = Call(method="POST", path="/schedules", body=json.loads(body), read=lambda answer: answer.status)
        assert fake.client().send(call) == 201
        fake.advance(timedelta(seconds=11))
        assert [attempt.payload for attempt in fake.handed_over] == [{"order": 17}]


@pytest.mark.parametrize("is_temporary", [True, False])
def test_the_call_of_curl_is_signed(received: Receiver, tmp_path: Path, is_temporary: bool) -> None:
    """With keys that are not temporary, without the line that the page names."""
    token = '  -H "x-amz-security-token: $AWS_SESSION_TOKEN" \\\n'
    text = first_call("curl", "sh").text
    assert token in text
    aws = tmp_path / "aws"
    aws.write_text("#!/bin/sh\n" + "\n".join(f"echo export {name}={value}" for name, value in KEYS.items()) + "\n")
    aws.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "DELAYER_URL": received.url}
    script = text if is_temporary else text.replace(token, "")
    subprocess.run(["/bin/bash", "-euc", script], env=environment, check=True, timeout=20)
    [request] = received.of("/schedules")
    assert_signed(request, "first-token" if is_temporary else "")
    assert_accepted(request.body)


def test_the_call_by_hand_is_signed(received: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    text = first_call("boto3", "python").text
    assert URL in text
    names: dict[str, Any] = {}
    with pytest.raises(json.JSONDecodeError):  # the receiver answers 200 without a body
        exec(compile(text.replace(URL, received.url), "aws.md", "exec"), names)
    [request] = received.of("/schedules")
    assert_signed(request)
    assert_accepted(request.body)


def test_the_call_of_the_client_is_signed_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_what_is_there(URL, {}) == Aws()
    fake = FakeDelayer()
    asked: list[str] = []

    def made(url: str) -> Any:
        asked.append(url)
        return fake.client()

    monkeypatch.setattr(delayer_client, "Delayer", made)
    exec(compile(first_call("Python", "python").text, "aws.md", "exec"), {})
    assert asked == [URL]
    fake.advance(timedelta(seconds=11))
    assert [attempt.payload for attempt in fake.handed_over] == [{"order": 17}]


AWS_ALONE = """#!/bin/sh
case "$1 $2" in
  "resourcegroupstaggingapi get-resources") printf 'arn:aws:sqs:eu-west-1:123456789012:delayer-executor-a\\n' ;;
  "sqs get-queue-url") echo "https://sqs.eu-west-1.amazonaws.com/123456789012/$4" ;;
  "cloudformation list-stack-resources") echo "one-of-the-stack" ;;
  *) echo "$@" >&2; exit 1 ;;
esac
"""


def test_what_writes_the_lists_of_all_that_is_kept_does(tmp_path: Path) -> None:
    """With a stub of the AWS CLI; nothing of the block goes on to delete the stack."""
    stub = tmp_path / "aws"
    stub.write_text(AWS_ALONE)
    stub.chmod(0o755)
    [block] = [one.text for one in FENCES if "resourcegroupstaggingapi" in one.text]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh", "-eu", "-c", block], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    queue = "https://sqs.eu-west-1.amazonaws.com/123456789012/delayer-executor-a\n"
    assert (tmp_path / "queues.txt").read_text() == queue
    assert (tmp_path / "tables.txt").read_text() == (tmp_path / "bucket.txt").read_text() == "one-of-the-stack\n"


def test_what_empties_the_bucket_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On moto, with an object that was written twice. The client of S3 takes a second to read how its service works."""
    import boto3
    from moto import mock_aws

    monkeypatch.chdir(tmp_path)
    Path("bucket.txt").write_text("letters\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        s3: Any = boto3.client("s3")
        s3.create_bucket(Bucket="letters")
        s3.put_bucket_versioning(Bucket="letters", VersioningConfiguration={"Status": "Enabled"})
        for _ in range(2):
            s3.put_object(Bucket="letters", Key="a", Body=b"x")
        [block] = [one.text for one in FENCES if one.language == "python" and "bucket.txt" in one.text]
        exec(compile(block, "aws.md", "exec"), {})
        assert s3.list_buckets()["Buckets"] == []
