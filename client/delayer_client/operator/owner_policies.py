"""Owner policies say what owners may do: set, show, list, try and remove them (ADR 0107)."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from delayer_client.operator.bulk import Ask


class OwnerPolicies:
    """Of one stack. Without an owner a call is about the default, which counts for all who have none of their own.

    Answers are those of the function, in its own words. A change counts after ten seconds. Each call raises Refused,
    Interrupted, NotAllowed, NoStack, NoCredentials.
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def get(self, owner: str = "") -> dict[str, Any]:
        """`policy` (None without one), `revision` (0 without one), and what `counts` together with the default."""
        return self.ask({"command": "show", "owner": owner})

    def list(self) -> Iterator[dict[str, Any]]:
        """The owners that have one, page by page, each with its `policy` and `revision`; the default is not there."""
        return islice(self.all(), 1, None)

    def all(self) -> Iterator[dict[str, Any]]:
        """The default, whose `owner` is empty, also if it has no policy; and then as `list`."""
        answer = self.ask({"command": "list"})
        yield {"owner": "", **answer["default"]}
        yield from answer["owners"]
        while after := answer.get("next"):
            answer = self.ask({"command": "list", "after": after})
            yield from answer["owners"]

    def set(self, policy: Mapping[str, Any], owner: str = "", *, revision: int = 0, by: str = "") -> dict[str, Any]:
        """In the place of the one whose revision was shown; Refused if that is another one by now."""
        event = {"command": "set", "owner": owner, "policy": dict(policy), "over": revision}
        return self.ask(event | ({"by": by} if by else {}))

    def remove(self, owner: str = "", *, revision: int, by: str = "") -> dict[str, Any]:
        """From then on the default counts; Refused if the revision is another one by now."""
        return self.ask({"command": "remove", "owner": owner, "over": revision} | ({"by": by} if by else {}))

    def try_out(
        self, schedule: Mapping[str, Any] | str, owner: str = "", *, policy: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Whether the body of a POST would be `allowed`, or by which `rule` not; by `policy`, or what counts now."""
        body = schedule if isinstance(schedule, str) else json.dumps(schedule)
        event: dict[str, Any] = {"command": "try", "owner": owner, "schedule": body}
        return self.ask(event | ({"policy": dict(policy)} if policy is not None else {}))
