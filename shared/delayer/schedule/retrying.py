"""How often, how long and at which delays an attempt is repeated: the schedule's own policy (ADR 0087)."""

import hashlib
from functools import lru_cache
from typing import Final

import msgspec
from attrs import frozen

from delayer.schedule.instants import DAY, SECOND, Malformed, Millis
from delayer.schedule.schedule import Definition

MAX_ATTEMPTS: Final = 100
MAX_AGE_SECONDS: Final = 14 * DAY // SECOND
MAX_FIRST_SECONDS: Final = DAY // SECOND
MAX_FACTOR: Final = 10


@frozen(kw_only=True)
class RetryPolicy:
    """The field `retry` of a schedule says this; the defaults are those of a schedule without it."""

    max_attempts: int = 10
    max_age: Millis = DAY  # from its first attempt to the last that may be planned
    first: int = 1  # seconds before the second attempt
    factor: float = 4  # by which each delay is longer than the one before
    longest: int = 900  # seconds; no delay grows beyond


DEFAULT: Final = RetryPolicy()


class _Backoff(msgspec.Struct):
    first: int = DEFAULT.first
    factor: float = DEFAULT.factor
    max: int = DEFAULT.longest


class _Retry(msgspec.Struct, rename="camel"):
    max_attempts: int | None = None
    max_age_seconds: int = DEFAULT.max_age // SECOND
    backoff: _Backoff = msgspec.field(default_factory=_Backoff)


_OLDER: Final = '"maxAttempts"'


class _OlderAction(msgspec.Struct, rename="camel"):
    """An action from before schedules had a policy of their own."""

    max_attempts: int = DEFAULT.max_attempts


def policy_of(definition: Definition) -> RetryPolicy:
    """The policy in a definition. Raises Malformed for one of a shape that the API would have refused.

    A schedule that is older than the field `retry` may have the number of its attempts in its action: it still counts.
    """
    try:
        return _policy(definition.retry or "{}", definition.action if _OLDER in definition.action else "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Malformed(f"a retry policy that cannot be read: {error}") from error


@lru_cache(maxsize=1_000)
def _policy(retry: str, action: str) -> RetryPolicy:
    """Each is asked for several times, and many schedules have the same."""
    given = msgspec.json.decode(retry, type=_Retry)
    attempts = given.max_attempts
    if attempts is None:
        attempts = msgspec.json.decode(action, type=_OlderAction).max_attempts
    first = _within(given.backoff.first, MAX_FIRST_SECONDS)
    return RetryPolicy(
        max_attempts=_within(attempts, MAX_ATTEMPTS),
        max_age=_within(given.max_age_seconds, MAX_AGE_SECONDS) * SECOND,
        first=first,
        factor=min(max(given.backoff.factor, 1), MAX_FACTOR),
        longest=max(first, _within(given.backoff.max, MAX_AGE_SECONDS)),
    )


def _within(number: int, most: int) -> int:
    return min(max(number, 1), most)


def allows_another(policy: RetryPolicy, attempt: int) -> bool:
    """Whether there is another attempt if the one with this number fails. After a later one than the first, the age of
    the schedule may be against it.
    """
    return attempt < policy.max_attempts and policy.first * SECOND <= policy.max_age


def backoff_seconds(policy: RetryPolicy, attempt: int) -> float:
    """The delay after `attempt` before it is spread: it grows from `first` by `factor`, up to `longest`."""
    return min(policy.first * policy.factor ** (attempt - 1), policy.longest)


def retry_seconds(policy: RetryPolicy, schedule_id: str, attempt: int, asked: int | None = None) -> int:
    """Seconds until the attempt after `attempt`: those of the backoff, up to a quarter less by id.

    The spread keeps schedules that failed together from coming back together. If the target asked for a delay
    (`Retry-After`), that one is used.
    """
    if asked is not None:
        return max(asked, 1)
    spread = hashlib.sha256(f"{schedule_id}#{attempt}".encode()).digest()[0] / 1024
    return max(round(backoff_seconds(policy, attempt) * (1 - spread)), 1)
