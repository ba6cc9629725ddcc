"""A stack is found by its name and its URL, and its operator functions are called."""

import io
import json
from typing import Any

import boto3
import pytest
from attrs import define, evolve, field
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSOTokenLoadError,
)

from delayer.dead_letters.commands import respond
from delayer.flow.commands import OperateFlow
from delayer.schedule.instants import SECOND
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer_client.operator import (
    Aws,
    Interrupted,
    NoCredentials,
    NoStack,
    NotAllowed,
    OperatorError,
    OperatorStack,
    Refused,
    Unfinished,
    Where,
    grouped,
)
from tests.client.doctor.account import a_stack, well
from tests.unit.dead_letters.test_bulk import bulk_of, letter_of, stored
from tests.world import World


@define
class Lambda:
    """The functions' own code behind boto3's client. `problem` is what goes wrong with every call."""

    world: World = field(factory=World)
    problem: BaseException | str = ""
    names: list[str] = field(factory=list)
    region_name: str = "eu-west-1"

    @property
    def meta(self) -> "Lambda":
        return self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3's names
        self.names.append(FunctionName)
        if isinstance(self.problem, BaseException):
            raise self.problem
        if self.problem:
            content: Any = {"errorMessage": self.problem}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(content).encode())}
        answer = self.answer(FunctionName, json.loads(Payload))
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    def answer(self, name: str, event: Any) -> Any:
        if name.endswith("dead-letters"):
            return respond(evolve(bulk_of(self.world), budget=SECOND), event)
        if name.endswith("flow"):
            return build(OperateFlow, self.world.ports("operator-flow"))(event)
        return use_cases.owner_policy_commands(self.world.ports("operator-owner-policy"))(event)


@pytest.fixture
def functions() -> Lambda:
    return Lambda()


@pytest.fixture
def stack(functions: Lambda) -> OperatorStack:
    session = boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name="eu-west-1")
    clients: dict[tuple[str, bool], Any] = {("lambda", False): functions}
    return OperatorStack(Aws(session=session, region="eu-west-1", clients=clients), "mine")


# ------------------------------------------------------------ the stack


def test_what_cloudformation_knows() -> None:
    stack = a_stack(well())
    assert (stack.region, stack.is_local, stack.status) == ("eu-west-1", False, "CREATE_COMPLETE")
    assert stack.outputs["ControlTable"] == "delayer-ControlTable"
    assert stack.parameters["Scale"] == "small"
    assert [one.logical_id for one in stack.resources_of("AWS::Lambda::Function")] == ["StreamEnqueuer", "DelayerRelay"]
    assert stack.function_name("operator-flow") == "delayer-operator-flow"


def test_the_url_of_another_stack_is_said() -> None:
    stack = OperatorStack(a_stack(well()).aws, "delayer", "https://other.execute-api.eu-west-1.amazonaws.com")
    with pytest.raises(NoStack, match=r"serves https://abc.*, not https://other.*--stack"):
        _ = stack.outputs


def test_a_stack_that_is_not_there_and_one_that_may_not_be_read() -> None:
    def with_error(code: str) -> OperatorStack:
        error = {"Error": {"Code": code, "Message": "because"}}
        return a_stack(well().under({"answers": {"cloudformation.DescribeStacks": error}}))

    with pytest.raises(NoStack, match=r"delayer cannot be read in eu-west-1.*because"):
        _ = with_error("ValidationError").outputs
    with pytest.raises(NotAllowed) as refused:
        _ = with_error("AccessDenied").outputs
    assert refused.value.permission == "cloudformation:DescribeStacks"
    with pytest.raises(NoCredentials, match="Sign in again"):
        _ = with_error("ExpiredToken").outputs


# ------------------------------------------------------------ before something is changed


CHANGES: list[Any] = [
    pytest.param(lambda stack: stack.flow.suspend(owner="ann", reason="moved"), id="suspend"),
    pytest.param(lambda stack: stack.dead_letters.redrive("failed/1"), id="redrive"),
    pytest.param(lambda stack: stack.dead_letters.discard_many(Where(reason="HTTP 503")), id="discard"),
    pytest.param(lambda stack: stack.owner_policies.set({}, "ann"), id="set"),
]


def operated(functions: Lambda, url: str, answers: Any = None) -> OperatorStack:
    """The stack that serves https://abc.execute-api.eu-west-1.amazonaws.com, called by this URL."""
    aws = a_stack(well().under({"answers": answers or {}})).aws
    aws.clients["lambda", False] = functions
    return OperatorStack(aws, "delayer", url)


