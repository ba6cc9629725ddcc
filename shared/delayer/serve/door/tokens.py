"""Tokens say who may call an engine that others can reach. A file has their hashes alone (ADR 0184)."""

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any, Final

import msgspec
from attrs import frozen

from delayer.http.requests import Authorization
from delayer.schedule.schedule import MAX_OWNER, SYSTEM_OWNER
from delayer.serve.refusal import Refusal

SCOPES: Final = ("read", "write", "operator")
PREFIX: Final = "delayer_"  # whoever finds a token in a log or a repository sees which program it is for
RANDOM_BYTES: Final = 32  # so that a plain hash is enough: nobody finds one of them by trying
OTHERS: Final = 0o077  # rights of the group and of everybody
# The setting API_AUTHORIZATION of the functions: the claim that names the owner, the scope to read, and to write.
SETTING: Final = "TOKEN owner read write"
AUTHORIZATION: Final = Authorization(kind="TOKEN", claim="owner", read_scope="read", write_scope="write")


class TokenLine(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A line of the file."""

    sha256: str  # of the token, in hexadecimal
    owner: str
    scopes: tuple[str, ...]


@frozen(kw_only=True)
class KnownTokens:
    """The tokens that are known."""

    rows: Sequence[TokenLine]

    def claims_of(self, authorization: str) -> Mapping[str, Any] | None:
        """Returns what is known of the sender of this header `Authorization`; None for nobody that is known.

        Each token is compared, in constant time, so that how long it takes says nothing.
        """
        scheme, _, token = authorization.partition(" ")
        shown, found = hash_of(token.strip()), None
        for row in self.rows:
            if compare_digest(row.sha256, shown):
                found = row
        if found is None or scheme.lower() != "bearer":
            return None
        return {AUTHORIZATION.claim: found.owner, "scope": " ".join(found.scopes)}


def tokens_in(file: Path) -> KnownTokens:
    """Reads the file of `--tokens`. Raises Refusal if others may read it, if it is malformed, or if it has none."""
    with _opened(file, os.O_RDONLY) as handle:
        rows = _rows(file, _text(file, handle))
    if not rows:
        raise Refusal(
            what="There is no token in the file of --tokens", where=str(file), do=f"Make one: {_made_by(file)}"
        )
    return KnownTokens(rows=rows)


def new_token(file: Path, owner: str, scopes: Sequence[str]) -> str:
    """Adds a token to the file, which it makes if there is none, and returns it: it is to be shown once.

    Raises Refusal as `tokens_in` does, and for an owner or scopes that cannot be. The line is added whole, or
    not at all.
    """
    token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    row = TokenLine(sha256=hash_of(token), owner=owner, scopes=tuple(dict.fromkeys(scopes)))
    if problem := _problem_of(row):
        raise Refusal(what=f"A token was not made: {problem}", do="Give another owner, or another --scope")
    with _opened(file, os.O_RDWR | os.O_CREAT) as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        text = _text(file, handle)
        _rows(file, text)
        _append(handle, ("" if text.endswith("\n") or not text else "\n") + json.dumps(msgspec.to_builtins(row)) + "\n")
    return token


def hash_of(token: str) -> str:
    """As the file has it."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


@contextmanager
def _opened(file: Path, flags: int) -> Iterator[int]:
    """For its user alone. Raises Refusal if it is not that, or if the system refuses what is done with it."""
    try:
        handle = os.open(file, flags | os.O_CLOEXEC, 0o600)
        try:
            mode = stat.S_IMODE(os.fstat(handle).st_mode)
            if mode & OTHERS:
                what = f"The file of --tokens is open to other users of this machine (its mode is {mode:04o})"
                raise Refusal(what=what, where=str(file), do=f"Run: chmod 600 {file}")
            yield handle
        finally:
            os.close(handle)
    except FileNotFoundError:
        what, command = "There is no such file of --tokens", _made_by(file)
        if not file.parent.is_dir():
            what, command = "There is no folder for the file of --tokens", f"mkdir -p {file.parent}"
        raise Refusal(what=what, where=str(file), do=f"Make it: {command}") from None
    except OSError as error:
        what = f"The file of --tokens cannot be used: {error.strerror}"
        raise Refusal(what=what, where=str(file), do="Name a file that is yours to read and to write") from None


def _made_by(file: Path) -> str:
    return f"delayer token OWNER --file {file}"


def _text(file: Path, handle: int) -> str:
    try:
        with open(handle, encoding="utf-8", closefd=False) as opened:
            return opened.read()
    except UnicodeDecodeError:
        raise Refusal(what="The file of --tokens is no text", where=str(file), do="Name another file") from None


def _rows(file: Path, text: str) -> list[TokenLine]:
    """Raises Refusal for a line that is none, with its number, and never with what it says: it may be a token."""
    rows: dict[str, TokenLine] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=TokenLine)
            problem = _problem_of(row) or ("the same token is there twice" if row.sha256 in rows else "")
        except (msgspec.MsgspecError, UnicodeError):
            problem = "not a JSON object with sha256, owner and scopes"
        if problem:
            what = f"A line of the file of --tokens is wrong: {problem}"
            raise Refusal(what=what, where=f"{file}, line {number}", do="Delete the line, or correct it")
        rows[row.sha256] = row
    return list(rows.values())


def _problem_of(row: TokenLine) -> str:
    if len(row.sha256) != 64 or not set(row.sha256) <= set("0123456789abcdef"):
        return "sha256 has 64 digits of 0-9 and a-f"
    try:
        size = len(row.owner.encode())
    except UnicodeEncodeError:
        return "the owner is no Unicode text"
    if not 1 <= size <= MAX_OWNER or row.owner != row.owner.strip() or not row.owner.isprintable():
        return f"an owner has 1 to {MAX_OWNER} bytes that can be printed, and no space around them"
    if row.owner == SYSTEM_OWNER:
        return f"the owner {SYSTEM_OWNER} is Delayer itself"
    if not row.scopes or not set(row.scopes) <= set(SCOPES):
        return f"scopes are one or more of {', '.join(SCOPES)}"
    return ""


def _append(handle: int, line: str) -> None:
    """Raises OSError, and then the file is as it was."""
    before = os.fstat(handle).st_size
    os.lseek(handle, 0, os.SEEK_END)
    data = line.encode()
    try:
        if os.write(handle, data) < len(data):
            raise OSError("there is no space left")
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, before)
        raise
