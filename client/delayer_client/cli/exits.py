"""The exit statuses of the command `delayer`. They are stable: scripts may rely on them."""

from enum import IntEnum
from typing import Final


class Exit(IntEnum):
    """A script can tell these apart."""

    OK = 0
    NO = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    NO_ANSWER = 5
    PROBLEMS = 6
    NOT_IN_TIME = 7
    DEFECT = 70
    NOT_WRITTEN = 74
    INTERRUPTED = 130


MEANING: Final = {
    Exit.OK: (
        "Done. Of `cancel ID`: it will never be handed over. Of a group: the job has ended, and its counts say what "
        "was handed over before. Of `--wait`: it was executed."
    ),
    Exit.NO: (
        "The answer is no: it is too late, the name is taken, or what was waited for has failed. Of `serve`: what may "
        "pass by itself, such as a port in use."
    ),
    Exit.USAGE: "Wrong usage: a flag, a value or a field is wrong, or a question could not be asked.",
    Exit.NOT_FOUND: "There is no such schedule, series, connection, job or dead letter, or it is forgotten.",
    Exit.NOT_ALLOWED: "No credentials, or credentials that are not allowed to do it.",
    Exit.NO_ANSWER: "No answer, or not now: the stack is not there, unavailable, or the quota is used up.",
    Exit.PROBLEMS: "`doctor`, `verify` or `import` has found problems.",
    Exit.NOT_IN_TIME: "The schedule or the job has not ended within `--timeout`.",
    Exit.DEFECT: "A defect of the command line itself.",
    Exit.NOT_WRITTEN: (
        "Standard output takes nothing: a full disk, a closed descriptor. What was asked for may have been done; the "
        "answer, with the id, is on standard error."
    ),
    Exit.INTERRUPTED: "Ended by Ctrl-C.",
}
