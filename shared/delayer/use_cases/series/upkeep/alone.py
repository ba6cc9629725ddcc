"""One series at a time: whatever is wrong with it, the others go on."""

import traceback
from collections.abc import Callable

from delayer.ports.observer import Observer
from delayer.ports.unavailable import Unavailable


def is_done(do: Callable[[], object], observer: Observer, schedule_id: str = "", series: str = "") -> bool:
    """Whether it did not raise. The text of a defect is not logged: it may hold what a client sent."""
    try:
        do()
    except Unavailable as error:
        observer.warn("a series waits", schedule_id, series=series, error=str(error))
        return False
    except Exception as error:  # noqa: BLE001 - see above
        where = traceback.format_tb(error.__traceback__)
        observer.warn("a series waits", schedule_id, series=series, error=type(error).__name__, where=where)
        return False
    return True
