"""Registers action types, and takes them out, as CloudFormation says (ADR 0088)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.actions import foreign
from delayer.core.actions.action_type import ActionType
from delayer.core.actions.command import Command, Impossible
from delayer.core.actions.registration import (
    Refused,
    Registration,
    Registrations,
    decide_registration,
    has_room,
    reserved,
    without,
)
from delayer.ports.actions import Actions
from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable

ROUNDS: Final = 10  # two deployments write the same type at a time only by mistake


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
            self._take_out(command)
            return command.physical_id
        wanted = self._wanted(command)
        self._write(wanted.type, lambda current: self._decided(wanted, current))
        self.observer.note("action registered", type=wanted.type, stack=wanted.stack, function=wanted.function)
        return f"{wanted.type}/{wanted.token}"

    def _take_out(self, command: Command) -> None:
        """By the physical id. If CloudFormation had to make one up, since it got no answer to Create, by the resource.

        Then there is no older registration of the resource: it was to be created.
        """
        kind, is_ours, token = command.physical_id.partition("/")
        if is_ours:
            self._write(kind, lambda current: without(current, token, command.stack))
        else:
            for kind, known in self.actions.actions().items():
                for one in known:
                    if (one.stack, one.resource) == (command.stack, command.resource):
                        self._write(kind, partial(without, token=one.token, stack=one.stack))
        self.observer.note("action taken out", resource=command.physical_id, stack=command.stack)

    def _wanted(self, command: Command) -> Registration:
        """An update of the same type keeps its token, and so its place; another type is another resource."""
        kind, function = command.text("Type"), command.text("Function")
        if not kind:
            raise Impossible("the property Type is missing")
        known, _, token = command.physical_id.partition("/")
        registration = Registration(
            action=self._described(kind, function, command.stack),
            stack=command.stack,
            token=token if known == kind and token else command.request_id,
            resource=command.resource,
        )
        if command.stack == self.own_stack:
            return evolve(registration, queue=command.text("Queue"))
        return evolve(registration, function=function)

    def _described(self, kind: str, function: str, stack: str) -> ActionType:
        if stack == self.own_stack:
            if kind not in self.built_in:
                raise Impossible(f"no executor of this version has the type {kind!r}")
            return self.built_in[kind]
        if kind in self.built_in:
            raise Impossible(reserved(kind))
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
        decided = decide_registration(wanted, current, own_stack=self.own_stack, reserved_types=self.built_in)
        if isinstance(decided, Refused):
            raise Impossible(decided.reason)
        after = {**self.actions.actions(), wanted.type: decided}
        if wanted.stack != self.own_stack and not has_room(after, self.own_stack):
            raise Impossible("other stacks have registered so much that there is no room for another type")
        return decided

    def _write(self, kind: str, change: Callable[[Registrations], Registrations]) -> None:
        for _ in range(ROUNDS):
            current = self.actions.actions().get(kind, ())
            changed = change(current)
            if changed == current or self.actions.write(kind, changed, current):
                return
        raise Unavailable("others register the same type all the time")
