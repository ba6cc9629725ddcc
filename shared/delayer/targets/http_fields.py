"""The fields of the action http-request: their bounds, and the texts that people read about them."""

from typing import Annotated

from delayer.extension.action import Meta
from delayer.targets.http_request import HEADER_NAME, URL

Url = Annotated[
    str,
    Meta(
        pattern=URL,
        max_length=2048,
        description="An absolute http or https URL in ASCII, without user name and password. "
        "Nobody but the target sees its query.",
        extra_json_schema={
            "x-allowed": "an absolute http or https URL in ASCII, without user name, password and white space; "
            "a port from 1 to 65535"
        },
    ),
]
RULE = """\
the name of a header, other than Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key, Delayer-… and \
Webhook-…"""
# For the API alone: an earlier version accepted Webhook-…, and what it has stored must not become malformed.
Name = Annotated[str, Meta(extra_json_schema={"pattern": HEADER_NAME, "x-allowed": RULE})]
PRINTABLE = {"x-allowed": "printable ASCII, up to 4096 characters"}
Value = Annotated[str, Meta(pattern=r"^[\t -~]*$", max_length=4096, extra_json_schema=PRINTABLE)]
HEADERS = """\
Headers of the request. Nobody but the target sees the value of one with a sensitive name, such as Authorization, \
Cookie or X-Api-Key. Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and those that begin with \
Delayer- or Webhook- cannot be given, because Delayer sets them."""
TIME = "How long the target may take to answer one attempt."
