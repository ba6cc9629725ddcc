"""The fake does what a stack does: tests/e2e/fake holds a stack to the same scenarios."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from attrs import define, field

from delayer_client.testing import Answer, Attempt, FakeDelayer
from tests.client.testing import scenarios, scenarios_of_series
from tests.client.testing.subject import Api

SCENARIOS = {one.__name__: one for one in (*scenarios.SCENARIOS, *scenarios_of_series.SCENARIOS)}


@define
class Fake:
    """Subject, in memory."""

    fake: FakeDelayer
    target: str = "https://target.example"
    _statuses: dict[str, list[int]] = field(factory=dict)

    @property
    def http(self) -> httpx.Client:
        """A new client each time, as cheap as it is."""
        return httpx.Client(transport=self.fake.transport, base_url=self.fake.url)

    def answer(self, path: str, status: int, times: int = 1_000) -> None:
        self._statuses[path] = [status] * times
        self.fake.answer(self._answered)

    def _answered(self, attempt: Attempt) -> Answer:
        left = self._statuses.get(urlsplit(attempt.action["url"]).path)
        return Answer.http(left.pop() if left else 200)

    def arrived(self, path: str) -> list[Mapping[str, str]]:
        return [one.headers for one in self.fake.handed_over if urlsplit(one.action["url"]).path == path]

    def now(self) -> datetime:
        return self.fake.now

    def pass_time(self, seconds: float) -> None:
        self.fake.advance(timedelta(seconds=seconds))


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_fake_does_as_a_stack_does(name: str) -> None:
    SCENARIOS[name](Api(Fake(FakeDelayer()), f"/{name}"))
