"""An engine with something of everything, and a browser."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from attrs import frozen
from playwright.sync_api import Browser

from delayer_client import Delayer, HttpRequest, Repeat, Retry
from local.receiver import Receiver
from tests.browser.chromium import chromium, require_chromium
from tests.e2e.client import until
from tests.e2e.engine import RunningEngine


@frozen(kw_only=True)
class World:
    """What there is to be looked at."""

    base: str
    mark: str
    delayer: Delayer
    hook: HttpRequest
    fired: str
    failed: str
    retried: str
    far: str
    series: str

    def name(self, name: str) -> str:
        """That of a schedule or a series here."""
        return f"{self.mark}-{name}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def world(engine: RunningEngine, receiver: Receiver) -> Iterator[World]:
    """Schedules some of which have fired, failed and been attempted."""
    require_chromium()
    base, mark = f"http://localhost:{engine.port}", "console"
    hook = HttpRequest(url=f"{receiver.url}/console", keep_answer=True)
    with Delayer(base) as delayer:
        fired = [delayer.schedule(hook, delay=1, group="orders", tags={"team": "billing"}) for _ in range(5)]
        failed = delayer.schedule(HttpRequest(url=f"{base}/nowhere", keep_answer=True), delay=1, name=f"{mark}-refused")
        refused = HttpRequest(url="http://127.0.0.1:1/refused")
        retried = delayer.schedule(refused, delay=1, name=f"{mark}-retried", retry=Retry(max_attempts=9))
        far = delayer.schedule(hook, delay=timedelta(days=2), name=f"{mark}-far", payload={"order": 17})
        rule = Repeat(cron="0 9 * * MON-FRI", time_zone="Europe/Lisbon")
        series = delayer.series.create(rule, hook, name=f"{mark}-series")
        delayer.series.run_now(series.id)
        delayer.wait(fired[-1].id, timeout=60)
        delayer.wait(failed.id, timeout=60)
        wait_for_attempt(delayer, retried.id)
        wait_for_journal(delayer, fired[-1].id)
        yield World(
            base=base,
            mark=mark,
            delayer=delayer,
            hook=hook,
            fired=fired[-1].id,
            failed=failed.id,
            retried=retried.id,
            far=far.id,
            series=series.id,
        )


def wait_for_attempt(delayer: Delayer, schedule_id: str) -> None:
    """It has failed once, and is to be made again."""
    until(lambda: delayer.get(schedule_id).history or [], lambda found: any(one.attempt == 1 for one in found), 60)


def wait_for_journal(delayer: Delayer, schedule_id: str) -> None:
    """The list comes from it."""
    until(lambda: any(one.id == schedule_id for one in delayer.list()))
