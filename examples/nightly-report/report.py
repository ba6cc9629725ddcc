"""A nightly report: a series that is put at each deployment, and a receiver that knows for which night it is asked."""

import json
import os
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from delayer_client import Delayer, HttpRequest, Repeat, Retry

NIGHTLY = Repeat(cron="30 2 * * *", time_zone="Europe/Lisbon", on_missed="once")
PORT = int(os.environ.get("PORT", "8001"))


def deploy(delayer: Delayer, url: str) -> str:
    """Creates the series, or gives it what has changed: so it can stand in any deployment. Returns its id."""
    put = delayer.series.replace(
        "nightly-report",
        NIGHTLY,
        HttpRequest(url=url, timeout_seconds=25),
        payload={"night": "<delayer.occurrence.time>"},
        overlap="skip",  # a report that takes longer than a day is not begun a second time
        retry=Retry(max_attempts=5),
    )
    return put.id


def server(report: Callable[[str], None], port: int = PORT) -> ThreadingHTTPServer:
    """Answers Delayer's calls: `report` gets the night as an instant in UTC."""

    class Reports(BaseHTTPRequestHandler):
        """Whatever `report` raises is answered 500, and tried again."""

        def do_POST(self) -> None:
            """One attempt."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                report(body["night"])
            except Exception as error:  # noqa: BLE001 - whatever it is, it is to be tried again
                print("The report has failed:", error, flush=True)
                self.send_response(500)
            else:
                self.send_response(204)
            self.end_headers()

    return ThreadingHTTPServer(("127.0.0.1", port), Reports)


if __name__ == "__main__":
    with server(lambda night: print("The report of", night, flush=True)) as reports:
        delayer = Delayer()
        series = deploy(delayer, f"http://127.0.0.1:{PORT}/")
        print("The next nights:", *delayer.series.next(series, 3).times, sep="\n  ", flush=True)
        delayer.series.run_now(series)
        reports.serve_forever()
