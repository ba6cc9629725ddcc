"""What is possible at the same time. The whole space of each choice is searched."""

from typing import Final

from delayer.series.rules.series import Overlap
from tests.model.series.state import Budget

SMALL: Final = {
    "events twice, late, in any order": Budget(twins=1, ends=1, given_up=1),
    "events lost": Budget(has_net=True, lost=3, given_up=1),
    "overlap skip, events lost": Budget(overlap=Overlap.SKIP, has_net=True, lost=2, ends=3, failures=1),
    "paused, resumed, crash": Budget(pauses=2, resumes=1, crashes=1, twins=1),
    "paused and resumed twice": Budget(pauses=2, resumes=2, twins=1),
    "overlap skip, paused, resumed": Budget(overlap=Overlap.SKIP, ends=4, pauses=1, resumes=1, twins=1, failures=1),
    "deleted, crash, run-now": Budget(deletes=2, crashes=1, runs=1, twins=1),
    "paused, resumed, deleted": Budget(pauses=1, resumes=1, deletes=1),
    "changed twice": Budget(patches=2, twins=1),
    "changed, events lost": Budget(patches=1, torn=1, has_net=True, lost=1),
    "overlap queue-one, changed": Budget(overlap=Overlap.QUEUE_ONE, patches=1, torn=1, ends=4),
    "changed, paused, resumed": Budget(patches=1, pauses=1, resumes=1),
    "changed, deleted, crash": Budget(patches=1, deletes=2, crashes=1),
    "given up, redriven, deleted": Budget(given_up=1, redrives=1, deletes=1),
    "failed, redriven, paused, resumed": Budget(failures=1, redrives=1, pauses=1, resumes=1),
    "run-now, paused, resumed": Budget(runs=1, pauses=1, resumes=1),
    "run-now, redriven, deleted": Budget(runs=1, failures=1, redrives=1, deletes=1),
    "an occurrence is changed, deleted": Budget(own_patches=1, deletes=1, failures=1),
    "an occurrence is changed, paused, resumed": Budget(own_patches=1, pauses=1, resumes=1),
    "an occurrence is cancelled, paused, resumed": Budget(own_deletes=1, pauses=1, resumes=1),
    "an occurrence is cancelled, and one changed": Budget(own_deletes=1, own_patches=1, patches=1),
    "an occurrence is cancelled, and the end of the rule is put off": Budget(own_deletes=1, patches=1, bounds=1),
    "an occurrence is moved early, and the end of the rule is put off": Budget(times=2, moves=1, patches=1, bounds=1),
    "its group is cancelled": Budget(group_cancels=2, crashes=1),
    "run-now twice, deleted": Budget(times=1, runs=2, deletes=1),
    "backfill, events twice": Budget(times=2, backfills=1, ends=2, twins=1),
    "backfill, events lost": Budget(times=1, backfills=1, ends=2, has_net=True, lost=1),
    "backfill, paused, resumed": Budget(times=1, backfills=1, ends=2, pauses=1, resumes=1),
    "backfill, deleted": Budget(times=1, backfills=1, ends=2, deletes=1, given_up=1),
    "backfill, one of it is cancelled, paused, resumed": Budget(
        times=1, backfills=1, own_deletes=1, pauses=1, resumes=1
    ),
    "backfill, one of it is changed, deleted": Budget(times=1, backfills=1, own_patches=1, failures=1, deletes=1),
    "backfill, one of it is redriven, deleted": Budget(times=1, backfills=1, redrives=1, failures=1, deletes=1),
    "backfill, the series is changed": Budget(times=1, backfills=1, ends=1, patches=1, torn=1),
    "batches, two steppers, crash": Budget(steppers=2, twins=1, unwritten=1, crashes=1),
    "batches, overlap skip, paused, resumed, net": Budget(
        overlap=Overlap.SKIP, steppers=1, has_net=True, times=2, ends=2, pauses=1, resumes=1
    ),
    "batches, paused, resumed, deleted": Budget(steppers=2, times=2, pauses=1, resumes=1, deletes=1),
    "batches, changed, torn": Budget(overlap=Overlap.QUEUE_ONE, steppers=1, times=2, patches=1, torn=1, ends=2),
    "batches, backfill": Budget(steppers=1, times=2, backfills=1, ends=1, unwritten=1, twins=1),
}
BIG: Final = {
    "events lost, given up, redriven, paused, resumed": Budget(
        has_net=True, lost=1, given_up=1, redrives=1, pauses=1, resumes=1
    ),
    "changed, paused, resumed, deleted, events lost": Budget(
        has_net=True, lost=1, patches=1, pauses=1, resumes=1, deletes=1
    ),
    "overlap skip, changed, paused, resumed": Budget(
        overlap=Overlap.SKIP, ends=4, torn=1, patches=1, pauses=1, resumes=1
    ),
    "overlap queue-one, failed, redriven, deleted": Budget(
        overlap=Overlap.QUEUE_ONE, ends=4, failures=1, redrives=1, deletes=1
    ),
    "an occurrence is changed, another redriven, deleted": Budget(own_patches=1, failures=1, redrives=1, deletes=1),
    "an occurrence is cancelled, changed, paused, resumed": Budget(own_deletes=1, patches=1, pauses=1, resumes=1),
    "batches, two steppers, backfill": Budget(steppers=2, times=1, backfills=1, ends=2),
    "batches, two steppers, changed, torn": Budget(
        overlap=Overlap.QUEUE_ONE, steppers=2, times=2, patches=1, torn=1, ends=2
    ),
    "backfill, paused, resumed, crash": Budget(times=1, backfills=1, ends=1, pauses=1, resumes=1, crashes=1, twins=1),
    "backfill, run-now, paused, resumed, deleted": Budget(times=1, backfills=1, runs=1, pauses=1, resumes=1, deletes=1),
    "paused, resumed, deleted, run-now, crash": Budget(pauses=1, resumes=1, deletes=1, runs=1, crashes=1),
}
