"""What CloudFormation does to the registrations of a type, in every order that its rules allow."""

from collections.abc import Sequence

import pytest
from attrs import define, evolve, field
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from delayer.actions.register import Register
from delayer.actions.repository import StoredActions
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import (
    KEPT_FREE,
    LARGEST_ROW,
    MOST,
    MOST_BYTES,
    MOST_FOREIGN,
    CannotRegister,
    Command,
    Registration,
    RegistrationRefused,
    decide_registration,
    has_room,
    most_bytes,
    name_of,
)
from delayer.engines.memory import MemoryObserver
from tests.tables import on_sqlite

OWN = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b"
REPORTS = "arn:aws:cloudformation:eu-west-1:123456789012:stack/reports/1a2b"
OTHERS = "arn:aws:cloudformation:eu-west-1:123456789012:stack/others/2a3b"


def an_action(kind: str = "slack-post", payload: str = "") -> ActionType:
    schema = (
        f'{{"type":"object","required":["type"],"additionalProperties":false,'
        f'"properties":{{"type":{{"const":"{kind}"}}}}}}'
    )
    return ActionType(type=kind, schema=schema, payload=payload)


def a_registration(kind: str = "slack-post", stack: str = REPORTS, token: str = "1", **more: str) -> Registration:
    return Registration(action=an_action(kind), stack=stack, token=token, **more)


def test_the_types_of_delayer_are_reserved() -> None:
    """Whether they are registered or not."""
    decided = decide_registration(a_registration("sqs-send"), (), own_stack=OWN, reserved_types={"sqs-send"})
    assert decided == RegistrationRefused("the type 'sqs-send' is one of Delayer's own: choose another")
    own = a_registration("sqs-send", stack=OWN)
    assert decide_registration(own, (), own_stack=OWN, reserved_types={"sqs-send"}) == (own,)


def test_a_type_belongs_to_the_stack_that_registered_it() -> None:
    decided = decide_registration(a_registration(stack=OTHERS), (a_registration(),), own_stack=OWN, reserved_types=())
    assert decided == RegistrationRefused("the type 'slack-post' belongs to the stack reports")


def test_a_stack_is_called_by_its_name() -> None:
    assert [name_of(one) for one in (REPORTS, "no ARN", "")] == ["reports", "no ARN", ""]


def test_what_other_stacks_register_has_a_limit() -> None:
    """Whoever reads the types reads them all."""
    full = {f"kind-{number}": (a_registration(f"kind-{number}"),) for number in range(MOST_FOREIGN)}
    assert has_room({**full, "own": (a_registration("own", stack=OWN),)}, OWN)
    assert not has_room({**full, "more": (a_registration("more"),)}, OWN)
    large = evolve(a_registration(), action=an_action(payload=" " * MOST_BYTES))
    assert not has_room({"slack-post": (large,)}, OWN)
    assert has_room({"slack-post": (evolve(large, stack=OWN),)}, OWN)


def test_the_limit_is_one_of_bytes() -> None:
    """A character of a description may have four."""
    of_four = {
        f"kind-{number}": (evolve(a_registration(), action=an_action(payload="\U0001f600" * 4_000)),)
        for number in range(8)
    }
    assert not has_room(of_four, OWN)
    assert has_room(dict(list(of_four.items())[:7]), OWN)
    long = a_registration(stack=REPORTS + "a" * MOST_BYTES)
    assert not has_room({"slack-post": (long,)}, OWN)


def test_there_is_room_for_all_types_of_delayer_whatever_others_register() -> None:
    """In the middle of a deployment, too, when each has as many registrations as it may have."""
    queue = "https://sqs.ap-southeast-2.amazonaws.com/123456789012/" + "q" * 80
    own = {
        kind: (Registration(action=one, stack=OWN, token="1" * 36, queue=queue),) * MOST
        for kind, one in built_in().items()
    }
    assert sum(map(most_bytes, own.values())) <= KEPT_FREE
    assert MOST_BYTES + KEPT_FREE <= LARGEST_ROW <= 400 * 1_024


