"""The contract has the rules of the code: a name, a header, a URL."""

import re

from delayer.connections import admission
from delayer.http import requests
from delayer.http.field_errors import CONNECTION_TEST, CONNECTIONS
from delayer.targets.http_fields import NAME
from delayer.targets.http_request import HEADER_NAME, URL


def test_headers_and_urls_are_those_of_requests() -> None:
    assert CONNECTIONS["api-key"].schema["properties"]["headerName"]["pattern"] == HEADER_NAME
    assert CONNECTIONS["oauth2-client-credentials"].schema["properties"]["tokenUrl"]["pattern"] == URL
    assert CONNECTION_TEST.schema["properties"]["url"]["pattern"] == URL


def test_there_is_one_rule_of_names() -> None:
    assert NAME == f"^{admission.NAME.pattern}$" == f"^{requests.NAME.pattern}$"


def test_names_that_climb_are_none() -> None:
    """Whatever the gateway decodes of a path."""
    for name in ("", ".", "..", "../x", "a/b", "%2e%2e", "a%2fb", "x" * 129, "é", "a b", "a#b", "a\0", "a\n", "‮crm"):
        assert not requests.NAME.fullmatch(name)
        assert not re.search(NAME, name) or name.endswith("\n")
