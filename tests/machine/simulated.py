"""The deliberate bugs of the simulation on one machine: each is found here, too, or makes no sense here.

They are the same: what is put into the rules, the steps and the use cases there is put into them here. A bug that makes
no sense here has a reason of one line.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from attrs import frozen

from delayer.serve import reactions
from tests.machine.promise import Promise
from tests.machine.weather import Weather

FAIR: Final = Weather(retries=0.2, refusals=0.05, slow=200)
DOWN: Final = Weather(retries=0.3, outages=True, slow=300)
KILLED: Final = Weather(kills=1, retries=0.7, slow=5)


@frozen(kw_only=True)
class Here:
    """It is found by the promise that it breaks here."""

    breaks: Promise
    weather: Weather | None = None  # in which it shows soon; None: that of each seed
    is_rare: bool = False  # it takes more than some seconds to find it
    also: tuple[ModuleType, ...] = ()  # modules that have the function that is replaced by its name


FOUND: Final[Mapping[str, Here]] = {
    "floored-delay": Here(breaks=Promise.NEVER_EARLY),
    "claim-by-message-id": Here(breaks=Promise.NOTHING_LOST),
    "claim-over-ends": Here(breaks=Promise.LEGAL, weather=DOWN),
    "hand-over-first": Here(breaks=Promise.NOTHING_LOST),
    "late-dropped": Here(breaks=Promise.ONE_END),
    "payload-lost": Here(breaks=Promise.AS_ASKED),
    "no-outcome-check": Here(breaks=Promise.CLAIMED_FIRST),
    "no-fencing": Here(breaks=Promise.ONCE, weather=KILLED),
    "no-repair": Here(breaks=Promise.NOTHING_LOST),
    "failed-without-body": Here(breaks=Promise.NOTHING_LOST),
    "gives-up-at-once": Here(breaks=Promise.ONE_END),
    "failure-is-success": Here(breaks=Promise.ONE_END),
    "early-attempt": Here(breaks=Promise.RETRIES),
    "hop-with-its-old-token": Here(breaks=Promise.NOTHING_LOST),
    "hop-without-a-trace": Here(breaks=Promise.ONCE, is_rare=True),
    "hop-is-an-attempt": Here(breaks=Promise.ONCE),
    "delay-cut-short": Here(breaks=Promise.RETRIES, weather=FAIR),
    "outcome-before-its-attempt": Here(breaks=Promise.CLAIMED_FIRST),
    "later-forgets-its-place": Here(breaks=Promise.NOTHING_LOST),
    "overdue-forgotten": Here(breaks=Promise.AS_ASKED),
    "cancel-unmarked": Here(breaks=Promise.CANCEL_TRUTH),
    "cancel-over-claims": Here(breaks=Promise.LEGAL),
    "cancel-says-too-old": Here(breaks=Promise.CANCEL_TRUTH),
    "change-says-on-its-way": Here(breaks=Promise.CANCEL_TRUTH),
    "replaced-schedule-not-ended": Here(breaks=Promise.CANCEL_TRUTH),
    "stop-not-read": Here(breaks=Promise.STOPPED),
    "stop-says-too-early": Here(breaks=Promise.STOPPED),
    "stopped-is-redriven": Here(breaks=Promise.STOPPED, weather=FAIR),
    "rule-for-lateness-ignored": Here(breaks=Promise.DROPPED_WHEN_LATE),
    "redriven-and-dropped": Here(breaks=Promise.ONE_END),
    "late-in-another-unit": Here(breaks=Promise.ONE_END),
    "key-counts-as-new": Here(breaks=Promise.ONE_KEY),
    "key-of-any-body": Here(breaks=Promise.ONE_KEY),
    "key-of-a-change-forgotten": Here(breaks=Promise.ONE_KEY),
    "name-taken-over": Here(breaks=Promise.ONE_NAME),
    "name-never-free": Here(breaks=Promise.ONE_NAME),
    "group-without-rows": Here(breaks=Promise.CANCEL_TRUTH, weather=FAIR),
    "any-event-steps": Here(breaks=Promise.CANCEL_TRUTH),
    "last-of-a-batch-forgotten": Here(breaks=Promise.GOES_ON),
    "second-by-the-first-read": Here(breaks=Promise.EACH_ONCE),
    "steps-in-a-pause": Here(breaks=Promise.CANCEL_TRUTH),
    "time-from-the-last-run": Here(breaks=Promise.AS_ASKED),
    "missed-forgotten": Here(breaks=Promise.NONE_MISSING),
    "missed-made-up": Here(breaks=Promise.EACH_ONCE, weather=KILLED),
    "overlap-ignored": Here(breaks=Promise.AS_ASKED),
    "pause-made-up": Here(breaks=Promise.EACH_ONCE),
    "change-beside-the-old-one": Here(breaks=Promise.NOTHING_LOST),
    "own-change-unnamed": Here(breaks=Promise.CANCEL_TRUTH),
    "redrive-unnamed": Here(breaks=Promise.CANCEL_TRUTH),
    "run-now-twice": Here(breaks=Promise.ONE_KEY),
    "series-key-counts-as-new": Here(breaks=Promise.ONE_KEY),
    "cancel-not-followed": Here(breaks=Promise.CANCEL_TRUTH),
    "decided-without-its-row": Here(breaks=Promise.NOTHING_LOST),
    "waits-with-its-old-token": Here(breaks=Promise.NOTHING_LOST),
    "wait-is-an-attempt": Here(breaks=Promise.ONCE),
    "given-up-at-once": Here(breaks=Promise.ONE_END),
    "probe-is-an-attempt": Here(breaks=Promise.ONE_END, weather=DOWN),
    "attempt-not-journaled": Here(breaks=Promise.HISTORY, also=(reactions,)),
    "end-without-its-times": Here(breaks=Promise.HISTORY, also=(reactions,)),
    "second-end-unpublished": Here(breaks=Promise.HISTORY, also=(reactions,)),
}

