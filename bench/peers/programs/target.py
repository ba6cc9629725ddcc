"""The action of every other scheduler: a POST to the target, which takes the id of the schedule from a header."""

import http.client
import threading
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 10


class Connection(threading.local):
    """One for each thread of each process, and kept alive."""

    def __init__(self) -> None:
        self.host = ""
        self.open: http.client.HTTPConnection | None = None

    def to(self, host: str) -> http.client.HTTPConnection:
        """The connection to this host and port."""
        if self.open is None or self.host != host:
            self.host, self.open = host, http.client.HTTPConnection(host, timeout=TIMEOUT_SECONDS)
        return self.open


CONNECTION = Connection()


def send(url: str, schedule_id: str) -> None:
    """Make the request; an OSError or an HTTPException if it was not answered."""
    parts = urlsplit(url)
    connection = CONNECTION.to(parts.netloc)
    headers = {"Idempotency-Key": schedule_id, "Content-Type": "application/json"}
    try:
        connection.request("POST", parts.path, b'{"benchmark": true}', headers)
        connection.getresponse().read()
    except (OSError, http.client.HTTPException):
        connection.close()  # the next request opens it again
        raise
