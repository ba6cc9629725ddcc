"""Which one is meant: a schedule or a series, by its id or by its name."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from attrs import frozen

from delayer_client.cli.reading.durations import NotRead

if TYPE_CHECKING:
    from delayer_client.errors import NotFound

Value = TypeVar("Value")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


Found = TypeVar("Found", bound=_HasId)


@frozen
class Kind:
    """The kind of thing that is looked for, and how its ids look."""

    noun: str
    id_form: re.Pattern[str]

    def is_id(self, text: str) -> bool:
        """Whether it has the form of an id; a name may have it, too."""
        return self.id_form.fullmatch(text) is not None


SCHEDULE: Final = Kind("schedule", re.compile(r"[0-9a-v]{47}"))
SERIES: Final = Kind("series", re.compile(r"[0-9a-f]{32}"))
NO_SUCH: Final = "urn:delayer:problem:not-found"


def by_id_or_name(
    kind: Kind, which: str | None, name: str | None, by_id: Callable[[str], Value], by_name: Callable[[str], Value]
) -> Value:
    """A text that has the form of an id is asked for as one first, all else as a name first; and then the other way
    round.

    Both ways are without a body: what is refused is the id, or the name. With `name` it is a name for certain.
    Raises NotRead unless one of both is given, and NotFound.
    """
    from delayer_client.errors import Invalid, NotFound

    if (which is None) == (name is None):
        raise NotRead("Give the id or the name; --name says that it is a name.")
    if which is None:
        try:
            return by_name(name or "")
        except NotFound as error:
            raise _said(error, f'There is no {kind.noun} with the name "{name}".') from None
    first, second = (by_id, by_name) if kind.is_id(which) else (by_name, by_id)
    try:
        return first(which)
    except (NotFound, Invalid) as error:
        try:
            return second(which)
        except Invalid:
            raise error from None
        except NotFound as unknown:
            raise _said(unknown, f'There is no {kind.noun} with the id or the name "{which}".') from None


def acting(
    kind: Kind,
    which: str | None,
    name: str | None,
    act: Callable[[str], Value],
    get: Callable[[str], Found],
    get_named: Callable[[str], Found],
) -> Value:
    """The answer to a call that changes something, by its id. Names are looked up before.

    So what is wrong with the call is never taken for a wrong id. Raises as `by_id_or_name`, and what `act` raises.
    """
    from delayer_client.errors import Invalid, NotFound

    if which is not None and name is None and kind.is_id(which):
        try:
            return act(which)
        except (NotFound, Invalid):
            found = by_id_or_name(kind, which, None, get, get_named).id
            if found == which:
                raise
            return act(found)
    return act(by_id_or_name(kind, which, name, get, get_named).id)


def _said(error: "NotFound", sentence: str) -> "NotFound":
    """Puts a sentence with the word that the user gave in the place of the API's text, which names a path.

    A 404 that does not come from Delayer's API is left as it is.
    """
    from msgspec.structs import replace

    if error.problem.type != NO_SUCH:
        return error
    return type(error)(replace(error.problem, detail=sentence), error.retry_after, error.may_be_applied)
