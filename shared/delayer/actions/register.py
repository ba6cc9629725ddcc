"""Registers action types, and takes them out, as CloudFormation says (ADR 0088)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from attrs import evolve, frozen

from delayer.actions.ports import Actions
from delayer.actions.rules import foreign
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import (
    CannotRegister,
    Command,
    Registration,
    RegistrationRefused,
    Registrations,
    decide_registration,
    has_room,
    reserved,
    without,
)
from delayer.engines.ports import Observer, Unavailable

ROUNDS: Final = 10  # two deployments write the same type at a time only by mistake


@frozen(kw_only=True)
class Register:
    """One command. It is safe to repeat it."""

    action_rows: Actions
    built_in: Mapping[str, ActionType]  # those of Delayer's own stack
    # A function of another stack, asked what its class says. Raises CannotRegister with the reason, or Unavailable.
    describe: Callable[[str], ActionType]
    observer: Observer
    stack_id: str

    def __call__(self, command: Command) -> str:
        """The physical id of the resource. Raises CannotRegister, or Unavailable."""
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
            for kind, known in self.action_rows.actions().items():
                for one in known:
                    if (one.stack, one.resource) == (command.stack, command.resource):
                        self._write(kind, partial(without, token=one.token, stack=one.stack))
        self.observer.note("action taken out", resource=command.physical_id, stack=command.stack)

    def _wanted(self, command: Command) -> Registration:
        """An update of the same type keeps its token, and so its place; another type is another resource."""
        kind, function = command.text("Type"), command.text("Function")
        if not kind:
            raise CannotRegister("the property Type is missing")
        known, _, token = command.physical_id.partition("/")
        registration = Registration(
            action=self._described(kind, function, command.stack),
            stack=command.stack,
            token=token if known == kind and token else command.request_id,
            resource=command.resource,
        )
        if command.stack == self.stack_id:
            return evolve(registration, queue=command.text("Queue"))
        return evolve(registration, function=function)

    def _described(self, kind: str, function: str, stack: str) -> ActionType:
        if stack == self.stack_id:
            if kind not in self.built_in:
                raise CannotRegister(f"no executor of this version has the type {kind!r}")
            return self.built_in[kind]
        if kind in self.built_in:
            raise CannotRegister(reserved(kind))
        if not function:
            raise CannotRegister("the property Function is missing: the ARN of the function that does it")
        action = self.describe(function)
        if action.type != kind:
            raise CannotRegister(f"the function says that it does {action.type!r}, not {kind!r}")
        try:
            foreign.check(action)
        except foreign.Unsafe as error:
            raise CannotRegister(str(error)) from error
        return action

    def _decided(self, wanted: Registration, current: Registrations) -> Registrations:
        decided = decide_registration(wanted, current, own_stack=self.stack_id, reserved_types=self.built_in)
        if isinstance(decided, RegistrationRefused):
            raise CannotRegister(decided.reason)
        after = {**self.action_rows.actions(), wanted.type: decided}
        if wanted.stack != self.stack_id and not has_room(after, self.stack_id):
            raise CannotRegister("other stacks have registered so much that there is no room for another type")
        return decided

    def _write(self, kind: str, change: Callable[[Registrations], Registrations]) -> None:
        for _ in range(ROUNDS):
            current = self.action_rows.actions().get(kind, ())
            changed = change(current)
            if changed == current or self.action_rows.write(kind, changed, current):
                return
        raise Unavailable("others register the same type all the time")
