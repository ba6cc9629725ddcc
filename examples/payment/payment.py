"""Retries of a payment: a charge that fails is tried again for a week, and never made twice."""

import json
import sys
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from delayer_client import Backoff, Delayer, HttpRequest, Retry, Schedule

WEEK = Retry(max_attempts=8, max_age_seconds=7 * 86_400, backoff=Backoff(first=3600, factor=3, max=86_400))
Charge = Callable[[dict[str, Any], str], bool]  # the order, and a key for the bank; False: not now


def charge_later(delayer: Delayer, url: str, order: dict[str, Any], retry: Retry = WEEK) -> Schedule:
    """Makes the charge in a day. The key is the order's own, so an order is never charged twice by mistake."""
    return delayer.schedule(
        HttpRequest(url=url),
        delay=timedelta(days=1) if retry is WEEK else 0,
        payload=order,
        retry=retry,
        idempotency_key=f"order-{order['id']}",
        group="payments",
    )


def server(charge: Charge, port: int = 0) -> ThreadingHTTPServer:
    """Answers Delayer's calls: 503 asks for another attempt."""

    class Charges(BaseHTTPRequestHandler):
        """The key is the same for all attempts of a schedule: a bank that knows it does not charge again."""

        def do_POST(self) -> None:
            """One attempt."""
            order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            done = charge(order, self.headers["Idempotency-Key"])
            self.send_response(204 if done else 503)
            self.end_headers()

    return ThreadingHTTPServer(("127.0.0.1", port), Charges)


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
