"""Dead letters: grouped by reason, looked at, counted before many are redriven or discarded."""

import pytest

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


def test_one_is_looked_at_and_discarded_after_a_question() -> None:
    letters = OperatorFunction(LETTERS)
    with console(operator=letters.stack) as world:
        world.page()
        page = world.page("/dead-letters/look?key=failed/1")
        assert "***" in page
        assert ">alice</strong>" in page, "whose it is"
        page = world.press("/dead-letters/one/discard", key="failed/1")
        assert "Discard this one?" in page
        assert "cannot be undone" in page
        assert "failed/1" in letters.letters, "nothing is done yet"
        world.press("/dead-letters/one/discard", key="failed/1", sure="yes")
        assert {"command": "discard", "key": "failed/1", "by": "console"} in letters.asked
        assert "failed/1" not in letters.letters
        assert "Redrive this one?" in world.press("/dead-letters/one/redrive", key="failed/2")
        assert "failed/2" in letters.letters, "nothing is done yet"
        world.press("/dead-letters/one/redrive", key="failed/2", sure="yes")
        assert "failed/2" not in letters.letters


def run_of(page: str) -> str:
    return page.split('name="run" value="')[1].split('"')[0]


def test_many_are_counted_before_anything_is_done() -> None:
    letters = OperatorFunction(LETTERS)
    with console(operator=letters.stack) as world:
        world.page()
        page = world.press("/dead-letters/count/redrive", reason="HTTP 503")
        assert letters.asked[-1]["dryRun"]
        assert "Redrive 2</button>" in page
        assert "whose reason is exactly “HTTP 503”, of all owners, stored before" in page
        assert len(letters.letters) == 3, "nothing is done yet"
        page = world.press("/dead-letters/many/redrive", run=run_of(page))
        assert "2 schedules redriven." in page
        assert list(letters.letters) == ["dead-lettered/3"]
        done = next(event for event in letters.asked if event.get("dryRun") is False)
        until = "2027-01-04T10:00:00Z"
        assert done["where"] == {"reason": "HTTP 503", "until": until}, "what came after the count is left alone"


@pytest.mark.parametrize("fields", [{}, {"run": "made-up"}, {"reason": "HTTP 503", "until": "2030-01-01T00:00:00Z"}])
def test_many_are_not_touched_without_a_count(fields: dict[str, str]) -> None:
    letters = OperatorFunction(LETTERS)
    with console(operator=letters.stack) as world:
        world.page()
        assert "they have to be counted first" in world.press("/dead-letters/many/discard", **fields)
        counted = run_of(world.press("/dead-letters/count/redrive", reason="HTTP 503"))
        assert "they have to be counted first" in world.press("/dead-letters/many/discard", run=counted)
        assert len(letters.letters) == 3
        assert not [event for event in letters.asked if event.get("dryRun") is False]


def test_those_without_a_reason_are_not_taken_together() -> None:
    letters = OperatorFunction({"failed/1": "", "failed/2": "", "failed/3": "HTTP 503"})
    with console(operator=letters.stack) as world:
        page = world.page("/dead-letters")
        assert page.count("Discard these…") == 1
        assert "take them one by one" in page
        assert "They were not counted" in world.press("/dead-letters/count/discard", reason="")
        assert not [event for event in letters.asked if "where" in event], "an empty one would be all there is"


@pytest.mark.parametrize("command", ["redrive", "discard"])
def test_a_reason_that_is_a_part_of_another_takes_its_own_only(command: str) -> None:
    letters = OperatorFunction({"failed/1": "HTTP 4", "failed/2": "HTTP 404", "failed/3": "HTTP 4"})
    with console(operator=letters.stack) as world:
        world.page()
        page = world.press(f"/dead-letters/count/{command}", reason="HTTP 4")
        assert f"{command.capitalize()} 2</button>" in page
        assert "2 schedules" in world.press(f"/dead-letters/many/{command}", run=run_of(page))
        assert letters.letters == {"failed/2": "HTTP 404"}


def test_a_run_in_pieces_has_the_sums_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("delayer_client.console.letters.run.LONGEST", -1.0)
    letters = OperatorFunction({f"failed/{number}": "HTTP 503" for number in range(5)})
    letters.at_a_time = 2
    with console(operator=letters.stack) as world:
        world.page()
        page = world.press("/dead-letters/count/redrive", reason="HTTP 503")
        page = world.press("/dead-letters/many/redrive", run=run_of(page))
        assert "2 redriven so far" in page
        page = world.press("/dead-letters/many/redrive", run=run_of(page))
        assert "4 redriven so far" in page
        assert "5 schedules redriven." in world.press("/dead-letters/many/redrive", run=run_of(page))


def test_all_of_a_group_can_be_opened_and_show_their_owner() -> None:
    letters = OperatorFunction({f"failed/{number}": "HTTP 503" for number in range(6)})
    with console(operator=letters.stack) as world:
        page = world.page("/dead-letters")
        assert page.count("look?key=") == 3
        assert page.count("of the owner alice") == 3
        following = page.split('<li><a href="/console')[1].split('"')[0].replace("&amp;", "&")
        assert world.page(following).count("look?key=") == 6


def test_without_credentials_each_step_says_what_it_needs() -> None:
    with console() as world:
        world.page()
        for page in (
            world.page("/dead-letters/look?key=x"),
            world.press("/dead-letters/count/redrive", reason="x"),
            world.press("/dead-letters/one/redrive", key="x"),
        ):
            assert "Set AWS_PROFILE." in page
