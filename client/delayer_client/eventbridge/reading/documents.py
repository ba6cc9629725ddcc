"""Documents of AWS by what they are: one that `aws` prints is known by its fields."""

from collections.abc import Iterable, Mapping
from shlex import quote
from typing import Any, Final, TypeVar

import msgspec

from delayer_client.eventbridge.reading.sources import (
    ApiDestination,
    Connection,
    Found,
    Gap,
    ReadingError,
    Rule,
    RuleTarget,
    Schedule,
)

KNOWN: Final = (
    "aws scheduler get-schedule, aws scheduler list-schedules, aws events list-rules, aws events describe-rule, "
    "aws events list-targets-by-rule, aws events describe-api-destination, aws events describe-connection"
)
_Shape = TypeVar("_Shape")


def shaped(value: Any, shape: type[_Shape], where: str) -> _Shape:
    """A structure of AWS's. Times may be texts, as version 2 of `aws` prints them, or seconds. Raises ReadingError."""
    try:
        return msgspec.convert(_without_nulls(value), shape, strict=False)
    except msgspec.ValidationError as error:
        raise ReadingError(f"{where}: not what AWS prints: {error}") from error


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """Targets of a rule; there may be several pages of them."""

    where: str
    rule: str
    targets: tuple[RuleTarget, ...]
    is_cut_off: bool  # others follow. Whether they were read as well, nothing says


class Collecting:
    """Collects the objects that were read so far. Targets are kept apart until the rules are known that
    they belong to.
    """

    def __init__(self) -> None:
        self._schedules: dict[tuple[str, str, str], Schedule] = {}
        self._listed: dict[tuple[str, str, str], str] = {}
        self._rules: dict[tuple[str, str], Rule] = {}
        self._targets: list[_Page] = []
        self._cut_off: set[tuple[str, str]] = set()
        self._destinations: dict[str, ApiDestination] = {}
        self._connections: dict[str, Connection] = {}
        self.gaps: list[Gap] = []

    def add(self, document: Any, where: str, rule_name: str) -> None:
        """One document; `rule_name` is the rule that targets belong to. Raises ReadingError."""
        if not isinstance(document, Mapping):
            raise ReadingError(f"{where}: not an object. It has to be what one of these prints: {KNOWN}")
        is_cut_off = bool(document.get("NextToken"))
        if is_cut_off:
            remedy = "Print it again, without --max-items and --no-paginate."
            self.gaps.append(Gap(what=where, why="The list is cut off: it has a NextToken.", remedy=remedy))
        if "Schedules" in document:
            self._list_schedules(document["Schedules"], where)
        elif document.keys() >= {"Target", "ScheduleExpression"}:
            self.add_schedule(shaped(document, Schedule, where))
        elif "Targets" in document and "Name" not in document:
            targets = shaped(document["Targets"], tuple[RuleTarget, ...], f"{where}, in Targets")
            self._targets.append(_Page(where=where, rule=rule_name, targets=targets, is_cut_off=is_cut_off))
        else:
            self._add_other(document, where, is_cut_off=is_cut_off)

    def add_schedule(self, schedule: Schedule) -> None:
        """With its target."""
        self._schedules[(_place(schedule.arn), schedule.group_name, schedule.name)] = schedule

    def add_rule(self, rule: Rule) -> None:
        """The targets that are known of it stay."""
        key = (rule.arn or rule.event_bus_name, rule.name)
        known = self._rules.get(key)
        self._rules[key] = rule if known is None else _with(rule, known.targets, rule.targets)

    def add_destination(self, destination: ApiDestination) -> None:
        """By its ARN."""
        self._destinations[destination.api_destination_arn] = destination

    def add_connection(self, connection: Connection) -> None:
        """By its ARN."""
        self._connections[connection.connection_arn] = connection

    def found(self) -> Found:
        """Raises ReadingError if targets belong to no rule that was read, or to several."""
        for page in self._targets:
            self._give(page)
        unread = [name for key, name in self._listed.items() if key not in self._schedules]
        return Found(
            schedules=tuple(self._schedules.values()),
            rules=tuple(self._rules.values()),
            destinations=self._destinations,
            connections=self._connections,
            cut_off=frozenset(self._cut_off),
            gaps=(*self.gaps, *map(_unread, unread)),
        )

    def _list_schedules(self, listed: Any, where: str) -> None:
        for one in shaped(listed, list[dict[str, Any]], f"{where}, in Schedules"):
            name, group = str(one.get("Name", "")), str(one.get("GroupName", "default"))
            self._listed[(_place(str(one.get("Arn", ""))), group, name)] = f"{group}/{name}"

    def _add_other(self, document: Mapping[str, Any], where: str, *, is_cut_off: bool) -> None:
        if "Rules" in document:
            for rule in shaped(document["Rules"], list[Rule], f"{where}, in Rules"):
                self.add_rule(rule)
        elif "InvocationEndpoint" in document:
            self.add_destination(shaped(document, ApiDestination, where))
        elif "AuthorizationType" in document:
            self.add_connection(shaped(document, Connection, where))
        elif "Name" in document and document.keys() & {"ScheduleExpression", "EventPattern"}:
            rule = shaped(document, Rule, where)
            self.add_rule(rule)
            self._cut_off |= {_of_bus(rule)} if is_cut_off else set()
        else:
            raise ReadingError(f"{where}: not known by its fields. It has to be what one of these prints: {KNOWN}")

    def _give(self, page: _Page) -> None:
        name = page.rule
        keys = [key for key, rule in self._rules.items() if rule.name == name]
        if len(keys) != 1:
            problem = f"{len(keys)} rules of this name were read" if keys else "no rule of this name was read"
            raise ReadingError(
                f"{page.where}: list-targets-by-rule does not say of which rule these targets are, so the file has to "
                f"be called like it, such as {name or 'nightly'}.json or {name or 'nightly'}.targets.json; {problem}. "
                f"Read the rules (list-rules or describe-rule) together with it, one bus at a time."
            )
        rule = self._rules[keys[0]]
        self._rules[keys[0]] = _with(rule, rule.targets, page.targets)
        self._cut_off |= {_of_bus(rule)} if page.is_cut_off else set()


def _with(rule: Rule, *pages: tuple[RuleTarget, ...] | None) -> Rule:
    """With the targets of all pages; of two with the same id the latter."""
    read = [page for page in pages if page is not None]
    targets = {target.id: target for page in read for target in page}
    return msgspec.structs.replace(rule, targets=tuple(targets.values()) if read else None)


def _of_bus(rule: Rule) -> tuple[str, str]:
    return rule.event_bus_name, rule.name


def _unread(name: str) -> Gap:
    if not name.isprintable():
        why = "It is in a list, and its name has control characters, which no name at EventBridge has."
        return Gap(what=f"schedule {name!a}", why=why, remedy="Print the list again.")
    group, _, schedule = name.partition("/")
    return Gap(
        what=f"schedule {name}",
        why="list-schedules shows neither the expression nor the input of a schedule.",
        remedy=f"aws scheduler get-schedule --group-name={quote(group)} --name={quote(schedule)}",
    )


def _place(arn: str) -> str:
    """Region and account: schedules of two places may be called the same."""
    return ":".join(arn.split(":")[3:5])


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_without_nulls(one) for one in value]
    return value
