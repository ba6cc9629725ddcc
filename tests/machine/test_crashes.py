"""The power is cut at points of a story of a machine. `make crashes ARGS="--story machine"` tries all of them."""

from tests.crashes.images import chosen
from tests.crashes.trying import recorded, scratch, try_all
from tests.machine.crash_story import MachineStory

EVERY_DAY = 150  # crash points
CARRIED_OUT = 60  # calls of clients and commands, at least
KINDS = {
    "api-batch-post",
    "api-schedule-delete",
    "api-schedule-patch",
    "api-schedule-post",
    "api-schedule-put",
    "api-schedule-stop",
    "api-series-delete",
    "api-series-pause",
    "api-series-post",
    "operator-dead-letters",
}


def test_what_the_world_has_heard_outlives_a_power_cut() -> None:
    """Half a minute at most: each crash point is a machine that comes to its end."""
    story = MachineStory()
    with scratch() as folder:
        recording = recorded(story, folder)
    assert story.answered.total() >= CARRIED_OUT
    assert set(story.answered) >= KINDS
    assert set(story.ends) >= {"executed", "failed", "cancelled", "replaced", "dropped"}
    tally = try_all(story, recording, chosen(recording, EVERY_DAY))
    assert tally.faults == ()


def test_a_commit_that_is_not_synced_is_found() -> None:
    """The deliberate bug."""
    story = MachineStory(setting="synchronous = NORMAL")
    with scratch() as folder:
        recording = recorded(story, folder)
    [fault] = try_all(story, recording, chosen(recording, EVERY_DAY)).faults
    assert "Broken" in fault.what
