"""The values of a connection, as they lie in its secret, and the header that comes of them."""

import binascii
from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec
from attrs import field, frozen

from delayer.core.connections.connection import AUTHORIZATION, ConnectionType

VERSION: Final = 1


class NotItsOwn(ValueError):
    """The secret is that of another connection, or cannot be read. Nothing of it is in the text."""


@frozen(kw_only=True)
class Values:
    """All fields of a connection but its name. Nothing here is printed."""

    type: ConnectionType
    fields: dict[str, str] = field(repr=False)


@frozen(kw_only=True)
class Header:
    """What a request takes along."""

    name: str
    value: str = field(repr=False)
    sealed: str = ""  # of a token: how it lies in its row


def secret_text(owner: str, name: str, values: Values) -> str:
    """What lies in the secret. It says whose it is: a row that leads to the secret of another one leads nowhere."""
    content = {"v": VERSION, "owner": owner, "name": name, "type": values.type, "fields": values.fields}
    return msgspec.json.encode(content).decode()


def values_in(text: str, owner: str, name: str) -> Values:
    """The inverse. Raises NotItsOwn."""
    try:
        content: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
        if content["v"] != VERSION or (content["owner"], content["name"]) != (owner, name):
            raise NotItsOwn
        return Values(type=ConnectionType(content["type"]), fields=msgspec.convert(content["fields"], dict[str, str]))
    except (msgspec.MsgspecError, KeyError, ValueError, RecursionError):
        raise NotItsOwn from None


def header_name(values: Values) -> str:
    """Which header it sets."""
    return values.fields["headerName"] if values.type is ConnectionType.API_KEY else AUTHORIZATION


def header_of(values: Values) -> Header:
    """Of what needs no token."""
    given = values.fields
    match values.type:
        case ConnectionType.API_KEY:
            return Header(name=given["headerName"], value=given["value"])
        case ConnectionType.BASIC:
            return Header(name=AUTHORIZATION, value=basic(given["username"], given["password"]))
        case ConnectionType.BEARER:
            return bearer(given["token"])
    raise ValueError(f"{values.type} needs a token")


def bearer(token: str, sealed: str = "") -> Header:
    """Of a token."""
    return Header(name=AUTHORIZATION, value=f"Bearer {token}", sealed=sealed)


def basic(name: str, password: str) -> str:
    """RFC 7617."""
    return f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"


def secrets_in(header: Header) -> frozenset[str]:
    """All that nobody may read of it: its value, and what lies in that. A target may send back any of them."""
    found = {header.value}
    scheme, _, credentials = header.value.partition(" ")
    if header.name.lower() == AUTHORIZATION.lower() and credentials:
        found |= {credentials, credentials.rstrip("=")}
        if scheme.lower() == "basic":
            pair = _decoded(credentials)
            found |= {pair, pair.partition(":")[2]}
    return frozenset(found - {""})


def _decoded(credentials: str) -> str:
    """A key that somebody has called so need not be base64."""
    try:
        return b64decode(credentials, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
