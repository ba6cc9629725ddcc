"""The function stream-enqueuer, invoked with records of the stream."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.ports.stream_consumer import Died
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


@frozen(kw_only=True)
class LambdaStreamConsumer:
    """Port StreamConsumer."""

    lambda_: "LambdaClient"
    function: str

    def handle(self, records: Sequence[object]) -> int:
        event = json.dumps({"Records": list(records), "broughtBack": True})
        try:
            answer = self.lambda_.invoke(FunctionName=self.function, Payload=event.encode())
            content = answer["Payload"].read()
        except AWS_ERRORS as error:
            raise Unavailable(f"invoke {self.function}: {error}") from error
        if "FunctionError" in answer:
            raise Died(f"{answer['FunctionError']}: {content[:200]!r}")
        return len(json.loads(content)["batchItemFailures"])
