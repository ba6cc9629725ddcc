"""What the functions go by, so that a guard can be taken out."""

from attrs import frozen


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    conditional: bool = True  # a row is written only over the row that was read
    by_secret: bool = True  # and not over another of the same revision
    noted: bool = True  # a secret is noted before it is made
    vouched: bool = True  # a row names a secret only if its note is there, and not doomed
    doomed_first: bool = True  # a sweep dooms the note before it deletes the secret
    secret_first: bool = True  # the new secret is there before the row names it
    old_last: bool = True  # the old secret is deleted after the row has ceased to name it
    left_noted: bool = True  # in the transaction in which the row ceases to name it
    gate: bool = True  # what names a connection is put only together with the check that it is there and open
    patched_too: bool = True  # also what takes the place of a schedule that named it before
    closes: bool = True  # a DELETE closes the row, and looks again, before it removes it
    reads_again: bool = True  # an executor that finds no secret reads the row again


REAL = Rules()
