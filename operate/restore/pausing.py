"""Pauses a stack and lets it go on: event source mappings, the schedule of the minute task, the API's functions."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from attrs import define, field, frozen

ROW: Final = "paused"  # in the control table: what was running before, for whoever lets the stack go on
API: Final = "-api-"  # in the name of a function of the API
POLL: Final = 1.0  # seconds
LONGEST_CHANGE: Final = 300  # seconds in which a mapping has to be disabled
Client = Callable[[str], Any]


class NotPaused(Exception):
    """The stack could not be paused, or could not go on; the text says what."""


@frozen(kw_only=True)
class Parts:
    """The parts that a stack runs by, by their names in AWS."""

    mappings: tuple[str, ...]
    schedules: tuple[str, ...]
    functions: tuple[str, ...]


@define(kw_only=True)
class Pause:
    """Of one stack. Both commands may be repeated."""

    client: Client  # a boto3 client by its service's name
    stack: str
    control_table: str
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], int] = lambda: int(time.time())
    parts: Parts = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.parts = parts_of(self.client("cloudformation"), self.stack)

    def pause(self, everything: bool) -> int:
        """Stop the minute task; with `everything` the mappings and the API, too. Seconds until nothing runs any more.

        What has begun may run until its timeout is over.
        """
        before = self.noted()
        running = [one for one in self.parts.schedules if self._state_of(one) == "ENABLED"]
        enabled = [uuid for uuid in self.parts.mappings if self._is_enabled(uuid)] if everything else []
        limits = {name: self._limit(name) for name in self._api()} if everything else {}
        began = self.now() if running or enabled or any(limits.values()) else before["at"]
        self._note(
            at=began,
            schedules=[*before["schedules"], *running],
            mappings=[*before["mappings"], *enabled],
            functions={**limits, **before["functions"]},
        )
        for name in running:
            self._switch_schedule(name, "DISABLED")
        for name in limits:
            self.client("lambda").put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
        for uuid in enabled:
            self.client("lambda").update_event_source_mapping(UUID=uuid, Enabled=False)
        self._wait_for(enabled, "Disabled")
        return max(began + self._longest_run() - self.now(), 0)

    def resume(self) -> bool:
        """Let everything go on that was running before. False if nothing was paused."""
        before = self.noted()
        functions = self.client("lambda")
        for name, limit in before["functions"].items():
            if limit < 0:
                functions.delete_function_concurrency(FunctionName=name)
            else:
                functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=limit)
        for uuid in before["mappings"]:
            functions.update_event_source_mapping(UUID=uuid, Enabled=True)
        for name in before["schedules"]:
            self._switch_schedule(name, "ENABLED")
        self._wait_for(before["mappings"], "Enabled")
        self.client("dynamodb").delete_item(TableName=self.control_table, Key={"name": {"S": ROW}})
        return int(before["at"]) > 0

    def noted(self) -> dict[str, Any]:
        """The parts that were running before the stack was paused; nothing if it is not."""
        answer = self.client("dynamodb").get_item(
            TableName=self.control_table, Key={"name": {"S": ROW}}, ConsistentRead=True
        )
        row = answer.get("Item", {})
        return {
            "at": int(row.get("at", {"N": "0"})["N"]),
            "schedules": [one["S"] for one in row.get("schedules", {"L": []})["L"]],
            "mappings": [one["S"] for one in row.get("mappings", {"L": []})["L"]],
            "functions": {name: int(one["N"]) for name, one in row.get("functions", {"M": {}})["M"].items()},
        }

    def _note(self, at: int, schedules: Iterable[str], mappings: Iterable[str], functions: Mapping[str, int]) -> None:
        """Before anything is stopped: whoever comes after a crash finds it."""
        item = {
            "name": {"S": ROW},
            "at": {"N": str(at)},
            "schedules": {"L": [{"S": one} for one in dict.fromkeys(schedules)]},
            "mappings": {"L": [{"S": one} for one in dict.fromkeys(mappings)]},
            "functions": {"M": {name: {"N": str(limit)} for name, limit in functions.items()}},
        }
        self.client("dynamodb").put_item(TableName=self.control_table, Item=item)

    def _api(self) -> list[str]:
        return [name for name in self.parts.functions if API in name]

    def _limit(self, name: str) -> int:
        """Its reserved concurrency; -1 if it has none."""
        answer = self.client("lambda").get_function_concurrency(FunctionName=name)
        return int(answer.get("ReservedConcurrentExecutions", -1))

    def _is_enabled(self, uuid: str) -> bool:
        state: str = self.client("lambda").get_event_source_mapping(UUID=uuid)["State"]
        return state in ("Enabled", "Enabling", "Creating", "Updating")

    def _longest_run(self) -> int:
        """Seconds that an invocation which has begun may still take."""
        functions = self.client("lambda")
        timeouts = [functions.get_function_configuration(FunctionName=name)["Timeout"] for name in self.parts.functions]
        return max(timeouts, default=0)

    def _state_of(self, schedule: str) -> str:
        state: str = self.client("events").describe_rule(Name=schedule)["State"]
        return state

    def _switch_schedule(self, name: str, state: str) -> None:
        rules = self.client("events")
        if state == "ENABLED":
            rules.enable_rule(Name=name)
        else:
            rules.disable_rule(Name=name)

    def _wait_for(self, uuids: Iterable[str], state: str) -> None:
        functions = self.client("lambda")
        waiting, waited = list(uuids), 0.0
        while waiting:
            waiting = [one for one in waiting if functions.get_event_source_mapping(UUID=one)["State"] != state]
            if waiting and waited > LONGEST_CHANGE:
                raise NotPaused(f"{len(waiting)} event source mappings do not become {state}; try again")
            if waiting:
                self.sleep(POLL)
                waited += POLL


def parts_of(cloudformation: Any, stack: str) -> Parts:
    """The parts of the stack, as CloudFormation lists them."""
    found: dict[str, list[str]] = {}
    for page in cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack):
        for one in page["StackResourceSummaries"]:
            found.setdefault(one["ResourceType"], []).append(one["PhysicalResourceId"])
    return Parts(
        mappings=tuple(sorted(found.get("AWS::Lambda::EventSourceMapping", ()))),
        schedules=tuple(sorted(found.get("AWS::Events::Rule", ()))),
        functions=tuple(sorted(found.get("AWS::Lambda::Function", ()))),
    )
