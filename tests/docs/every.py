"""One test of many things of a kind, such as all pages: it looks at each of them, and lists all that are wrong."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")


def every(things: Iterable[T], named: Callable[[T], str] = str) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """Makes a test of the check of one thing. A failure names each thing that fails, and not only the first."""
    listed = list(things)

    def made(check: Callable[[T], None]) -> Callable[[], None]:
        def test() -> None:
            wrong = [said for one in listed if (said := said_of(one, check, named))]
            if wrong or not listed:
                pytest.fail("\n".join(wrong) or "there is nothing to look at", pytrace=False)

        test.__name__, test.__qualname__ = check.__name__, check.__qualname__
        test.__module__, test.__doc__ = check.__module__, check.__doc__
        return test

    return made


def said_of(one: T, check: Callable[[T], None], named: Callable[[T], str]) -> str:
    """What a check says of one thing; nothing if all is right."""
    try:
        check(one)
    except Exception as error:  # noqa: BLE001 - one that is broken does not hide the others
        return f"{named(one)}: {type(error).__name__}: {error}"
    return ""
