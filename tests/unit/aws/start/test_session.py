"""The lean session makes the clients that botocore's own would make."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from botocore.regions import EndpointResolver
from botocore.session import Session

from delayer.aws.start.session import ENDPOINTS, SERVICES, make_client, shared_session
from shared import endpoints

REGIONS = ("us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1", "eu-middle-9")  # the last is still to be built
KEYS = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}


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
