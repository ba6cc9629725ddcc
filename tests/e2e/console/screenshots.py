"""Takes the pictures of docs/use/console.md anew, in light and dark: `make screenshots`."""

import random
import time
from datetime import timedelta
from pathlib import Path

from delayer_client import Delayer, HttpRequest, Repeat, Retry
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.browser.chromium import Screen, chromium
from tests.cfn import ROOT
from tests.e2e.console.browser import visit

ASSETS = ROOT / "docs" / "assets"
LIKELY = random.Random(7)


def main() -> None:
    """A stack, some schedules of a shop, and half a minute."""
    with Receiver() as receiver, EmulatedStack(port=21100) as stack, Delayer(stack.api_url) as delayer:
        retried = fill(delayer, HttpRequest(url=f"{receiver.url}/hook", keep_answer=True), stack.api_url)
        time.sleep(35)
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            screen = Screen(scheme=scheme, width=1120)
            with chromium() as browser, visit(browser, stack.api_url, screen) as seen:
                for name, path, height in (("now", "", 1290), ("schedule", f"/schedules/{retried}", 900)):
                    page = seen.open(path)
                    page.set_viewport_size({"width": 1120, "height": height})
                    page.wait_for_timeout(500)
                    taken(ASSETS / f"console-{name}{suffix}.png", page.screenshot())


def fill(delayer: Delayer, hook: HttpRequest, base: str) -> str:
    """The id of one that is attempted again and again."""
    for number in range(40):
        delay = LIKELY.uniform(8, 30)
        delayer.schedule(hook, delay=delay, name=f"order-{1700 + number}", group="orders", tags={"team": "shop"})
    for number in range(60):
        delay = LIKELY.uniform(60, 840)
        delayer.schedule(hook, delay=delay, name=f"invoice-{2001 + number}", group="invoices", tags={"team": "billing"})
    for number in range(3):
        delayer.schedule(HttpRequest(url=f"{base}/nowhere"), delay=8, name=f"crm-sync-{number}", group="crm")
    delayer.series.create(Repeat(cron="0 9 * * MON-FRI", time_zone="Europe/Lisbon"), hook, name="morning-report")
    delayer.schedule(hook, delay=timedelta(days=14), name="trial-4711")
    refused = HttpRequest(url="http://127.0.0.1:1/charge", keep_answer=True)
    rest = Retry(max_attempts=6)
    return delayer.schedule(
        refused, delay=8, payload={"payment": 17}, name="payment-17", group="payments", retry=rest
    ).id


def taken(path: Path, picture: bytes) -> None:
    """Says how large it is."""
    path.write_bytes(picture)
    print(f"{path.relative_to(ROOT)}: {len(picture) / 1000:.0f} KB")


if __name__ == "__main__":
    main()
