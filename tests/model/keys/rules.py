"""What the calls go by, so that a guard can be taken out."""

from attrs import frozen


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    together: bool = True  # the row of the key is written in the transaction that replaces, and not after it
    only_if_none: bool = True  # that transaction holds only if there is no row of the key
    looks_again: bool = True  # the key is looked up once more before a call is refused
    compares: bool = True  # the row says which call it is of
    keeps: bool = True  # the row has what the answer needs


REAL = Rules()
