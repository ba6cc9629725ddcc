"""Clients for the targets of actions, with the rights of the function or of a role that an owner named (ADR 0089)."""

import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any, Final

from attrs import define, field, frozen
from botocore.config import Config

from delayer.engines.aws.bounded_calls import bounded
from delayer.engines.aws.clients import CONFIG, kept_client, sent_once
from delayer.engines.aws.start import make_client

EXTERNAL_ID: Final = re.compile(r"[A-Za-z0-9_+=,.@:/-]{2,1224}")  # what STS takes
NOT_IN_IT: Final = re.compile(r"[^A-Za-z0-9_+,.@:/-]")  # `=` is replaced, too: it marks what was replaced
EARLIER: Final = 300  # seconds before its credentials expire, a role is assumed again
MOST_ROLES: Final = 64  # whose credentials are kept at a time
MOST_CLIENTS: Final = 16

# An attempt has 30 seconds for all of its calls. What STS does not answer at once is another attempt.
ONE_TRY: Final = CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))

Clock = Callable[[], float]


def sts_client() -> Any:
    """Of STS, of which there are no stubs here."""
    return kept_client("sts", os.environ.get("AWS_REGION"), ONE_TRY)


@frozen(kw_only=True)
class RoleCredentials:
    """Of a role that was assumed."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(repr=False)
    expires: float  # seconds since 1970


class NoExternalId(ValueError):
    """This owner cannot be told from others by the role that should be assumed."""


def external_id(owner: str) -> str:
    """The owner as STS takes it: each byte of what it does not take is `=` and two hexadecimal digits.

    No two owners have the same one. Raises NoExternalId for one that is too long, or too short.
    """
    text = NOT_IN_IT.sub(lambda found: "".join(f"={byte:02X}" for byte in found[0].encode()), owner)
    if not EXTERNAL_ID.fullmatch(text):
        raise NoExternalId(f"the owner as an external id has {len(text):,} characters; from 2 to 1,224 are allowed")
    return text


@define(kw_only=True)
class Roles:
    """The credentials of roles, each for one owner: no owner acts with those of another."""

    sts: Callable[[], Any] = sts_client
    clock: Clock = time.time
    _kept: OrderedDict[tuple[str, str], RoleCredentials] = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def assume(self, role_arn: str, owner: str, session: str) -> RoleCredentials:
        """Raises NoExternalId, or an error of AWS."""
        key = (role_arn, external_id(owner))
        with self._lock:
            found = self._kept.get(key)
            if found and found.expires - EARLIER > self.clock():
                self._kept.move_to_end(key)
                return found
        answer = self.sts().assume_role(RoleArn=role_arn, RoleSessionName=session, ExternalId=key[1])["Credentials"]
        made = RoleCredentials(
            access_key=answer["AccessKeyId"],
            secret_key=answer["SecretAccessKey"],
            token=answer["SessionToken"],
            expires=answer["Expiration"].timestamp(),
        )
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > MOST_ROLES:
                self._kept.popitem(last=False)
        return made

    def forget(self) -> None:
        """As in a new execution environment."""
        with self._lock:
            self._kept.clear()


ROLES: Final = Roles()
_making: Final = Lock()  # botocore makes one client at a time


def target_client(
    service: str, region: str, *, once: tuple[str, ...] = (), seconds: float = 0, role: RoleCredentials | None = None
) -> Any:
    """A client of the service. botocore repeats an operation in `once` only if it surely did not arrive (ADR 0084).

    With `seconds`, an answer may take that long, and no call is repeated at all.
    """
    config = ONE_TRY.merge(Config(read_timeout=seconds)) if seconds else CONFIG
    with _making:
        return kept_target_client(service, region, once, config, role)


@lru_cache(maxsize=MOST_CLIENTS)
def kept_target_client(
    service: str, region: str, once: tuple[str, ...], config: Config, role: RoleCredentials | None
) -> Any:
    """Made once in each execution environment."""
    own = {
        "aws_access_key_id": role.access_key,
        "aws_secret_access_key": role.secret_key,
        "aws_session_token": role.token,
    } if role else {}  # fmt: skip
    made = bounded(make_client(service, region_name=region or os.environ.get("AWS_REGION"), config=config, **own))
    return sent_once(made, *once) if once else made
