"""What goes wrong on one machine, told in one sentence."""


class LocalStackError(Exception):
    """The local stack cannot start or go on; the text is one sentence for the user."""
