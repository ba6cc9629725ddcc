"""Many messages in few requests, of which AWS may accept a part only (ADR 0007)."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from delayer.aws.runtime.clients import AWS_ERRORS, log

if TYPE_CHECKING:
    from mypy_boto3_sns.type_defs import PublishBatchResponseTypeDef
    from mypy_boto3_sqs.type_defs import SendMessageBatchResultTypeDef

MESSAGES: Final = 10  # in one request to SQS or SNS
NEVER: Final = frozenset({"InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid"})


def send_all(
    sizes: Sequence[int],
    at_most: int,
    send: "Callable[[Sequence[int]], SendMessageBatchResultTypeDef | PublishBatchResponseTypeDef]",
    *,
    refused: Callable[[int], None] | None = None,
) -> list[int]:
    """Calls `send` for ten positions and `at_most` bytes at a time; returns the positions not known to be accepted.

    Each entry has its position as its `Id`. `Failed[]` lists what was *not* accepted, in an answer with status 200.
    AWS does not say that such an entry surely was not stored, so it is not sent once more from here (ADR 0084).
    `refused`: a message that AWS will never accept is logged, told to this function and counts as accepted. It is lost,
    which is better than trying for ever.
    """
    left: list[int] = []
    for batch in _batches(sizes, at_most):
        try:
            answer = send(batch)
        except AWS_ERRORS as error:
            log.warning("messages not sent: %s", error)
            left += batch
            continue
        for failed in answer.get("Failed", []):
            log.warning("message not sent: %s", failed.get("Message") or failed["Code"])
        accepted = {int(one["Id"]) for one in answer.get("Successful", [])}
        if refused:
            rejected = [one for one in answer.get("Failed", []) if one.get("Code") in NEVER]
            for one in rejected:
                log.error("given up: %s", one["Code"])
                refused(int(one["Id"]))
            accepted |= {int(one["Id"]) for one in rejected}
        left += [at for at in batch if at not in accepted]
    return left


def _batches(sizes: Sequence[int], at_most: int) -> Iterator[list[int]]:
    batch: list[int] = []
    room = at_most
    for at, size in enumerate(sizes):
        if batch and (len(batch) == MESSAGES or size > room):
            yield batch
            batch, room = [], at_most
        batch.append(at)
        room -= size
    if batch:
        yield batch
