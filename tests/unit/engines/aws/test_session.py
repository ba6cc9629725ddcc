"""The lean session makes the clients that botocore's own would make."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import botocore
import moto.core.models
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ParamValidationError
from botocore.loaders import Loader
from botocore.regions import EndpointResolver
from botocore.session import Session

from delayer.engines.aws.start import ENDPOINTS, SERVICES, make_client, shared_session, unchecked
from shared import endpoints

REGIONS = ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1", "eu-middle-9")  # the last is still to be built
KEYS: dict[str, Any] = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}


def test_the_file_is_that_of_this_botocore() -> None:
    assert Path(ENDPOINTS).read_text(encoding="utf-8") == endpoints.written(), "run `make endpoints`"


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("service", SERVICES)
def test_a_client_is_the_same_as_of_a_session_of_botocore(service: str, region: str) -> None:
    ours = make_client(service, region_name=region, **KEYS)
    make: Any = Session().create_client
    theirs = make(service, region_name=region, **KEYS)
    assert ours.meta.endpoint_url == theirs.meta.endpoint_url
    assert ours.meta.partition == theirs.meta.partition
    assert ours.meta.config.signature_version == theirs.meta.config.signature_version
    assert ours.meta.service_model.operation_names == theirs.meta.service_model.operation_names


@pytest.mark.parametrize("service", SERVICES)
def test_each_region_has_the_endpoint_that_botocore_knows(service: str) -> None:
    """The older table, from which botocore takes the name of the region that signs."""
    ours = EndpointResolver(json.loads(Path(ENDPOINTS).read_text(encoding="utf-8")))
    theirs = EndpointResolver(Loader().load_data("endpoints"))
    name = endpoints.RENAMED.get(service, service)
    for partition in theirs.get_available_partitions():
        known = theirs.get_available_endpoints(name, partition, allow_non_regional=True)
        assert ours.get_available_endpoints(name, partition, allow_non_regional=True) == known
        for region in known:
            assert ours.construct_endpoint(name, region) == theirs.construct_endpoint(name, region)


def test_all_clients_share_one_session_and_its_models() -> None:
    assert shared_session() is shared_session()


@pytest.fixture(autouse=True)
def _nobody_else_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where moto mocks for a whole session of tests, it answers each client of this process, also beside another."""
    monkeypatch.setattr(moto.core.models.botocore_stubber, "enabled", False)


class Empty:
    """A body."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield b"{}"


def answered(client: Any) -> list[str]:
    """The User-Agent of each call. No call leaves the process."""
    seen: list[str] = []
    headers: Any = {}

    def answer(request: Any, **_: object) -> AWSResponse:
        sent = request.headers["User-Agent"]
        seen.append(sent.decode() if isinstance(sent, bytes) else sent)
        return AWSResponse(request.url, 200, headers, Empty())

    client.meta.events.register("before-send", answer)
    return seen


def test_a_call_says_which_botocore_makes_it() -> None:
    """Powertools may add itself."""
    client = make_client("sqs", region_name="eu-west-1", **KEYS)
    seen = answered(client)
    client.list_queues()
    assert seen[0].startswith(shared_session().user_agent())
    assert f"Botocore/{botocore.__version__}" in seen[0]


def test_a_call_says_which_function_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As botocore says it by itself; CloudTrail and the meter of one machine go by it."""
    monkeypatch.setenv("AWS_SDK_UA_APP_ID", "delayer-relay")
    client = make_client("sqs", region_name="eu-west-1", **KEYS)
    seen = answered(client)
    client.list_queues()
    assert "app/delayer-relay" in seen[0].split()


def test_a_client_keeps_what_its_own_config_says() -> None:
    config = Config(read_timeout=7, user_agent="mine")
    client = make_client("sqs", config=config, region_name="eu-west-1", **KEYS)
    seen = answered(client)
    client.list_queues()
    assert client.meta.config.read_timeout == 7
    assert seen[0].startswith("mine")


CHECKED = {
    "dynamodb": ("list_tables", "Limit"),
    "sqs": ("list_queues", "MaxResults"),
    "lambda": ("list_functions", "MaxItems"),
}


@pytest.mark.parametrize(
    ("service", "is_lambda", "checks"),
    [("dynamodb", True, False), ("sqs", True, False), ("lambda", True, True), ("dynamodb", False, True)],
)
def test_requests_are_checked_in_tests_and_where_a_parameter_is_in_the_address(
    service: str, is_lambda: bool, checks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME", raising=False)
    if is_lambda:
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "one")
    client = make_client(service, config=unchecked(service), region_name="eu-west-1", **KEYS)
    answered(client)
    operation, number = CHECKED[service]
    with pytest.raises(ParamValidationError) if checks else nullcontext():
        getattr(client, operation)(**{number: "no number"})
