"""The fields of the action http-request: their bounds, and the texts that people read about them."""

from typing import Annotated, Final

from delayer.extension.action import Meta
from delayer.targets.http_request import HEADER_NAME, URL

NAME: Final = r"^(?!\.{1,2}$)[A-Za-z0-9._:@-]{1,128}$"
ConnectionName = Annotated[
    str,
    Meta(
        pattern=NAME,
        description="The name of a connection of the same owner: see PUT /connections/{name}. It sets a header with a "
        "secret that is stored apart. The same header cannot be given by hand.",
        extra_json_schema={"x-allowed": "1 to 128 letters, digits and . _ : @ -"},
    ),
]


# Patterns that are for the API alone: an earlier version accepted a stray % in a URL, and a header Webhook-…, and what
# it has stored must not become malformed.
Url = Annotated[
    str,
    Meta(
        max_length=2048,
        description="An absolute http or https URL in ASCII, without user name and password. "
        "It is sent byte for byte. Nobody but the target sees its query.",
        extra_json_schema={
            "pattern": URL,
            "x-allowed": "an absolute http or https URL in ASCII, without user name, password and white space; "
            "a port from 1 to 65535; each % with two hexadecimal digits behind it",
        },
    ),
]
RULE = """\
the name of a header, other than Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key, Delayer-… and \
Webhook-…"""
Name = Annotated[str, Meta(extra_json_schema={"pattern": HEADER_NAME, "x-allowed": RULE})]
PRINTABLE = {"x-allowed": "printable ASCII, up to 4096 characters"}
Value = Annotated[str, Meta(pattern=r"^[\t -~]*$", max_length=4096, extra_json_schema=PRINTABLE)]
HEADERS = """\
Headers of the request. Nobody but the target sees the value of one with a sensitive name, such as Authorization, \
Cookie or X-Api-Key. Host, Content-Length, Transfer-Encoding, Connection, Idempotency-Key and those that begin with \
Delayer- or Webhook- cannot be given, because Delayer sets them."""
TIME = "How long the target may take to answer one attempt."
KEEP = """\
Whether the answer to each attempt is kept in the history: its status, its duration in milliseconds, some headers, and \
the first KB of its body if that is a text. What has a name like a secret's is masked."""
KEEP_HEADERS = """\
With keepAnswer, names of headers that are kept beside Content-Type, Content-Length, Content-Encoding, Retry-After and \
X-Request-Id."""
KeptHeader = Annotated[
    str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$", extra_json_schema={"x-allowed": "the name of a header"})
]
