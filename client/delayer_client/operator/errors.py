"""An operator's call can meet these errors. Each text says what is wrong, and what to do."""

from typing import Final

from delayer_client.errors import DelayerError

REFUSALS: Final = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AuthorizationErrorException",
        "UnauthorizedOperation",
    }
)
NO_GOOD_KEYS: Final = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)


class OperatorError(DelayerError):
    """The command cannot be carried out. All errors of this room are of this class."""


class NoCredentials(OperatorError):
    """There are no AWS credentials, or none that AWS takes, or no region."""


class WrongSetting(OperatorError):
    """The AWS configuration, or a flag, names what cannot be: a region or an endpoint that is none."""


class NotAllowed(OperatorError):
    """AWS refuses the call."""

    def __init__(self, permission: str, code: str = "AccessDenied", said: str = "") -> None:
        super().__init__(
            f"{refusal(code, said)} It needs the permission {permission}. Ask whoever administers the account for it, "
            "or use other credentials (AWS_PROFILE)."
        )
        self.permission = permission


class NoStack(OperatorError):
    """There is no such stack, or it is another one than that of the URL, or it lacks what was asked for."""


class NoEngine(OperatorError):
    """No engine runs on the data folder."""


class NotYours(OperatorError):
    """The engine on the data folder is that of another user."""


class Refused(OperatorError):
    """A function of the stack does not carry out the command. The text is its own."""


class Interrupted(OperatorError):
    """A call was not answered, or not in full. It may have done its work; to repeat it does no harm."""


def refusal(code: str, said: str) -> str:
    """In AWS's own words."""
    return f"AWS refused the call ({code}): {said}".rstrip(" :.") + "."


def of_refusal(permission: str, code: str, said: str) -> OperatorError | None:
    """The error of a call that AWS refused for who made it; None for another answer."""
    if code in REFUSALS:
        return NotAllowed(permission, code, said)
    if code in NO_GOOD_KEYS:
        return NoCredentials(f"{refusal(code, said)} Sign in again (aws sso login), or use other credentials.")
    return None
