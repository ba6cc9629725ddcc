"""Retries of a payment: a charge that fails is tried again for a week, and never made twice."""

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from delayer_client import Backoff, Delayer, HttpRequest, Retry, Schedule

WEEK = Retry(max_attempts=8, max_age_seconds=7 * 86_400, backoff=Backoff(first=3600, factor=3, max=86_400))
Charge = Callable[[dict[str, Any], str], bool]  # the order, and a key for the bank; False: not now


def charge_later(delayer: Delayer, url: str, order: dict[str, Any], retry: Retry = WEEK) -> Schedule:
    """Makes the charge in a day. One live schedule has the order's name: Conflict says that it is there already."""
    delay = timedelta(days=1) if retry is WEEK else 0
    name = f"order-{order['id']}"
    return delayer.schedule(HttpRequest(url=url), delay=delay, payload=order, retry=retry, name=name, group="payments")


def server(charge: Charge, port: int = 0) -> HTTPServer:
    """Answers Delayer's calls: 503 asks for another attempt."""

    class Charges(BaseHTTPRequestHandler):
        """The bank's key is the order's own: whatever is repeated, by whom and when, it charges once."""

        def do_POST(self) -> None:
            """One attempt."""
            order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            done = charge(order, f"order-{order['id']}")
            self.send_response(204 if done else 503)
            self.end_headers()

    return HTTPServer(("127.0.0.1", port), Charges)


if __name__ == "__main__":
    answers = iter([False, False, True])

    def bank(order: dict[str, Any], key: str) -> bool:
        """Declines twice."""
        done = next(answers, True)
        print(f"order {order['id']}, key {key}: {'charged' if done else 'declined'}", flush=True)
        return done

    with server(bank) as charges:
        quick = Retry(max_attempts=5, backoff=Backoff(first=1, factor=1))
        charge_later(Delayer(), f"http://127.0.0.1:{charges.server_port}/", {"id": sys.argv[1], "amount": 1700}, quick)
        for _ in range(3):
            charges.handle_request()
