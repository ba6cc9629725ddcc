"""A method of an adapter is called, botocore answers at once, and what would have gone to AWS is noted.

The client is botocore's own: it checks each parameter against AWS's model. Nothing is sent.
"""

import base64
import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from types import SimpleNamespace
from typing import Any, Final
from unittest.mock import patch

from attrs import field, frozen

from delayer.engines.aws.start import make_client
from tests.frozen.meaning import meaning_of

Answer = Mapping[str, Any]
Requests = list[dict[str, Any]]

# What AWS answers if a case says nothing else: there is nothing, and what is asked for is done.
USUAL: Final[dict[str, Callable[[Any], Any]]] = {
    "Query": lambda asked: {"Items": [], "Count": 0},
    "BatchExecuteStatement": lambda asked: {"Responses": [{} for _ in asked["Statements"]]},
    "UpdateItem": lambda asked: {"Attributes": {"next": {"N": "1"}}},
    "GetQueueAttributes": lambda asked: {"Attributes": dict.fromkeys(asked["AttributeNames"], "0")},
    "GetSecretValue": lambda asked: {"SecretString": "a secret"},
    "GetObject": lambda asked: {"Body": io.BytesIO(b"a body")},
    "Invoke": lambda asked: {"Payload": io.BytesIO(b'{"batchItemFailures": []}')},
    "AssumeRole": lambda asked: {"Credentials": {"AccessKeyId": "a", "SecretAccessKey": "b", "SessionToken": "c"}},
}


@frozen
class Case:
    """One call of a method, with what AWS answers to its requests, one after the other."""

    call: Callable[[Any], object]  # of the adapter
    answers: tuple[Answer, ...] = ()
    raises: type[Exception] | None = None  # when the last request is made, it is over


@frozen(kw_only=True, eq=False)
class Subject:
    """An adapter, and a case for each request that one of its methods may make."""

    adapter: type
    made: Callable[[Any], Any]  # of a client
    service: str = "dynamodb"
    cases: Mapping[str, Case | Callable[[Any], object]] = field(
        factory=dict
    )  # by the method, or `method: what differs`

    def requests(self, name: str) -> Requests:
        """What goes to AWS in one case."""
        given = self.cases[name]
        case = given if isinstance(given, Case) else Case(given)
        noted: Requests = []
        # No time passes: how far a batch comes within its time must not depend on the machine.
        still = patch("time.sleep"), patch("time.monotonic", lambda: 0.0)
        with still[0], still[1], answering(self.service, case.answers, noted) as client:
            try:
                case.call(self.made(client))
            except Exception as error:
                if case.raises is None or not isinstance(error, case.raises):
                    raise
        return noted


def refused(code: str, **more: Any) -> Answer:
    """An error of AWS."""
    return {"Error": {"Code": code, "Message": "refused"}, **more}


def cancelled(*codes: str, item: Mapping[str, Any] | None = None) -> Answer:
    """A transaction of which these conditions did not hold, or held."""
    reasons = [{"Code": code, **({"Item": item} if item and code != "None" else {})} for code in codes]
    return refused("TransactionCanceledException", CancellationReasons=reasons)


@cache
def client_of(service: str) -> Any:
    """Made once: to read AWS's models takes longer than all calls. It is made as the functions make theirs."""
    return make_client(service, region_name="eu-west-1", aws_access_key_id="none", aws_secret_access_key="none")


@contextmanager
def answering(service: str, answers: tuple[Answer, ...], noted: Requests) -> Iterator[Any]:
    """The client, for the time in which these answers are given."""
    left = iter(answers)

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        """Before botocore adds what differs from call to call, such as the token of a transaction."""
        noted.append({"operation": f"{model.service_model.service_name}:{model.name}", **meaning_of(readable(params))})

    def answer(model: Any, **_: Any) -> tuple[Any, Answer]:
        """In the place of a request over the network."""
        usual = USUAL.get(model.name)
        given = next(left, None) or (usual(noted[-1]) if usual else {})
        return _response(400 if "Error" in given else 200), {"ResponseMetadata": {}, **given}

    events = client_of(service).meta.events
    events.register("provide-client-params", note)
    events.register("before-call", answer)
    try:
        yield client_of(service)
    finally:
        events.unregister("provide-client-params", note)
        events.unregister("before-call", answer)


def _response(status: int) -> Any:
    """botocore looks at its status alone."""
    return SimpleNamespace(status_code=status)


def readable(value: Any) -> Any:
    """As JSON has it: bytes are their text, or Base64 if they are none."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {name: readable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [readable(one) for one in value]
    return deepcopy(value)
