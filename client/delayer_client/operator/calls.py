"""Calls of AWS whose refusal names the permission that is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from botocore.exceptions import (
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoAuthTokenError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    SSOError,
    TokenRetrievalError,
)

from delayer_client.operator.errors import Interrupted, NoCredentials, of_refusal

# What botocore raises while it looks for credentials; a login by SSO is read, and found too old, at the first call.
NO_KEYS: Final = (NoCredentialsError, NoRegionError, PartialCredentialsError)
NOT_SIGNED_IN: Final = (SSOError, TokenRetrievalError, NoAuthTokenError, CredentialRetrievalError)


@contextmanager
def asking(permission: str) -> Iterator[None]:
    """Everything that is asked within needs this permission. Raises NotAllowed, NoCredentials, Interrupted; others
    pass.
    """
    try:
        yield
    except ClientError as error:
        code, said = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        if refused := of_refusal(permission, code, said):
            raise refused from error
        raise
    except (*NO_KEYS, *NOT_SIGNED_IN) as error:
        raise no_credentials(error) from error
    except (EndpointConnectionError, HTTPClientError) as error:
        raise Interrupted(f"AWS was not reached: {error}") from error


def no_credentials(error: Exception) -> NoCredentials:
    """Of what botocore found missing; a login that has expired has to be made again."""
    if isinstance(error, NOT_SIGNED_IN):
        return NoCredentials(f"{error} Sign in again (aws sso login), or use other credentials.")
    return NoCredentials(str(error))