@pytest.mark.parametrize("change", CHANGES)
def test_another_stack_than_that_of_the_url_is_not_changed(functions: Lambda, change: Any) -> None:
    stack = operated(functions, "https://other.execute-api.eu-west-1.amazonaws.com")
    with pytest.raises(NoStack, match=r"serves https://abc.*, not https://other"):
        change(stack)
    assert functions.names == []
    assert stack.flow.list()["suspensions"] == [], "who only looks needs no permission to read the stack"


@pytest.mark.parametrize(
    ("url", "code", "says"),
    [
        ("https://abc.execute-api.eu-west-1.amazonaws.com/", "", ""),
        ("https://ABC.execute-api.eu-west-1.amazonaws.com", "", ""),
        ("", "", ""),
        ("https://me:secret@delayer.example.com", "", "https://delayer.example.com leads to it cannot be seen"),
        ("https://other.execute-api.eu-west-1.amazonaws.com", "AccessDenied", "cloudformation:DescribeStacks"),
    ],
)
def test_what_cannot_be_known_is_said_once(
    functions: Lambda, caplog: pytest.LogCaptureFixture, url: str, code: str, says: str
) -> None:
    """Who may only invoke one operator's function can use it all the same."""
    refused = {"cloudformation.DescribeStacks": {"Error": {"Code": code, "Message": "no"}}} if code else {}
    stack = operated(functions, url, refused)
    for _ in range(2):
        assert "changed" in stack.flow.suspend(owner="ann", reason="moved")
    assert len(caplog.messages) == bool(says)
    assert says in caplog.text
    assert "secret" not in caplog.text


# ------------------------------------------------------------ its functions


