"""One test for many things that must all be well formed: it lists everything that is wrong.

For what is checked by reading (names, imports, the template, pages). An id for each thing costs more than the check;
and whoever has broken something wants all of it at once. What behaves has a parameter for each case instead.
"""

from collections.abc import Callable, Iterable
from typing import Any


def of_each(things: Iterable[Any], *, unpacked: bool = False) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """The test of one thing becomes the test of all. `unpacked`: each is a tuple of arguments."""
    every = list(things)
    assert every, "a test of nothing cannot fail"

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def of_all() -> None:
            wrong: list[Exception] = []
            for thing in every:
                try:
                    test(*thing) if unpacked else test(thing)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                    error.add_note(f"This is of {thing!s}.")
                    wrong.append(error)
            if wrong:
                raise ExceptionGroup(f"{len(wrong)} of {len(every)} are wrong", wrong)

        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(of_all, name, getattr(test, name))
        return of_all

    return decorate
