"""The simulation itself: a story can be played again, and its times are those of the template."""

from delayer.schedule.instants import SECOND
from tests.cfn import functions, resources
from tests.simulation.engine.chance import Chance
from tests.simulation.story.plan import Weather
from tests.simulation.story.story import Story, play
from tests.simulation.system.stack import NAMES, TIMEOUTS, Stack
from tests.world import LEASE


def test_the_same_seed_is_the_same_story() -> None:
    """Step by step; else a failure could not be played again.

    It takes some seconds: the story is played twice, with all that it says.
    """
    assert play(Story(seed=7), aloud=True).log == play(Story(seed=7), aloud=True).log


def test_a_story_played_with_all_that_happened_is_the_same() -> None:
    """What was noted of it is all there is to it."""
    played = play(Story(seed=12), aloud=True)
    assert play(played.story, aloud=True).log == played.log


def test_its_times_are_those_of_the_template() -> None:
    """How long a function may take, and a message stays invisible: leases and retries hang on them."""
    given = {name: functions()[NAMES[name]]["Timeout"] * SECOND for name in TIMEOUTS}
    assert given == TIMEOUTS
    stack = Stack(chance=Chance(0, None), weather=Weather(), log=lambda who, what: None)
    queues = resources("AWS::SQS::Queue")
    for queue, name in (
        (stack.delayer_queue, "DelayerQueue"),
        (stack.sweep_queue, "SweepQueue"),
        (stack.http_queue, "ExecutorhttprequestQueue"),
        (stack.suspects, "SuspectsQueue"),
        (stack.series_queue, "SeriesQueue"),
    ):
        assert queue.visibility == queues[name]["VisibilityTimeout"] * SECOND
    assert functions()["delayer-relay"]["Timeout"] * SECOND == LEASE


def test_a_resume_leaves_behind_what_has_passed() -> None:
    """This story resumes a series whose occurrence runs on, and which has queued a time: it is not made up later.

    Its page says so (`docs/use/series.md`, Resuming); the oracle once asked for it.
    """
    assert play(Story(seed=623)).broken is None


def test_two_messages_with_one_body_may_meet() -> None:
    """In this story the note of a run is there for another run with the same body: nobody died, and none is harmed."""
    assert play(Story(seed=809)).broken is None


def test_nothing_is_given_up_before_its_age_is_reached() -> None:
    """Here a limit of one a minute looks at schedules just before they are due; their `maxAgeSeconds` is 60."""
    assert play(Story(seed=1670)).broken is None
