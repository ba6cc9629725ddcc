"""The function stream-enqueuer, invoked with records of the stream."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from attrs import frozen
from botocore.exceptions import ReadTimeoutError

from delayer.aws.events.records import StreamRecord
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

    def handle(self, records: Sequence[object]) -> list[int]:
        event = json.dumps({"Records": list(records), "broughtBack": True}, ensure_ascii=False)
        try:
            answer = self.lambda_.invoke(FunctionName=self.function, Payload=event.encode("utf-8", "surrogatepass"))
            content = answer["Payload"].read()
        except ReadTimeoutError as error:
            raise Died(f"no answer in time: {error}") from error
        except AWS_ERRORS as error:
            raise Unavailable(f"invoke {self.function}: {error}") from error
        if "FunctionError" in answer:
            raise Died(f"{answer['FunctionError']}: {content[:200]!r}")
        failed = {one["itemIdentifier"] for one in json.loads(content)["batchItemFailures"]}
        sequences = [cast("StreamRecord", record)["dynamodb"]["SequenceNumber"] for record in records]
        return [position for position, sequence in enumerate(sequences) if sequence in failed]
