"""The functions of both lanes, invoked with records of their streams."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from attrs import frozen
from botocore.exceptions import ReadTimeoutError

from delayer.aws.events.records import StreamRecord
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.schedule.schedule_id import is_relaxed
from delayer.ports.consumers import Died
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


@frozen(kw_only=True)
class LambdaStreamConsumer:
    """Port StreamConsumer."""

    lambda_: "LambdaClient"
    function: str
    relaxed: str  # the one for records of the relaxed table

    def handle(self, records: Sequence[object]) -> list[int]:
        """If one function dies, the answer of the other is lost: what is handled twice is refused by the ledger."""
        relaxed = [position for position, record in enumerate(records) if _is_relaxed(record)]
        others = [position for position in range(len(records)) if position not in relaxed]
        asked = [(self.function, others), (self.relaxed, relaxed)]
        return sorted(
            positions[one]
            for function, positions in asked
            if positions
            for one in self._handle(function, [records[position] for position in positions])
        )

    def _handle(self, function: str, records: Sequence[object]) -> list[int]:
        event = json.dumps({"Records": list(records), "broughtBack": True}, ensure_ascii=False)
        try:
            answer = self.lambda_.invoke(FunctionName=function, Payload=event.encode("utf-8", "surrogatepass"))
            content = answer["Payload"].read()
        except ReadTimeoutError as error:
            raise Died(f"no answer in time: {error}") from error
        except AWS_ERRORS as error:
            raise Unavailable(f"invoke {function}: {error}") from error
        if "FunctionError" in answer:
            raise Died(f"{answer['FunctionError']}: {content[:200]!r}")
        failed = {one["itemIdentifier"] for one in json.loads(content)["batchItemFailures"]}
        sequences = [cast("StreamRecord", record)["dynamodb"]["SequenceNumber"] for record in records]
        return [position for position, sequence in enumerate(sequences) if sequence in failed]


def _is_relaxed(record: object) -> bool:
    """By the id in its key. What has none goes where it always went."""
    try:
        return is_relaxed(cast("StreamRecord", record)["dynamodb"]["Keys"]["due"]["S"].partition("#")[2])
    except (KeyError, TypeError, AttributeError):
        return False
