"""Registers action types, and takes them out, as CloudFormation says (ADR 0088)."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from attrs import evolve, field, frozen

from delayer.core.actions import foreign
from delayer.core.actions.action_type import ActionType
from delayer.core.actions.registration import (
    MOST_FOREIGN,
    Refused,
    Registration,
    Registrations,
    decide_registration,
    without,
)
from delayer.ports.actions import Actions
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable

ROUNDS: Final = 10  # two deployments write the same type at a time only by mistake


class Impossible(ValueError):
    """The command fails; CloudFormation shows the text."""


@frozen(kw_only=True)
class Command:
    """What CloudFormation asks of a custom resource."""

    request: str  # Create, Update or Delete
    request_id: str
    stack: str  # the ARN of the stack that asks
    physical_id: str = ""  # what an earlier answer named the resource; empty for Create
    properties: Mapping[str, Any] = field(factory=dict)


class Describes(Protocol):
    """A function of another stack, asked what the class of its action says."""

    def __call__(self, function: str) -> ActionType:
        """Raises Impossible with the reason, or Unavailable."""
        ...


@frozen(kw_only=True)
class Register:
    """One command. It is safe to repeat it."""

    actions: Actions
    built_in: Mapping[str, ActionType]  # those of Delayer's own stack
    describe: Describes
    observer: Observer
    own_stack: str

    def __call__(self, command: Command) -> str:
        """The physical id of the resource. Raises Impossible, or Unavailable."""
        if command.request == "Delete":
            kind, _, token = command.physical_id.partition("/")
            self._write(kind, lambda current: without(current, token))
            self.observer.note("action taken out", type=kind, stack=command.stack)
            return command.physical_id
        wanted = self._wanted(command)
        self._write(wanted.type, lambda current: self._decided(wanted, current))
        self.observer.note("action registered", type=wanted.type, stack=wanted.stack, function=wanted.function)
        return f"{wanted.type}/{wanted.token}"

    def _wanted(self, command: Command) -> Registration:
        """An update of the same type keeps its token, and so its place; another type is another resource."""
        kind, function = _text(command, "Type"), _text(command, "Function")
        if not kind:
            raise Impossible("the property Type is missing")
        known, _, token = command.physical_id.partition("/")
        registration = Registration(
            action=self._described(kind, function, command.stack),
            stack=command.stack,
            token=token if known == kind and token else command.request_id,
        )
        if command.stack == self.own_stack:
            return evolve(registration, queue=_text(command, "Queue"))
        return evolve(registration, function=function)

    def _described(self, kind: str, function: str, stack: str) -> ActionType:
        if stack == self.own_stack:
            if kind not in self.built_in:
                raise Impossible(f"no executor of this version has the type {kind!r}")
            return self.built_in[kind]
        if not function:
            raise Impossible("the property Function is missing: the ARN of the function that does it")
        action = self.describe(function)
        if action.type != kind:
            raise Impossible(f"the function says that it does {action.type!r}, not {kind!r}")
        try:
            foreign.check(action)
        except foreign.Unsafe as error:
            raise Impossible(str(error)) from error
        return action

    def _decided(self, wanted: Registration, current: Registrations) -> Registrations:
        if wanted.stack != self.own_stack and not current and self._foreign_types() >= MOST_FOREIGN:
            raise Impossible(f"there are {MOST_FOREIGN} types of other stacks already, and there can be no more")
        decided = decide_registration(wanted, current, own_stack=self.own_stack, reserved=self.built_in)
        if isinstance(decided, Refused):
            raise Impossible(decided.reason)
        return decided

    def _foreign_types(self) -> int:
        return sum(one[-1].stack != self.own_stack for one in self.actions.actions().values())

    def _write(self, kind: str, change: Callable[[Registrations], Registrations]) -> None:
        for _ in range(ROUNDS):
            current = self.actions.actions().get(kind, ())
            changed = change(current)
            if changed == current or self.actions.write(kind, changed, current):
                return
        raise Unavailable("others register the same type all the time")


def _text(command: Command, name: str) -> str:
    value = command.properties.get(name, "")
    return value if isinstance(value, str) else ""
