"""The action step-start."""

from typing import Annotated

from delayer.extension.executor import Action, Done, Message, Meta, Refused, Result, executor
from delayer.targets.aws_call import LARGEST_PAYLOAD, RoleArn, Service, enveloped, place_of
from delayer.targets.known import KNOWN, StartsExecutions

MACHINE = r"^arn:aws[a-z-]*:states:[a-z0-9-]+:[0-9]{12}:stateMachine:[A-Za-z0-9_-]{1,80}(:[A-Za-z0-9_-]{1,80})?$"
MACHINES = {"x-allowed": "the ARN of a standard state machine, of a version or of an alias"}

STATES = Service(
    name="stepfunctions",
    shown="Step Functions",
    target="a state machine",
    never=frozenset({"InvalidArn", "InvalidExecutionInput", "InvalidName", "ValidationException"}),
)  # what it starts has a name: botocore may repeat it


class StepStart(Action):
    """An execution of a standard state machine. Its input has the payload, and what Delayer says of the schedule."""

    state_machine_arn: Annotated[str, Meta(pattern=MACHINE, max_length=256, extra_json_schema=MACHINES)]
    role_arn: RoleArn = ""


@executor(
    "step-start", fair_by="stateMachineArn", reaches="stateMachine:stateMachineArn", largest_payload=LARGEST_PAYLOAD
)
def handler(message: Message[StepStart]) -> Result:
    """One execution, named by its schedule: whatever is repeated, it is started once."""
    action = message.action
    machine = ":".join(action.state_machine_arn.split(":")[:7])  # without a version or an alias

    def start(states: StartsExecutions) -> Result:
        if not KNOWN.has(machine):
            if (
                states.describe_state_machine(stateMachineArn=machine, includedData="METADATA_ONLY")["type"]
                != "STANDARD"
            ):
                return Refused("an Express state machine: AWS would start it again at each attempt")
            KNOWN.add(machine)
        try:
            states.start_execution(
                stateMachineArn=action.state_machine_arn, name=message.schedule_id, input=enveloped(message)
            )
        except states.exceptions.ExecutionAlreadyExists:
            return Done("started before")
        return Done("started")

    return STATES.attempt(message, place_of(action.state_machine_arn), start, role_arn=action.role_arn)