@pytest.mark.parametrize(
    ("problem", "kind", "says"),
    [
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke"), NoStack, "no function mine-operator"),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "Invoke"), NotAllowed, "lambda:InvokeFunction on"),
        (ClientError({"Error": {"Code": "ExpiredTokenException"}}, "Invoke"), NoCredentials, "Sign in again"),
        (ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke"), Interrupted, "TooManyRequests"),
        (ReadTimeoutError(endpoint_url="x"), Interrupted, "Read timeout"),
        (ClientError({"Error": {"Code": "ServiceException"}}, "Invoke"), Interrupted, "ServiceException"),
        (SSOTokenLoadError(error_msg="expired"), NoCredentials, r"Sign in again \(aws sso login\)"),
        (EndpointConnectionError(endpoint_url="x"), OperatorError, "connect"),
        (NoCredentialsError(), NoCredentials, "Unable to locate credentials"),
        ("Task timed out", Interrupted, "mine-operator-flow failed: Task timed out"),
    ],
    ids=str,
)
def test_what_can_go_wrong(
    stack: OperatorStack, functions: Lambda, problem: Any, kind: type[Exception], says: str
) -> None:
    functions.problem = problem
    with pytest.raises(kind, match=says):
        stack.flow.list()


@pytest.mark.parametrize(
    ("status", "is_over_soon"), [(400, False), (413, False), (429, True), (500, True), (503, True)]
)
def test_what_aws_refuses_each_time_is_not_tried_again(
    stack: OperatorStack, functions: Lambda, status: int, is_over_soon: bool
) -> None:
    answer: Any = {"Error": {"Code": "SomeException"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    functions.problem = ClientError(answer, "Invoke")
    with pytest.raises(OperatorError, match="SomeException") as refused:
        stack.flow.list()
    assert isinstance(refused.value, Interrupted) is is_over_soon


@pytest.mark.parametrize("content", [None, [], {"message": "hello"}], ids=str)
def test_another_function_of_this_name(
    stack: OperatorStack, monkeypatch: pytest.MonkeyPatch, functions: Lambda, content: Any
) -> None:
    monkeypatch.setattr(Lambda, "answer", lambda *_: content)
    with pytest.raises(OperatorError, match="does not answer as an operator's function does"):
        stack.flow.list()
    assert functions.names == ["mine-operator-flow"]


def test_what_the_function_refuses_is_said_in_its_words(stack: OperatorStack) -> None:
    with pytest.raises(Refused, match="nothing is stored under 'x'"):
        stack.dead_letters.show("x")


def test_dead_letters_are_listed_shown_and_grouped(stack: OperatorStack, functions: Lambda) -> None:
    one, *_ = stored(functions.world, 120, reason="HTTP 503")
    stored(functions.world, 2, reason="malformed")
    page = stack.dead_letters.page("dead-lettered/")
    assert (len(page.letters), bool(page.after)) == (100, True)
    letters = list(stack.dead_letters.list("dead-lettered/"))
    assert len(letters) == len(functions.world.store.objects)
    reasons = grouped(letters)
    assert sum(reason.number for reason in reasons) == len(letters)
    assert reasons[0].text == "HTTP 503"
    assert len(reasons[0].sample) == 3
    assert stack.dead_letters.show(letter_of(one).key)["scheduleId"] == one.id
    assert functions.names[0] == "mine-operator-dead-letters"


def test_one_is_redriven_and_one_discarded(stack: OperatorStack, functions: Lambda) -> None:
    first, second = stored(functions.world, 2)
    assert stack.dead_letters.redrive(letter_of(first).key, by="eve")["stillStored"] is False
    assert stack.dead_letters.discard(letter_of(second).key)["schedules"][0]["outcome"] == "dropped"
    assert functions.world.store.objects == {}


def test_many_are_counted_and_then_redriven(stack: OperatorStack, functions: Lambda) -> None:
    schedules = stored(functions.world, 200, reason="HTTP 503")
    where = Where(reason="http 503", action=schedules[0].definition.action_type)
    counted = stack.dead_letters.count("redrive", where)
    assert (counted.matched, counted.done, counted.is_dry_run) == (200, 200, True)
    assert counted.reasons["HTTP 503"].number == 200
    assert len(functions.world.store.objects) == 200, "nothing was done yet"
    seen: list[int] = []
    done = stack.dead_letters.redrive_many(where, by="eve", on_progress=lambda result: seen.append(result.done))
    assert (done.done, done.is_complete, functions.world.store.objects) == (200, True, {})
    assert len(seen) > 1
    assert seen == sorted(seen)
    nothing = stack.dead_letters.discard_many(Where(action="sqs-send"))
    assert (nothing.matched, nothing.is_complete) == (0, True)


def test_a_run_that_fails_too_often_says_how_far_it_came(stack: OperatorStack, functions: Lambda) -> None:
    stored(functions.world, 200)
    everything = Where(everything=True)
    bulk = stack.dead_letters.many("redrive", everything, sleep=lambda _: None)
    steps = bulk.steps()
    next(steps)
    functions.problem = "Task timed out"
    with pytest.raises(Unfinished, match="Task timed out") as unfinished:
        list(steps)
    assert unfinished.value.result.after
    functions.problem = ""
    assert unfinished.value.result.is_least, "a call that was not answered may have done more"
    rest = stack.dead_letters.many("redrive", everything, after=unfinished.value.result.after)()
    assert not rest.is_least
    assert unfinished.value.result.done + rest.done == 200


def test_what_only_counts_counts_exactly(stack: OperatorStack, functions: Lambda) -> None:
    """After an interruption, too: it changes nothing, so the same ones are counted again."""
    stored(functions.world, 2)
    functions.problem = "Task timed out"

    def over_soon(_: float) -> None:
        functions.problem = ""

    counted = stack.dead_letters.many("redrive", Where(everything=True), dry_run=True, sleep=over_soon)()
    assert (counted.matched, counted.is_least) == (2, False)


def test_conditions_that_are_all_empty_do_not_mean_everything() -> None:
    with pytest.raises(ValueError, match="everything=True"):
        Where()
    with pytest.raises(ValueError, match="everything=True"):
        Where(reason="", owner="", until="")
    assert Where(everything=True).as_sent() == {}
    assert Where(everything=True, owner="ann").as_sent() == {"owner": "ann"}


def test_flow_from_suspension_to_release(stack: OperatorStack) -> None:
    assert stack.flow.suspend(target="api.example.com", reason="moved", by="eve")["changed"] is True
    assert stack.flow.list()["suspensions"][0]["target"] == "http-request api.example.com"
    assert stack.flow.limit(owner="ann", connection="crm", rate="10/s")["limit"]["rate"] == "10/s"
    assert len(stack.flow.unlimit(owner="ann", connection="crm")["removed"]) == 1
    assert len(stack.flow.release(target="api.example.com")["released"]) == 1
    assert stack.flow.close(owner="ann") == {"closed": []}
    assert stack.flow.discard("limit#1") == {"discarded": []}


def test_an_owner_policy_from_set_to_remove(stack: OperatorStack) -> None:
    policies = stack.owner_policies
    assert policies.get("ann")["policy"] is None
    revision = policies.set({"actions": ["sqs-send"]}, "ann", by="eve")["revision"]
    assert [one["owner"] for one in policies.list()] == ["ann"]
    post = {"delaySeconds": 60, "action": {"type": "http-request", "url": "https://example.com/"}}
    assert policies.try_out(post, "ann")["allowed"] is False
    assert policies.try_out(post, "ann", policy={})["allowed"] is True
    with pytest.raises(Refused, match="has the revision"):
        policies.set({}, "ann")
    assert policies.remove("ann", revision=revision)["policy"] is None