# ------------------------------------------------------------ CloudFormation


KINDS = ["slack-post", "sms-send"]
RESOURCES = ["One", "Two"]
Functions = dict[str, tuple[str, str]]  # of each resource of a template: the type, and its function


@define
class Stack:
    """A stack with custom resources, as CloudFormation deploys it.

    A resource whose update is answered with another physical id was replaced: the old one is deleted when the
    deployment has succeeded, maybe long after. A rollback updates what was updated, and deletes what was created; what
    was replaced is either made anew, or taken up again as it was.
    """

    arn: str
    register: Register
    deployed: Functions = field(factory=dict)
    ids: dict[str, str] = field(factory=dict)  # the physical id of each resource
    late: list[tuple[str, str]] = field(factory=list)  # deletions that are still to come
    requests: int = 0

    def ask(self, request: str, resource: str, physical_id: str, wanted: tuple[str, str], repeat: int) -> str:
        """Some requests arrive twice."""
        self.requests += 1
        command = Command(
            request=request,
            request_id=f"{self.arn[-4:]}-{self.requests}",
            stack=self.arn,
            resource=resource,
            physical_id=physical_id,
            properties={"Type": wanted[0], "Function": wanted[1]},
        )
        return [self.register(command) for _ in range(repeat)][-1]

    def deploy(self, template: Functions, fails_at: int, repeat: int, *, anew: bool) -> bool:
        """Whether it succeeded; else everything is as it was before. The resources in the order of their names."""
        created: list[str] = []
        updated: list[str] = []
        ids = dict(self.ids)
        try:
            for position, (resource, wanted) in enumerate(sorted(template.items())):
                if position == fails_at:
                    raise CannotRegister("another resource of the template failed")
                if resource not in self.deployed:
                    created.append(resource)
                    ids[resource] = ""
                    ids[resource] = self.ask("Create", resource, "", wanted, repeat)
                elif wanted != self.deployed[resource]:
                    ids[resource] = self.ask("Update", resource, ids[resource], wanted, repeat)
                    updated.append(resource)
        except CannotRegister:
            self.roll_back(created, updated, ids, repeat, anew=anew)
            return False
        for resource, physical_id in self.ids.items():
            if ids.get(resource) != physical_id or resource not in template:
                self.late.append((resource, physical_id))
        self.ids = {resource: ids[resource] for resource in template}
        self.deployed = dict(template)
        return True

    def roll_back(
        self, created: Sequence[str], updated: Sequence[str], ids: dict[str, str], repeat: int, *, anew: bool
    ) -> None:
        for resource in reversed(updated):
            if ids[resource] == self.ids[resource] or anew:
                before = self.deployed[resource]
                again = self.ask("Update", resource, ids[resource], before, repeat)
                self.late += [(resource, ids[resource])] if again != ids[resource] else []
                self.ids[resource] = again
            else:
                self.late.append((resource, ids[resource]))
        for resource in reversed(created):
            self.ask("Delete", resource, ids[resource] or f"{self.arn[-4:]}-{resource}-XYZ", ("", ""), repeat)

    def clean_up(self, repeat: int) -> None:
        resource, physical_id = self.late.pop(0)
        self.ask("Delete", resource, physical_id, ("", ""), repeat)

    def in_force(self, kind: str) -> set[str]:
        """The functions that its template names for a type."""
        return {function for wanted, function in self.deployed.values() if wanted == kind}


templates = st.dictionaries(
    st.sampled_from(RESOURCES), st.tuples(st.sampled_from(KINDS), st.sampled_from("abc")), max_size=2
).filter(lambda one: len({kind for kind, _ in one.values()}) == len(one))  # a type is registered once in a template


