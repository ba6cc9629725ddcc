"""An API without authorization answers this machine only (ADR 0064).

API Gateway writes the address from which a request came into its event; no header of the request changes it. In AWS it
is never a loopback address. So a stack that was deployed open by mistake answers nobody.
"""

from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any

from delayer.aws.http.authorization import authorization
from delayer.aws.http.requests import Unknown

Event = Mapping[str, Any]


class NotLoopback(Unknown):
    """The API is open, and the request does not come from the machine on which it runs."""

    kind = "not-from-loopback"
    title = "The API is open to its own machine only"


def source_check() -> Callable[[Event], None]:
    """The check of each request: raises NotLoopback, or does nothing where API_AUTHORIZATION asks for credentials."""
    return refuse_other_machines if authorization().kind == "NONE" else lambda _event: None


def refuse_other_machines(event: Event) -> None:
    """Raises NotLoopback unless the event says that the request came from a loopback address."""
    source = str((event.get("requestContext", {}).get("http") or {}).get("sourceIp") or "")
    if not is_loopback(source):
        raise NotLoopback(
            f"This API asks for no credentials (ApiAuthorization is NONE), so it answers only the machine on which it "
            f"runs. The request came from {source or 'an unknown address'}. To open it to others, deploy it with "
            f"ApiAuthorization=AWS_IAM or JWT."
        )


def is_loopback(address: str) -> bool:
    """Whether an IP address is one of loopback, also an IPv4 address that is written as IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
