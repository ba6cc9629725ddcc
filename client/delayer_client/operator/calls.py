"""Calls of AWS whose refusal names the permission that is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
)

from delayer_client.operator.errors import Interrupted, NoCredentials, of_refusal


@contextmanager
def asking(permission: str) -> Iterator[None]:
    """Whatever is asked within needs this permission. Raises NotAllowed, NoCredentials, Interrupted; others pass."""
    try:
        yield
    except ClientError as error:
        code, said = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        if refused := of_refusal(permission, code, said):
            raise refused from error
        raise
    except (NoCredentialsError, NoRegionError) as error:
        raise NoCredentials(str(error)) from error
    except (EndpointConnectionError, HTTPClientError) as error:
        raise Interrupted(f"AWS was not reached: {error}") from error
