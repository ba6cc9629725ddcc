"""What an operator's call can meet. Each text says what is wrong, and what to do."""

from typing import Final

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


class OperatorError(Exception):
    """The command cannot be carried out. All errors of this room are of this class."""


class NoCredentials(OperatorError):
    """There are no AWS credentials, or none that AWS takes, or no region."""


class NotAllowed(OperatorError):
    """AWS refuses the call."""

    def __init__(self, permission: str, said: str = "") -> None:
        super().__init__(
            f"Your AWS credentials lack the permission {permission}"
            + (f" (AWS says: {said})" if said else "")
            + ". Ask whoever administers the account for it, or use other credentials (AWS_PROFILE)."
        )
        self.permission = permission


class NoStack(OperatorError):
    """There is no such stack, or it is another one than that of the URL, or it lacks what was asked for."""


class Refused(OperatorError):
    """A function of the stack does not carry out the command. The text is its own."""


class Interrupted(OperatorError):
    """A call was not answered, or not in full. It may have done its work; to repeat it does no harm."""


def permission_of(service: str, operation: str) -> str:
    """The permission that a call of AWS needs, as IAM writes it."""
    known = {("lambda", "Invoke"): "lambda:InvokeFunction", ("s3", "ListObjectsV2"): "s3:ListBucket"}
    names = {"service-quotas": "servicequotas"}
    return known.get((service, operation)) or f"{names.get(service, service)}:{operation}"
