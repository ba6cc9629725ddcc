"""A reminder service: POST /reminders makes one, DELETE /reminders/{name} takes it back, and in time it arrives."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from delayer_client import Conflict, Delayer, HttpRequest, Invalid, NotFound
from delayer_client.webhooks import NotVerified, verify


class Reminders(BaseHTTPRequestHandler):
    """The routes. `delayer` is set by `serve`."""

    delayer: Delayer

    def do_POST(self) -> None:
        """POST /reminders: {"name", "text", "in": seconds}; POST /due: Delayer's call, signed."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/due":
            return self.due(body)
        wish = {"name": "", "in": -1, **json.loads(body)}
        target = HttpRequest(url=f"http://127.0.0.1:{self.server.server_address[1]}/due")
        try:
            made = self.delayer.schedule(target, delay=wish["in"], payload=wish, name=f"reminder-{wish['name']}")
            return self.answer(201, f"You will be reminded at {made.point_in_time}.")
        except (Invalid, Conflict) as error:
            return self.answer(error.status, str(error))

    def do_DELETE(self) -> None:
        """DELETE /reminders/{name}: says the truth."""
        try:
            cancelled = self.delayer.cancel_named(f"reminder-{self.path.rpartition('/')[2]}")
            self.answer(200 if cancelled else 409, "Taken back." if cancelled else f"Too late: {cancelled.reason}.")
        except NotFound as error:
            self.answer(404, str(error))

    def due(self, body: bytes) -> None:
        """Shows it, if the request is Delayer's."""
        try:
            verify(body, dict(self.headers), self.delayer.signing_secret().current)
        except NotVerified as error:
            return self.answer(401, str(error))
        print("Reminder:", json.loads(body)["text"], flush=True)
        return self.answer(204, "")

    def answer(self, status: int, text: str) -> None:
        """One line of text."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def serve(delayer: Delayer, port: int) -> ThreadingHTTPServer:
    """A server that is not running yet."""
    return ThreadingHTTPServer(("127.0.0.1", port), type("Routes", (Reminders,), {"delayer": delayer}))


if __name__ == "__main__":
    serve(Delayer(), 8000).serve_forever()
