"""Suspensions, circuits and limits make schedules wait although they are due (ADR 0110, ADR 0111, ADR 0114)."""

from typing import Any

from delayer_client.operator.bulk import Ask


class Flow:
    """Of one stack. Answers are those of the function, in its own words; to repeat a command does no harm.

    A call is about an owner, a target, or both; without an owner about all owners, without a target about all targets.
    A target is a host (api.example.com), a host with its port, or a type of action and what names its target
    ("sqs-send https://sqs…"), as `list` shows it. Each call raises Refused, Interrupted, NotAllowed, NoStack,
    NoCredentials.
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def list(self) -> dict[str, Any]:
        """`suspensions`, `circuits`, `limits`, `malformed`, and `delayerQueue` with what is `ready` and `delayed`."""
        return self.ask({"command": "list"})

    def suspend(self, *, owner: str = "", target: str = "", reason: str, by: str = "") -> dict[str, Any]:
        """Lets all that is due for them wait; `changed`, `suspension`. The owners of what waits read the reason."""
        return self._ask("suspend", owner=owner, target=target, reason=reason, by=by)

    def release(self, *, owner: str = "", target: str = "", by: str = "") -> dict[str, Any]:
        """Exactly this suspension: `released`, `stillSuspended`. What waits fires within 15 minutes."""
        return self._ask("release", owner=owner, target=target, by=by)

    def close(self, *, owner: str = "", target: str = "", by: str = "") -> dict[str, Any]:
        """The circuits, before they are probed: `closed`."""
        return self._ask("close", owner=owner, target=target, by=by)

    def limit(
        self,
        *,
        owner: str = "",
        target: str = "",
        connection: str = "",
        rate: str = "",
        concurrency: str = "",
        by: str = "",
    ) -> dict[str, Any]:
        """How often (10/s, 30/m, 100/h), or how many times at once, they are reached: `changed`, `limit`."""
        return self._ask(
            "limit", owner=owner, target=target, connection=connection, rate=rate, concurrency=concurrency, by=by
        )

    def unlimit(self, *, owner: str = "", target: str = "", connection: str = "", by: str = "") -> dict[str, Any]:
        """Takes a limit away: `removed`. Schedules that wait because of it fire within 15 minutes."""
        return self._ask("unlimit", owner=owner, target=target, connection=connection, by=by)

    def discard(self, block: str, *, by: str = "") -> dict[str, Any]:
        """A row that this version cannot read, as `list` shows it under `malformed`: `discarded`."""
        return self._ask("discard", block=block, by=by)

    def _ask(self, command: str, **given: str) -> dict[str, Any]:
        return self.ask({"command": command} | {name: text for name, text in given.items() if text})
