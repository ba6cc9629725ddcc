"""The values of connections in Secrets Manager, as `<stack>/connections/<hash of the owner>/<fresh id>` (ADR 0105).

No text of an error of AWS is kept: only its code.
"""

import hashlib
from typing import Final

from attrs import frozen

from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.aws.runtime.secrets_client import SecretsManagerClient
from delayer.ports.unavailable import Unavailable

EXISTS: Final = "ResourceExistsException"
# What is marked for deletion is refused as a request; so is what was created a moment ago and is not readable yet.
NOT_THERE: Final = frozenset({"ResourceNotFoundException", "InvalidRequestException"})


@frozen(kw_only=True)
class SecretsManager:
    """Port Secrets."""

    secretsmanager: SecretsManagerClient
    prefix: str  # of the stack

    def create(self, owner: str, secret: str, text: str) -> None:
        tags = [{"Key": "delayer:connection", "Value": self.prefix.partition("/")[0]}]
        try:
            self.secretsmanager.create_secret(Name=self._name(owner, secret), SecretString=text, Tags=tags)
        except AWS_ERRORS as error:
            if error_code(error) != EXISTS:  # the name is fresh: it is ours, by an earlier try
                raise Unavailable(f"create a secret: {error_code(error)}") from None

    def read(self, owner: str, secret: str) -> str | None:
        try:
            answer = self.secretsmanager.get_secret_value(SecretId=self._name(owner, secret))
        except AWS_ERRORS as error:
            if error_code(error) in NOT_THERE:
                return None
            raise Unavailable(f"read a secret: {error_code(error)}") from None
        return str(answer.get("SecretString", ""))

    def delete(self, owner: str, secret: str) -> None:
        """Without the days in which it could be restored: its owner wants it gone, and the name is never used again."""
        try:
            self.secretsmanager.delete_secret(SecretId=self._name(owner, secret), ForceDeleteWithoutRecovery=True)
        except AWS_ERRORS as error:
            if error_code(error) not in NOT_THERE:
                raise Unavailable(f"delete a secret: {error_code(error)}") from None

    def _name(self, owner: str, secret: str) -> str:
        return secret_name(self.prefix, owner, secret)


def secret_name(prefix: str, owner: str, secret: str) -> str:
    """In Secrets Manager."""
    return f"{prefix}/{owner_hash(owner)}/{secret}"


def owner_hash(owner: str) -> str:
    """No name of a secret holds the name of a person."""
    return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]
