"""DynamoDB requests get the wish for their consumed capacity."""

import json

from local.emulator.metering.ministack_tables import with_capacity


def test_the_capacity_is_requested_unless_the_request_says_otherwise() -> None:
    assert json.loads(with_capacity(b"{}")) == {"ReturnConsumedCapacity": "TOTAL"}
    assert json.loads(with_capacity(b'{"ReturnConsumedCapacity": "INDEXES"}')) == {"ReturnConsumedCapacity": "INDEXES"}
