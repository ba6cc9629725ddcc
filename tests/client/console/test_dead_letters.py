"""Dead letters: grouped by reason, looked at, counted before many are redriven or discarded."""

from tests.client.console.world import OperatorFunction, console

LETTERS = {"failed/1": "HTTP 503", "failed/2": "HTTP 503", "dead-lettered/3": "no executor"}


def test_they_are_grouped_by_reason() -> None:
    with console(operator=OperatorFunction(LETTERS).stack) as world:
        page = world.page("/dead-letters")
        assert page.index("HTTP 503") < page.index("no executor"), "the most frequent first"
        assert "no executor" not in world.page("/dead-letters?kind=failed/")


def test_none_say_what_would_be_here() -> None:
    with console(operator=OperatorFunction({}).stack) as world:
        page = world.page("/dead-letters")
        assert "There are none" in page
        assert "delayer schedule" in page
        assert "curl -X POST" in page


def test_one_is_looked_at_and_discarded() -> None:
    letters = OperatorFunction(LETTERS)
    with console(operator=letters.stack) as world:
        world.page()
        assert "***" in world.page("/dead-letters/look?key=failed/1")
        world.press("/dead-letters/one/discard", key="failed/1")
        assert {"command": "discard", "key": "failed/1", "by": "console"} in letters.asked
        assert "failed/1" not in letters.letters


def test_many_are_counted_before_anything_is_done() -> None:
    letters = OperatorFunction(LETTERS)
    with console(operator=letters.stack) as world:
        world.page()
        page = world.press("/dead-letters/count/redrive", reason="HTTP 503")
        assert letters.asked[-1]["dryRun"]
        assert "Redrive 2</button>" in page
        assert len(letters.letters) == 3, "nothing is done yet"
        until = page.split('name="until" value="')[1].split('"')[0]
        page = world.press("/dead-letters/many/redrive", reason="HTTP 503", until=until)
        assert "2 schedules redriven." in page
        assert list(letters.letters) == ["dead-lettered/3"]
        done = next(event for event in letters.asked if event.get("dryRun") is False)
        assert done["where"] == {"reason": "HTTP 503", "until": until}, "what came after the count is left alone"


def test_without_credentials_each_step_says_what_it_needs() -> None:
    with console() as world:
        world.page()
        for page in (
            world.page("/dead-letters/look?key=x"),
            world.press("/dead-letters/count/redrive", reason=""),
            world.press("/dead-letters/many/redrive", reason=""),
            world.press("/dead-letters/one/redrive", key="x"),
        ):
            assert "Set AWS_PROFILE." in page
