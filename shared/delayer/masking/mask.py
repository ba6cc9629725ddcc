"""Nobody but the target sees the secrets of an action: what is shown is masked here first (ADR 0067).

Secret is the value of a field or a header with a sensitive name, and of a URL what stands before its host and after
its path. The class of an action can say it for a field: `writeOnly: true` makes it secret, `writeOnly: false` shows it
as it is. That is stored with each schedule, so that it needs no class to be shown.
"""

import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final

from attrs import evolve, field, frozen
from msgspec import Raw

from delayer.schedule.json_text import parsed, refuse_constant, write
from delayer.schedule.schedule import Definition

MASK: Final = "***"
NOT_JSON: Final = "not JSON, and not shown, as nothing in it can be masked; the object itself has it"

# A list has the names that somebody has thought of, and no others: docs/use/api.md shows it, and says so.
PARTS: Final = (  # of a name, wherever they stand in it
    *("auth", "cookie", "key", "token", "secret", "passw", "passphrase", "passcode", "pwd", "credential", "signature"),
    *("session", "sessid", "bearer", "jwt", "hmac", "csrf", "xsrf", "private", "mnemonic", "assertion"),
)
WORDS: Final = frozenset(  # that a name has among others, or is
    {
        "sig",
        "pass",
        "pin",
        "puk",
        "otp",
        "totp",
        "hotp",
        "otc",
        "mfa",
        "tfa",
        "2fa",
        "pw",
        "pswd",
        "psw",
        "cred",
        "creds",
    }
    | {
        "psk",
        "pat",
        "pem",
        "sid",
        "sess",
        "sso",
        "saml",
        "salt",
        "seed",
        "nonce",
        "mac",
        "cvv",
        "cvc",
        "dsn",
        "verifier",
    }
)
BEFORE_CODE: Final = ("access", "backup", "login", "recovery", "reset", "security", "time", "verification")
_SENSITIVE: Final = re.compile(f"{'|'.join(PARTS)}|(?:{'|'.join(BEFORE_CODE)})[ _.-]?code|connection[ _.-]?string")
_HUMPS: Final = re.compile(r"[0-9]?(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))")  # the words of dbPass, MFACode and 2FA
_RUNS: Final = re.compile(r"[0-9]?[a-z]+")
_URL: Final = re.compile(  # anywhere in a text, up to a space; a scheme has a bound, so that no text takes long
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,20}+://)(?P<user>[^\s/?#]*@)?(?P<path>[^\s?#]*+)(?P<query>[?#]\S*)?", re.IGNORECASE
)
_WHOLE_URL: Final = re.compile(  # in a field that is named like one, whatever it holds; it may be relative
    r"(?P<scheme>(?:[a-z][a-z0-9+.-]*:)?//)?(?P<user>[^/?#]*@)?(?P<path>[^?#]*)(?P<query>[?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_NAMED_LIKE_A_URL: Final = re.compile("ur[il]$|href|endpoint|callback", re.IGNORECASE)
LABELS: Final = frozenset({"name", "key", "field", "header", "param", "parameter", "property", "variable", "label"})
CONTENTS: Final = frozenset({"value", "values", "content", "val"})  # of what a label beside it names, in any case
_LONGEST_LABEL: Final = 64  # characters; what is longer is no name

Schema = Mapping[str, Any]


def masked(definition: Definition, secrets: Schema | None = None) -> Definition:
    """The definition as it may be shown: the very same if it has no secret, or is masked already."""
    action = masked_action(definition.action, secrets)
    return definition if action == definition.action else evolve(definition, action=action)


def masked_action(text: str, secrets: Schema | None = None) -> str:
    """An action in JSON, as it may be shown. `secrets` as in the traits of its schedule."""
    try:
        action = json.loads(text, parse_float=_as_written, parse_int=_as_written, parse_constant=refuse_constant)
        shown = _Masking().of(action, "", secrets or {})
    except (ValueError, RecursionError):
        return json.dumps(MASK)
    return text if shown == action else write(shown)


def masks_in(action: Any, secrets: Schema | None = None) -> list[str]:
    """The paths at which a mask stands where a secret should: they were copied from what is shown.

    `secrets` as in the traits of its schedule. What is nested too deeply to be gone through counts as a mask.
    """
    masking = _Masking()
    try:
        masking.of(action, "action", secrets or {})
    except RecursionError:
        return ["action"]
    return masking.found


@lru_cache(maxsize=256)
def secrets_in(schema: str) -> dict[str, Any] | None:
    """As `secrets_of`, of a schema as JSON text. The same text gives the same object: do not change it."""
    return secrets_of(parsed(schema))


def secrets_of(schema: Any) -> dict[str, Any] | None:
    """Of the schema of an action, what masking needs: only what leads to a `writeOnly`. None if there is none.

    A field that may be null is a choice (`anyOf`): what is secret in one of its branches is secret.
    """
    if not isinstance(schema, Mapping):
        return None
    found: dict[str, Any] = {"writeOnly": schema["writeOnly"]} if "writeOnly" in schema else {}
    fields = {name: inner for name, one in schema.get("properties", {}).items() if (inner := secrets_of(one))}
    found |= {"properties": fields} if fields else {}
    found |= {"items": inner} if (inner := secrets_of(schema.get("items"))) else {}
    for branch in schema.get("anyOf", []):
        found = _joined(found, secrets_of(branch) or {})
    return found or None


def is_declared_secret(schema: Any) -> bool:
    """Whether a value of this schema is secret, whatever its name is."""
    return (secrets_of(schema) or {}).get("writeOnly") is True


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The secrets of both."""
    both = {
        name: _joined(inner, other[name]) if isinstance(inner, dict) else inner or other[name]
        for name, inner in one.items()
        if name in other
    }
    return {**one, **other, **both}


def masked_value(name: str, value: Any, secrets: Schema | None = None) -> Any:
    """One value of an action as it may be shown. `name` is that of its field or header."""
    try:
        return _Masking().of(value, name, secrets or {}, name)
    except RecursionError:  # nested too deeply to be gone through, and so to be shown
        return MASK


def is_sensitive(name: str) -> bool:
    """Whether what stands under this name may be a secret."""
    return _is_known_sensitive(name) if len(name) <= _LONGEST_LABEL else _is_sensitive(name)


def _is_sensitive(name: str) -> bool:
    plain = name.casefold()
    if _SENSITIVE.search(plain):
        return True
    words = {*_RUNS.findall(plain), *(one.lower() for one in _HUMPS.findall(name))}
    return not WORDS.isdisjoint(words | {one.lstrip("0123456789") for one in words})  # 2fa, and the pass of db1pass


_is_known_sensitive: Final = lru_cache(maxsize=1_024)(_is_sensitive)  # actions have the same few names


def masked_free_text(text: str) -> str:
    """A text of any kind, with the secrets of the URLs in it masked."""
    return _URL.sub(_without_secrets, text)


def masked_text(text: str, known: Collection[str] = ()) -> str:
    """A text that may hold a definition in any shape, such as the body of a dead letter. `known` names are no secrets.

    A text within it that is JSON itself is masked, too.
    """
    try:
        content = read_json(text)
        shown = _Masking(is_deep=True, known=known).of(content, "", {})
    except (ValueError, RecursionError):
        return NOT_JSON
    return text if shown == content else write(shown)


def read_json(text: str) -> Any:
    """Reads a foreign text. Raises ValueError, too, if an object has one name twice.

    Only the last of the two would be looked at, and both would be shown with the text.
    """
    return json.loads(text, object_pairs_hook=_of_different_names, parse_float=_as_written, parse_int=_as_written)


def _as_written(digits: str) -> Raw:
    """A number with the very digits that it has."""
    return Raw(digits.encode())


def _of_different_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


@frozen(kw_only=True)
class _Masking:
    """One walk through a value."""

    is_deep: bool = False  # into texts that are JSON, too
    known: Collection[str] = ()
    found: list[str] = field(factory=list, init=False)  # paths of masks that were there before

    def of(self, value: Any, path: str, schema: Schema, name: str = "") -> Any:
        """The value as it may be shown. `name` is that under which it stands."""
        declared = schema.get("writeOnly")
        if declared is False or value is None:
            return value
        if declared or (name not in self.known and is_sensitive(name)):
            self.found.extend([path] if value == MASK else [])
            return MASK
        if isinstance(value, dict):
            return self._of_object(value, path, schema)
        if isinstance(value, list):
            return self._of_list(value, path, schema, name)
        return self._of_text(value, path, name) if isinstance(value, str) else value

    def _of_object(self, value: dict[str, Any], path: str, schema: Schema) -> dict[str, Any]:
        fields = schema.get("properties", {})
        shown = {name: self.of(one, f"{path}.{name}", fields.get(name, {}), name) for name, one in value.items()}
        labels = [one for name, one in value.items() if name.lower() in LABELS]
        if any(is_sensitive(str(one)) for one in labels):
            for content in (name for name in value if name.lower() in CONTENTS):
                shown[content] = self.of(value[content], f"{path}.{content}", {"writeOnly": True})
        return shown

    def _of_list(self, value: list[Any], path: str, schema: Schema, name: str) -> list[Any]:
        """Of a foreign text, a list of two may be a name and its value."""
        if self.is_deep and len(value) == 2 and _is_label(value[0]):
            return [value[0], self.of(value[1], path, {"writeOnly": True})]
        return [self.of(one, path, schema.get("items", {}), name) for one in value]

    def _of_text(self, text: str, path: str, name: str) -> str:
        if self.is_deep and text.lstrip()[:1] in ("{", "["):
            return masked_text(text, self.known)
        pattern = _WHOLE_URL if _NAMED_LIKE_A_URL.search(name) else _URL
        if any(MASK in f"{url['user']}{url['query']}" for url in pattern.finditer(text)):
            self.found.append(path)
        return pattern.sub(_without_secrets, text)


def _is_label(value: Any) -> bool:
    """Whether it is short enough for a name, and what it names may be a secret."""
    return isinstance(value, str) and len(value) <= _LONGEST_LABEL and is_sensitive(value)


def _without_secrets(url: re.Match[str]) -> str:
    """Only scheme, host and path are left of it."""
    user = f"{MASK}@" if url["user"] else ""
    rest = url["query"][0] + MASK if url["query"] else ""
    return f"{url['scheme'] or ''}{user}{url['path']}{rest}"
