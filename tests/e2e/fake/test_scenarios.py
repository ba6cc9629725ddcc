"""A stack does what the fake of the client does: tests/client/testing holds that to the same scenarios.

The fake is the engine with a clock that is moved by hand, so these compare the engine with the stack, too.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

import httpx
import pytest
from attrs import frozen

from tests.client.testing import scenarios, scenarios_of_series
from tests.client.testing.subject import Api
from tests.e2e.client import StackClient

SCENARIOS = {one.__name__: one for one in (*scenarios.SCENARIOS, *scenarios_of_series.SCENARIOS)}


@frozen
class Stack:
    """Subject, on the emulator."""

    client: StackClient
    http: httpx.Client

    @property
    def target(self) -> str:
        return self.client.receiver.url

    def answer(self, path: str, status: int, times: int = 1_000) -> None:
        self.client.receiver.fail_first(path, times, status)

    def arrived(self, path: str) -> list[Mapping[str, str]]:
        return [one.headers for one in self.client.receiver.of(path)]

    def now(self) -> datetime:
        return datetime.now(UTC)

    def pass_time(self, seconds: float) -> None:
        """For real: what is tested is the time of a stack."""
        time.sleep(seconds)


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_stack_does_as_the_fake_does(name: str, on_aws: StackClient) -> None:
    """It takes seconds: time passes for real."""
    owned = {"Delayer-Owner": f"{on_aws.owner}-{name}"}
    with httpx.Client(base_url=on_aws.api_url, headers=owned, timeout=30) as http:
        SCENARIOS[name](Api(Stack(on_aws, http), f"/same/{name}"))
