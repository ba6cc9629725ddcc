"""The deliberate bugs of the simulation on one machine: each is found here, too, or makes no sense here.

They are the same: what is put into the rules, the steps and the use cases there is put into them here. A bug that makes
no sense here has a reason of one line.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from attrs import frozen

from delayer.serve.turns import reactions
from tests.machine.promise import Promise
from tests.machine.weather import Weather

KILLED: Final = Weather(kills=1, slow=5)
FAIR: Final = Weather(retries=0.2, refusals=0.05, slow=200)


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
    "hand-over-first": Here(breaks=Promise.NOTHING_LOST),
    "late-dropped": Here(breaks=Promise.ONE_END),
    "payload-lost": Here(breaks=Promise.AS_ASKED),
    "no-outcome-check": Here(breaks=Promise.CLAIMED_FIRST),
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
    "cancel-unmarked": Here(breaks=Promise.CANCEL_TRUTH),
    "cancel-over-claims": Here(breaks=Promise.LEGAL),
    "cancel-says-too-old": Here(breaks=Promise.CANCEL_TRUTH),
    "change-says-on-its-way": Here(breaks=Promise.CANCEL_TRUTH),
    "replaced-schedule-not-ended": Here(breaks=Promise.CANCEL_TRUTH),
    "stop-not-read": Here(breaks=Promise.STOPPED),
    "stop-says-too-early": Here(breaks=Promise.STOPPED),
    "rule-for-lateness-ignored": Here(breaks=Promise.DROPPED_WHEN_LATE),
    "redriven-and-dropped": Here(breaks=Promise.ONE_END),
    "late-in-another-unit": Here(breaks=Promise.ONE_END, is_rare=True),
    "key-counts-as-new": Here(breaks=Promise.ONE_KEY),
    "key-of-any-body": Here(breaks=Promise.ONE_KEY),
    "key-of-a-change-forgotten": Here(breaks=Promise.ONE_KEY),
    "name-taken-over": Here(breaks=Promise.ONE_NAME),
    "name-never-free": Here(breaks=Promise.ONE_NAME),
    "group-without-rows": Here(breaks=Promise.CANCEL_TRUTH, weather=FAIR, is_rare=True),
    "steps-in-a-pause": Here(breaks=Promise.CANCEL_TRUTH),
    "time-from-the-last-run": Here(breaks=Promise.AS_ASKED),
    "missed-forgotten": Here(breaks=Promise.NONE_MISSING, weather=KILLED, is_rare=True),
    "overlap-ignored": Here(breaks=Promise.AS_ASKED),
    "pause-made-up": Here(breaks=Promise.EACH_ONCE),
    "change-beside-the-old-one": Here(breaks=Promise.NOTHING_LOST),
    "own-change-unnamed": Here(breaks=Promise.ONE_KEY),
    "redrive-unnamed": Here(breaks=Promise.NOTHING_LOST),
    "run-now-twice": Here(breaks=Promise.ONE_KEY),
    "series-key-counts-as-new": Here(breaks=Promise.ONE_KEY),
    "cancel-not-followed": Here(breaks=Promise.CANCEL_TRUTH),
    "decided-without-its-row": Here(breaks=Promise.NOTHING_LOST),
    "waits-with-its-old-token": Here(breaks=Promise.NOTHING_LOST),
    "wait-is-an-attempt": Here(breaks=Promise.ONCE),
    "given-up-at-once": Here(breaks=Promise.ONE_END),
    "second-end-unpublished": Here(breaks=Promise.HISTORY, also=(reactions,)),
}

ENQUEUER: Final = "stream-enqueuer does not run here: a record stays in its table until it is claimed"
SWEEP: Final = "nothing is swept here: what is due is the first page of the table"
ONE_COPY: Final = "there is no second copy: record, claim and message change in one transaction"
NO_LEASE: Final = "claim and hand-over are one transaction: none is repeated"
WHOLE: Final = "a part of a turn that fails is undone whole, with all that it has sent and written"
ONE_READER: Final = "there is one thread that reads and writes: nothing comes between the two, and nothing is read late"
LIVES: Final = "a killer is found by the number of the life and not by receives: tests/unit/serve/test_lives.py"
NO_EVENT_LOST: Final = "no event is lost: the cursor of the feed moves with what it leads to"
EACH_EVENT: Final = "the journal is told of each event here: none is left out because a later one repeats it"
OF_ITS_RECORD: Final = "nobody is told the time that is in an id: the record is there until it is claimed"
NO_RELAXED: Final = "what is relaxed is in the same table as all else, and TTL deletes nothing"
NO_SHARED_MEMORY: Final = "there is one process: nobody else has written what it remembers"
RULE: Final = "a rule that sees neither process nor disk, and has no other input here: the simulation looks at it"

ELSEWHERE: Final[Mapping[str, str]] = {
    "overdue-filtered": ENQUEUER,
    "failed-ignored": ENQUEUER,
    "stream-errors-swallowed": ENQUEUER,
    "any-removal-fires": ENQUEUER,
    "far-removal-forgotten": ENQUEUER,
    "poison-blocks-shard": ENQUEUER,
    "failure-is-poison": ENQUEUER,
    "killer-blocks-shard": ENQUEUER,
    "stream-event-nonce": ENQUEUER,
    "never-brought-back": ENQUEUER,
    "one-minute-only": SWEEP,
    "watermark-too-soon": SWEEP,
    "deleted-is-empty": SWEEP,
    "big-bucket-skipped": SWEEP,
    "own-shards": SWEEP,
    "backlog-stops-all": SWEEP,
    "never-sent-again": "no message is minutes early: what waits here is delayed until it is due, however long that is",
    "missed-made-up": RULE,
    "no-fencing": ONE_COPY,
    "overdue-forgotten": OF_ITS_RECORD,
    "any-copy-claims": ONE_COPY,
    "attempts-forgotten": ONE_COPY,
    "no-stale-margin": ONE_COPY,
    "duplicate-discards-body": ONE_COPY,
    "last-token-only": ONE_COPY,
    "taken-without-a-note": ONE_COPY,
    "attempt-before-its-take": ONE_COPY,
    "no-lease": NO_LEASE,
    "claim-for-good": NO_LEASE,
    "retry-later-is-done": NO_LEASE,
    "stop-forgotten": NO_LEASE,
    "hand-over-failures-ignored": WHOLE,
    "retry-send-ignored": WHOLE,
    "exception-is-poison": WHOLE,
    "mark-before-body": WHOLE,
    "batch-succeeds-as-a-whole": WHOLE,
    "answers-in-another-order": WHOLE,
    "outcome-not-carried": "an outcome that cannot be written stays in memory: the bug here is outcome-not-kept",
    "last-of-an-executors-batch-forgotten": "an executor has no batches here: each message has a course of its own",
    "early-message-waits": "no other message waits behind one that is left in its queue, and no receive is counted",
    "eventual-reads": ONE_READER,
    "redrive-deletes-early": ONE_READER,
    "cursor-without-condition": ONE_READER,
    "cancels-before-the-cursor": ONE_READER,
    "received-too-often": LIVES,
    "suspected-by-its-receives": LIVES,
    "any-death-counts": LIVES,
    "never-a-killer": LIVES,
    "end-without-its-times": EACH_EVENT,
    "attempt-not-journaled": EACH_EVENT,
    "no-net": NO_EVENT_LOST,
    "net-looks-once": NO_EVENT_LOST,
    "relaxed-nonce-of-its-own": NO_RELAXED,
    "relaxed-removal-forgotten": NO_RELAXED,
    "blocks-read-once": NO_SHARED_MEMORY,
    "line-in-memory": NO_SHARED_MEMORY,
    "stopped-is-redriven": RULE,
    "probe-is-an-attempt": RULE,
    "any-event-steps": RULE,
    "last-of-a-batch-forgotten": RULE,
    "second-by-the-first-read": RULE,
    "claim-over-ends": RULE,
    "age-from-the-point-in-time": RULE,
    "backfill-at-the-claim": RULE,
    "only-the-current": RULE,
    "another-end-is-another-rule": RULE,
    "run-now-unnamed": RULE,
    "gate-not-asked-again": RULE,
    "claimed-and-waits": RULE,
    "all-probe": RULE,
    "any-probe-closes": RULE,
    "all-come-at-once": RULE,
    "pace-never-grows": RULE,
    "waits-once": RULE,
    "age-of-a-suspension": RULE,
    "more-and-more-wait": RULE,
    "missed-turn-is-used": RULE,
    "retry-without-a-turn": RULE,
    "claimed-in-line": RULE,
    "withdrawn-without-a-note": RULE,
    "revision-ignored": RULE,
}
