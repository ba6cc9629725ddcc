"""Decides what a connection adds to a request: its header, and the tokens that it gets for it (ADR 0105, 0106)."""

import binascii
from base64 import b64decode, b64encode
from typing import Any, Final

import msgspec
from attrs import evolve, field, frozen
from attrs.validators import ge

from delayer.connections.model import AUTHORIZATION, ConnectionType
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis

VERSION: Final = 1
APART: Final[Millis] = MINUTE  # between two fetches of one connection
MARGIN: Final[Millis] = MINUTE  # before its end a token is renewed, if it lives long enough
LONGEST: Final[Millis] = DAY  # that a token is used, however long its endpoint says
UNSAID: Final = 300  # seconds of a token whose endpoint does not say
MOST_SECONDS: Final = 315_360_000  # ten years; more is a mistake
LARGEST_ANSWER: Final = 65_536  # bytes of an answer that are read
BEARER: Final = "bearer"  # the type of a token whose endpoint does not say
LONGEST_TOKEN: Final = 8_192  # characters; most targets take no longer header


class NotItsOwn(ValueError):
    """The secret is that of another connection, or cannot be read. Nothing of it is in the text."""


@frozen(kw_only=True)
class Values:
    """All fields of a connection but its name. Nothing here is printed."""

    type: ConnectionType
    fields: dict[str, str] = field(repr=False)


@frozen(kw_only=True)
class Header:
    """The header that a request takes along."""

    name: str
    value: str = field(repr=False)
    sealed: str = ""  # of a token: how it lies in its row


def secret_text(owner: str, name: str, values: Values) -> str:
    """The text of a secret. It says whose it is: a row that leads to the secret of another one leads nowhere."""
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


@frozen(kw_only=True)
class TokenRow:
    """All executors share this row about the token of a connection."""

    owner: str
    name: str
    secret: str  # of which values it is: those of a connection that was replaced are of no use
    fetched_at: Millis  # when the last fetch began
    sealed: str = ""  # the token, encrypted; empty: there is none
    fresh_until: Millis = 0  # then it is renewed
    expires_at: Millis = 0  # then it is of no use
    failure: str = ""  # why the last fetch brought none, in our words
    revision: int = field(default=1, validator=ge(1))


@frozen
class UseToken:
    """The one of the row."""

    row: TokenRow


@frozen(kw_only=True)
class Fetch:
    """Write `claim` in place of `over`; who succeeds, fetches."""

    claim: TokenRow
    over: TokenRow | None


@frozen
class AwaitToken:
    """Somebody else is fetching it, or has died of it: until then nobody else may."""

    until: Millis


@frozen(kw_only=True)
class Failed:
    """The last fetch brought none, and it is too early for the next."""

    reason: str
    until: Millis


@frozen(kw_only=True)
class Wanted:
    """The token that is wanted."""

    owner: str
    name: str
    secret: str
    rejected: str = ""  # a target has answered 401 to the token that is sealed so


def decide_token(
    row: TokenRow | None, wanted: Wanted, now: Millis, *, is_short: bool = False
) -> UseToken | Fetch | AwaitToken | Failed:
    """Whether there is a token, or it may be fetched. One that was rejected is still better than none.

    `is_short`: the attempt ends sooner than a fetch may. If the last fetch was cut off, it leaves the next minute to
    others, who have more time: else short attempts might take each minute, and none would ever have a token.
    """
    apart = 2 * APART if is_short and row and _was_cut_off(row) else APART
    own = row if row and row.secret == wanted.secret else None
    held = held_in(row, wanted, now)
    if held and now < held.fresh_until and held.sealed != wanted.rejected:
        return UseToken(held)
    if row is None or abs(now - row.fetched_at) >= apart:  # by a clock that is ahead, it was fetched in the future
        return Fetch(claim=_claim(row, held, wanted, now), over=row)
    if held:
        return UseToken(held)
    until = row.fetched_at + apart
    return Failed(reason=own.failure, until=until) if own and own.failure else AwaitToken(until)


def held_in(row: TokenRow | None, wanted: Wanted, now: Millis) -> TokenRow | None:
    """With the token that is valid, fresh or not; a rejected one, too."""
    is_held = row and row.secret == wanted.secret and row.sealed and now < row.expires_at
    return row if is_held else None


def _was_cut_off(row: TokenRow) -> bool:
    """The last fetch brought neither a token nor a reason: its fetcher is at work, died, or had too little time."""
    return not row.failure and row.fresh_until <= row.fetched_at


def _claim(row: TokenRow | None, held: TokenRow | None, wanted: Wanted, now: Millis) -> TokenRow:
    """The token that is at hand stays there meanwhile."""
    claim = TokenRow(owner=wanted.owner, name=wanted.name, secret=wanted.secret, fetched_at=now)
    kept = (
        evolve(claim, sealed=held.sealed, fresh_until=held.fresh_until, expires_at=held.expires_at) if held else claim
    )
    return evolve(kept, revision=row.revision + 1 if row else 1)


@frozen(kw_only=True)
class Token:
    """An endpoint has answered with this token."""

    text: str = field(repr=False)
    seconds: int  # that it holds


class NoToken(ValueError):
    """The endpoint answered something else. The text says what, in our words."""


class _Answer(msgspec.Struct):
    access_token: Any = None
    token_type: Any = BEARER
    expires_in: Any = UNSAID


def token_in(status: int, body: bytes) -> Token:
    """The token in the answer of an endpoint. Raises NoToken; nothing of the answer is in its text but the status."""
    if 300 <= status < 400:
        raise NoToken(f"HTTP {status}: redirects are not followed")
    if not 200 <= status < 300:
        raise NoToken(f"HTTP {status}")
    if len(body) > LARGEST_ANSWER:
        raise NoToken(f"an answer of more than {LARGEST_ANSWER:,} bytes")
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise NoToken("an answer that is no JSON object") from None
    return Token(text=_text_of(answer), seconds=_seconds_of(answer.expires_in))


def _text_of(answer: _Answer) -> str:
    text = answer.access_token
    if not isinstance(text, str) or not text:
        raise NoToken("an answer without access_token")
    if len(text) > LONGEST_TOKEN:
        raise NoToken(f"a token of more than {LONGEST_TOKEN:,} characters")
    if not all("!" <= one <= "~" for one in text):
        raise NoToken("a token with characters that no header takes")
    if not isinstance(answer.token_type, str) or answer.token_type.lower() != BEARER:
        raise NoToken("a token of another type than Bearer")
    return text


def _seconds_of(value: Any) -> int:
    """As a number; some endpoints send its digits as a text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        value = int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 1 <= value <= MOST_SECONDS:
        raise NoToken(f"expires_in is not a number from 1 to {MOST_SECONDS:,}")
    return int(value)


def with_token(claim: TokenRow, token: Token, sealed: str) -> TokenRow:
    """The row after a fetch. How long it holds is counted from the beginning of the fetch."""
    lives = min(token.seconds * SECOND, LONGEST)
    return evolve(
        claim,
        sealed=sealed,
        fresh_until=claim.fetched_at + lives - min(MARGIN, lives // 10),
        expires_at=claim.fetched_at + lives,
        failure="",
        revision=claim.revision + 1,
    )


def without_token(claim: TokenRow, reason: str) -> TokenRow:
    """The row after a fetch that brought none. What is at hand stays until it expires."""
    return evolve(claim, failure=reason, revision=claim.revision + 1)
