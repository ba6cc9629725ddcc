"""A name by as much of it as is needed."""

from collections.abc import Iterable


def by_prefix(word: str, names: Iterable[str]) -> str | None:
    """The name that it is, or the only one that begins so; `http` is `http-request` though there be `http-put`.

    None if there is none. Raises LookupError, with those that it might be, if there are several.
    """
    known = list(names)
    if word in known:
        return word
    found = [name for name in known if name.startswith(word)]
    if len(found) > 1 and f"{word}-request" in found:
        return f"{word}-request"
    if len(found) > 1:
        raise LookupError(", ".join(found))
    return found[0] if found else None
