"""The action lambda-invoke."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from delayer.extension.executor import Action, Done, Message, Meta, Result, Retry, executor, setting
from delayer.targets.aws_call import RoleArn, Service, enveloped, place_of

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

FUNCTION = r"^arn:aws[a-z-]*:lambda:[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]{1,64}(:[A-Za-z0-9_-]{1,128})?$"
FUNCTIONS = {"x-allowed": "the ARN of a function, of a version or of an alias"}
TYPE = (
    "With RequestResponse, the attempt waits for the function, for 25 seconds at most, and fails if the function fails."
)
LONGEST: Final = 25  # seconds that a function may take that is waited for

LAMBDA = Service(
    name="lambda",
    shown="Lambda",
    target="a function",
    never=frozenset({
        "InvalidParameterValueException", "InvalidRequestContentException", "RequestTooLargeException",
        "UnsupportedMediaTypeException",
    }),
    once=("Invoke",),
)  # fmt: skip


class LambdaInvoke(Action):
    """A call of a Lambda function. It gets an object with the payload, and with what Delayer says of the schedule."""

    function_arn: Annotated[str, Meta(pattern=FUNCTION, max_length=300, extra_json_schema=FUNCTIONS)]
    invocation_type: Annotated[Literal["Event", "RequestResponse"], Meta(description=TYPE)] = "Event"
    role_arn: RoleArn = ""


@executor("lambda-invoke", fair_by="functionArn", reaches="function:functionArn")
def handler(message: Message[LambdaInvoke]) -> Result:
    """One invocation."""
    action, waits = message.action, message.action.invocation_type == "RequestResponse"

    def invoke(functions: "LambdaClient") -> Result:
        answer = functions.invoke(
            FunctionName=action.function_arn,
            InvocationType=action.invocation_type,
            Payload=enveloped(message).encode(),
        )
        if answer.get("FunctionError"):
            return Retry(detail="the function failed")
        return Done("the function returned" if waits else "accepted by Lambda")

    place, stack = place_of(action.function_arn), f"function:{setting('STACK')}-"
    is_own = place.name.startswith(stack) and not place.name.startswith(f"{stack}target-")
    seconds = LONGEST if waits else 0
    return LAMBDA.attempt(message, place, invoke, role_arn=action.role_arn, is_own=is_own, seconds=seconds)
