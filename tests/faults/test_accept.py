"""api-schedule-post: any call may fail; what was answered 201 fires, once."""

from delayer.actions.rules.message_group import message_group_of
from tests.fakes.faults import FaultPlan
from tests.faults.cases import every_fault, spoiled
from tests.faults.scenarios import check_fired_once, soon_and_later, target_down_at_first


def test_every_fault() -> None:
    """A put whose answer was lost leaves a second schedule, that the client knows nothing of: at most one each.

    It takes two seconds, for 32 faults: the faults of whole stories are many.
    """
    for case, world in every_fault("accept", soon_and_later):
        check_fired_once(case, world)
        assert len(world.accepted) == 5, case
        assert len(world.target.reached) <= 6, case


def test_the_scenario_without_faults() -> None:
    """Four writes for each schedule: put, delete, claim, outcome (ADR 0035)."""
    world = spoiled("accept", soon_and_later, FaultPlan())
    check_fired_once("no fault", world)
    assert len(world.feed.rows) == 2 * 5
    assert world.handed_over() == 5
    assert max(world.observer.lateness[1:]) == 0, "all but the overdue one fire to the millisecond"
    assert world.observer.counts["Enqueued"] == 5
    assert world.observer.counts["Claimed"] == 5
    assert world.observer.counts["Executed"] == 5


def test_every_message_on_the_path_has_its_message_group() -> None:
    """One owner and one target here: one message group, in both queues and on every retry (ADR 0039)."""
    world = spoiled("accept", target_down_at_first, FaultPlan())
    (message_group,) = world.delayer_queue.message_groups
    assert message_group == message_group_of(world.accepted[0])
    assert world.http_queue.message_groups == {message_group}
    assert world.http_queue.sent == 3
