"""A send is repeated only if it surely did not arrive (ADR 0084, 0089).

botocore repeats a request whose answer was lost. For a message on its way through Delayer that would be a second
message with the same fencing token; for a target, a second hand-over that nobody counts.
"""

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from attrs import define, field
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

# Of SQS. A message that is given back twice would be visible while another function has it: the second time is late.
SENDS: Final = ("SendMessage", "SendMessageBatch", "ChangeMessageVisibilityBatch")
NO_CONNECTION: Final = (EndpointConnectionError, ConnectTimeoutError)
THROTTLED: Final = frozenset({"RequestThrottled", "Throttling", "ThrottlingException"})  # said with a 5xx, too
IDLE: Final = 10  # seconds that a connection may be unused; AWS closes it after a time that it does not name

wall_clock: Final = time.time  # it goes on while Lambda has frozen the function


def sent_once(client: Any, *operations: str) -> Any:
    """The same client, whose `operations` send something."""
    service = client.meta.service_model.service_id.hyphenize()
    fresh = _FreshConnections(client=client)
    client.meta.events.register(f"request-created.{service}", fresh.before_request)
    for operation in operations:
        client.meta.events.register_first(f"needs-retry.{service}.{operation}", _stop_if_it_may_have_arrived)
    return client


def _stop_if_it_may_have_arrived(
    response: tuple[Any, Mapping[str, Any]] | None, caught_exception: Exception | None, **_: object
) -> bool | None:
    """False: no further attempt. None: botocore decides, as for any other request.

    An answer with 4xx is a refusal. An answer with 5xx tells nothing: the message may have been stored before.
    """
    if response is None:
        return None if isinstance(caught_exception, NO_CONNECTION) else False
    http, parsed = response
    return None if http.status_code < 500 or parsed.get("Error", {}).get("Code") in THROTTLED else False


@define(kw_only=True)
class _FreshConnections:
    """Lets go of the connections after a pause.

    A request on a connection that AWS has closed meanwhile fails in a way that could as well be a lost answer. So a
    send could not be repeated, and its schedule would be late by a visibility timeout.
    """

    client: Any
    _used: float = 0
    _lock: Lock = field(factory=Lock)

    def before_request(self, **_: object) -> None:
        """In the thread that makes the request."""
        with self._lock:
            unused, self._used = wall_clock() - self._used, wall_clock()
            if unused > IDLE:
                self.client.close()  # its connections; the next request opens one