class CloudFormation(RuleBasedStateMachine):
    """Two stacks are deployed, fail and are deleted; deletions come late."""

    def __init__(self) -> None:
        super().__init__()
        self.actions = on_sqlite(StoredActions)
        register = Register(
            action_rows=self.actions,
            built_in={},
            describe=lambda function: an_action(function.partition("#")[0]),
            observer=MemoryObserver(),
            stack_id=OWN,
        )
        self.stacks = [Stack(arn, register) for arn in (REPORTS, OTHERS)]

    @rule(
        number=st.sampled_from([0, 0, 0, 1]),
        template=templates,
        fails_at=st.integers(0, 6),
        repeat=st.integers(1, 2),
        anew=st.booleans(),
    )
    def deploy(self, number: int, template: Functions, fails_at: int, repeat: int, anew: bool) -> None:
        stack, other = self.stacks[number], self.stacks[1 - number]
        wanted = {name: (kind, f"{kind}#{function}") for name, (kind, function) in template.items()}
        taken = {kind for kind, _ in wanted.values()} & set(self.actions.actions())
        foreign = any(self.actions.actions()[kind][-1].stack == other.arn for kind in taken)
        changed = any(stack.deployed.get(name) != one for name, one in wanted.items())
        before = stack.deployed
        succeeded = stack.deploy(wanted, fails_at, repeat, anew=anew)
        if not foreign and (fails_at >= len(wanted) or not changed):
            assert succeeded or fails_at < len(wanted)
        if not succeeded:
            assert stack.deployed == before

    @precondition(lambda self: any(stack.late for stack in self.stacks))
    @rule(repeat=st.integers(1, 2), data=st.data())
    def clean_up(self, repeat: int, data: st.DataObject) -> None:
        stack = data.draw(st.sampled_from([stack for stack in self.stacks if stack.late]))
        stack.clean_up(repeat)

    def is_still_to_be_deleted(self, stack: Stack, last: Registration) -> bool:
        """Two resources have swapped their types, and the deployment has failed in between.

        Nothing says so before CloudFormation deletes what the first of them had made.
        """
        return any(resource == last.resource and last.token in physical_id for resource, physical_id in stack.late)

    @invariant()
    def what_is_in_force_is_what_the_last_deployment_says(self) -> None:
        for stack in self.stacks:
            for kind in KINDS:
                if wanted := stack.in_force(kind):
                    last = self.actions.actions()[kind][-1]
                    assert last.stack == stack.arn
                    assert last.function in wanted or self.is_still_to_be_deleted(stack, last)

    @invariant()
    def nothing_stays_that_is_in_no_template(self) -> None:
        for kind in KINDS:
            wanted = {function for stack in self.stacks for function in stack.in_force(kind)}
            if not wanted and not any(stack.late for stack in self.stacks):
                assert kind not in self.actions.actions()


CloudFormation.TestCase.settings = settings(
    max_examples=60, stateful_step_count=15, phases=(Phase.explicit, Phase.generate, Phase.shrink)
)
TestCloudFormation = CloudFormation.TestCase


@pytest.mark.parametrize("physical_id", ["slack-post/of another", "sms-send/1", "slack-post", "", "/", "slack-post/"])
def test_a_deletion_of_something_else_takes_nothing_out(physical_id: str) -> None:
    """Nor does one of another stack."""
    actions, registered = on_sqlite(StoredActions), (a_registration(resource="One"),)
    assert actions.write("slack-post", registered, ())
    register = Register(
        action_rows=actions,
        built_in={},
        describe=lambda function: an_action(),
        observer=MemoryObserver(),
        stack_id=OWN,
    )
    for stack, name, given in (
        (REPORTS, "Two", physical_id),
        (OTHERS, "One", physical_id),
        (OTHERS, "One", "slack-post/1"),
    ):
        register(Command(request="Delete", request_id="9", stack=stack, resource=name, physical_id=given))
    assert actions.actions() == {"slack-post": registered}
