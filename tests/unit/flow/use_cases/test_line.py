"""A line says at once what may be claimed now, and of all else when it is to be looked at again."""

import json
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.ports import Unavailable
from delayer.flow.rules.block import EVERY, Block, BlockKind, Party, crowded, opened
from delayer.flow.rules.gate import SHORTEST_WAIT, Go, Later
from delayer.flow.rules.limit import line_of
from delayer.flow.words import suspended
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.messages import DelayerMessage, Slot
from tests.fakes.stack import LEAD
from tests.looking import all_rows
from tests.samples import NOW, OWNER, a_delayer_message
from tests.tables import preceded
from tests.unit.flow.use_cases.asked import PARTY, TEN, Asked, asked, unclaimed

OVER = opened(PARTY, NOW - 20 * SECOND, "HTTP 503")  # its pause is
CROWD = crowded(PARTY, NOW, None)
assert CROWD


def down() -> None:
    raise Unavailable("down")


def probe(stack: Asked) -> str:
    return "".join(block.probe for block in all_rows(stack.blocks).values())


def far(stack: Asked, messages: dict[str, DelayerMessage]) -> list[Later[DelayerMessage]]:
    answers = stack.line().line_up(messages, NOW + LEAD).values()
    found = [answer for answer in answers if isinstance(answer, Later)]
    assert len(found) == len(messages), answers
    return found


def test_without_blocks_all_go_by_one_read_and_void_turns_make_nothing_later() -> None:
    stack, reads = asked(), list[int]()
    stack.blocks = preceded(stack.blocks, lambda: reads.append(1), ["query"])
    line = stack.line()
    for _ in range(10):
        messages = unclaimed(5, NOW + SECOND)
        with_turn = evolve(messages["m0"], slots=(Slot(line="gone", at=NOW + HOUR),))
        answers = line.line_up({**messages, "m0": with_turn}, NOW + LEAD)
        assert answers == {key: Go(message=one, at=NOW + SECOND) for key, one in messages.items()}
        line.over(with_turn)
    assert len(reads) == 1
    assert stack.plan.seen == []


def test_if_the_blocks_were_never_read_nobody_knows() -> None:
    stack = asked()
    stack.blocks = preceded(stack.blocks, down, ["query"])
    line = stack.line()
    assert {type(answer) for answer in line.line_up(unclaimed(2), NOW + LEAD).values()} == {Unavailable}
    line.over(unclaimed(1)["m0"])


@pytest.mark.parametrize(
    "block",
    [
        suspended(Party(owner=OWNER, target=EVERY), NOW, "", ""),
        suspended(Party(owner=EVERY, target=PARTY.target), NOW, "", ""),
        opened(PARTY, NOW, "HTTP 503"),
        CROWD,
    ],
    ids=["owner", "target", "circuit", "crowd"],
)
def test_what_must_wait_says_for_what_and_others_go(block: Block) -> None:
    stack = asked(block, TEN)
    other = a_delayer_message(owner="another", action=json.dumps({"type": "http-request", "url": "http://other/"}))
    answers = stack.line().line_up({**unclaimed(1), "other": other}, NOW + LEAD)
    later = answers["m0"]
    assert isinstance(later, Later)
    assert (later.why, later.message) == (block, unclaimed(1)["m0"])
    assert later.at >= NOW + SHORTEST_WAIT * SECOND
    assert isinstance(answers["other"], Go)
    assert stack.plan.seen == [], "it books no turn"


def test_of_a_batch_and_of_two_relays_one_probes() -> None:
    stack = asked(OVER)
    one, other = stack.line(), stack.line()
    assert one.gate.view()
    assert other.gate.view()
    answers = [*one.line_up(unclaimed(2), NOW).values(), *other.line_up(unclaimed(3), NOW).values()]
    went = [answer.message.nonce for answer in answers if isinstance(answer, Go)]
    assert went == ["n0", "n0"], "itself, once more: its claim says which of the two it is"
    assert probe(stack) == "n0"


