"""Which one is meant: a schedule or a series, by its id or by its name."""

import re
from collections.abc import Callable
from typing import Final, TypeVar

from delayer_client.cli.reading.durations import NotRead

Value = TypeVar("Value")
SCHEDULE_ID: Final = re.compile(r"[0-9a-v]{47}")
SERIES_ID: Final = re.compile(r"[0-9a-f]{32}")


def by_id_or_name(
    form: re.Pattern[str],
    which: str | None,
    name: str | None,
    by_id: Callable[[str], Value],
    by_name: Callable[[str], Value],
) -> Value:
    """What has the form of an id is asked for as one first, all else as a name first; and then the other way round.

    With `name` it is a name for certain. Raises NotRead unless one of both is given, and NotFound.
    """
    from delayer_client.errors import Invalid, NotFound

    if (which is None) == (name is None):
        raise NotRead("Give the id or the name; --name says that it is a name.")
    if which is None:
        return by_name(name or "")
    first, second = (by_id, by_name) if form.fullmatch(which) else (by_name, by_id)
    try:
        return first(which)
    except (NotFound, Invalid) as error:
        try:
            return second(which)
        except Invalid:
            raise error from None