def test_what_has_ended_lets_another_one_probe() -> None:
    stack = asked(OVER)
    line, messages = stack.line(), unclaimed(2)
    for key, message in messages.items():
        assert isinstance(line.line_up({key: message}, NOW)[key], Go)
        assert probe(stack) == message.nonce
        line.over(message)
        line.over(message)
    assert probe(stack) == ""


def test_a_batch_books_its_turns_with_one_write() -> None:
    stack = asked(TEN)
    answers = list(stack.line().line_up(unclaimed(10), NOW + LEAD).values())
    assert stack.writes("Lines") == 1
    for at, answer in enumerate(answers):
        assert isinstance(answer, Go)
        assert (answer.at, answer.message.age_from) == (NOW + LEAD + 100 * at, NOW)
        assert answer.message.slots == (Slot(line=line_of(TEN), at=answer.at),)


def test_a_turn_makes_nothing_earlier() -> None:
    answers = asked(TEN).line().line_up(unclaimed(2, NOW + 2 * SECOND), NOW + LEAD).values()
    assert [answer.at - NOW for answer in answers if isinstance(answer, Go)] == [2_000, 2_100]


def test_what_has_its_turn_later_comes_again_with_it_and_lets_another_one_probe() -> None:
    stack = asked(TEN, OVER)
    stack.ahead(TEN, MINUTE)
    [later] = far(stack, unclaimed(1))
    assert (later.at, later.why) == (NOW + MINUTE, TEN)
    assert later.message.slots == (Slot(line=line_of(TEN), at=NOW + MINUTE),)
    assert probe(stack) == ""
    stack.clock.move(MINUTE - SECOND)
    writes = stack.writes("Lines")
    again = stack.line().line_up({"": later.message}, stack.clock.now() + LEAD)[""]
    assert isinstance(again, Go)
    assert (again.at, again.message.age_from, stack.writes("Lines")) == (NOW + MINUTE, NOW, writes)


@pytest.mark.parametrize(
    ("changes", "at"),
    [({"retry": '{"maxAgeSeconds":60}'}, 61), ({"on_late": '{"after":"PT30S","do":"drop"}'}, 31)],
    ids=["too old", "dropped"],
)
def test_what_could_not_use_a_turn_books_none(changes: dict[str, Any], at: int) -> None:
    stack = asked(TEN)
    stack.ahead(TEN, 2 * MINUTE)
    before = all_rows(stack.lines)
    [later] = far(stack, unclaimed(1, **changes))
    assert (later.why, later.message.slots, later.message.age_from) == (TEN, (), NOW)
    assert NOW + at * SECOND - SECOND <= later.at <= NOW + at * SECOND
    assert all_rows(stack.lines) == before


def test_if_no_turn_can_be_booked_nobody_knows_and_others_go_on() -> None:
    stack = asked(TEN)
    stack.lines = preceded(stack.lines, down)
    answers = stack.line().line_up({**unclaimed(1), "other": a_delayer_message(owner="another")}, NOW + LEAD)
    assert (type(answers["m0"]), type(answers["other"])) == (Unavailable, Go)


def test_of_two_limits_only_one_is_booked_ahead() -> None:
    """Else one owner's backlog would keep all others from a target that has room for them."""
    of_all = evolve(TEN, party=Party(owner=EVERY, target=PARTY.target), every=10_000)
    stack = asked(TEN, of_all)
    stack.ahead(TEN, MINUTE)
    far(stack, unclaimed(3))
    assert set(all_rows(stack.lines)) == {line_of(TEN)}


def test_a_limit_alone_makes_nothing_wait_at_the_gate() -> None:
    assert asked(TEN).line().gate.closed(unclaimed(1)["m0"].schedule, "n0") is None
    assert BlockKind.LIMIT not in asked(TEN).line().gate.heeds
