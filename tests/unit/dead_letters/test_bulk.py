"""Many dead letters with one command: selected, paced, resumed, repeated, and first tried without effect."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve

from delayer.dead_letters.commands import AT_A_TIME, OTHERS, REASONS, SAMPLE, Bulk, respond
from delayer.dead_letters.model import Contents, DeadLetter, Prefix
from delayer.dead_letters.rules import FASTEST, SLOWEST
from delayer.ledger.model import State
from delayer.schedule.instants import MINUTE, SECOND, Millis, format_instant
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.schedule import Schedule
from delayer.wiring import use_cases
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.looking import all_rows, put_row
from tests.samples import NOW, OWNER, a_claim, a_dead_letter, many_schedules
from tests.world import World

BATCH = "batches/one"  # an object with several records
BATCHES = {"prefix": "batches/"}
DISCARDED = "aws/lambda/mapping/shard/2026/11/21/batch"


def letter_of(schedule: Schedule, **changes: Any) -> DeadLetter:
    body = encode(DelayerMessage(schedule=schedule, nonce="n1"))
    return evolve(a_dead_letter(schedule_id=schedule.id, owner=schedule.owner, body=body, at=NOW - MINUTE), **changes)


def stored(world: World, number: int, **changes: Any) -> list[Schedule]:
    schedules = many_schedules(number)
    for one in schedules:
        world.store.put(letter_of(one, **changes))
    return schedules


def bulk_of(world: World) -> Bulk:
    return use_cases.bulk(world.ports("redrive"))


def call(bulk: Bulk, command: str = "redrive", where: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    answer = respond(bulk, {"command": command, "where": where or {}, **more})
    assert answer["ok"], answer["error"]
    result: dict[str, Any] = answer["result"]
    return result


def to_the_end(bulk: Bulk, command: str = "redrive", where: Mapping[str, str] | None = None) -> Counter[str]:
    """Call after call, as `make dead-letters` does it; the sum of the counts."""
    total: Counter[str] = Counter()
    after, until = "", ""
    while True:
        answer = call(bulk, command, {**(where or {}), "until": until}, after=after)
        total.update({name: answer.get(name, 0) for name in ("lookedAt", "matched", "redriven", "discarded")})
        total["calls"] += 1
        until = answer["until"]
        if "next" not in answer:
            return total
        after = answer["next"]


def fired(world: World) -> Counter[str]:
    return Counter(message.schedule.id for _, message in world.target.reached)


def a_batch(schedules: list[Schedule], malformed: int = 0) -> bytes:
    """What Lambda writes about records that it gave up on; here they are read from messages."""
    ids = [one.id for one in schedules] + ["?"] * malformed
    return json.dumps({"timestamp": "2026-11-21T08:00:00.021Z", "payload": {"Records": ids}}).encode()


# ------------------------------------------------------------ the selection


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ({}, "abcd"),
        ({"prefix": "failed/"}, "b"),
        ({"reason": "http 503"}, "b"),
        ({"from": "2026-11-21T08:59:00Z"}, "abd"),
        ({"until": "2026-11-21T08:59:00Z"}, "c"),
        ({"from": "2026-11-21T08:00:00Z", "until": "2026-11-21T09:59:00+01:00"}, "c"),
        ({"owner": "somebody"}, "c"),
        ({"group": "g"}, "ad"),
        ({"group": "g", "reason": "broken"}, "d"),
        ({"action": "sqs-send"}, "c"),
        ({"action": "sqs-send", "owner": OWNER}, ""),
        ({"group": "g", "owner": "somebody"}, ""),
        ({"owner": "some"}, ""),
    ],
    ids=str,
)
def test_what_is_selected_is_redriven_and_nothing_else(where: dict[str, str], chosen: str) -> None:
    world = World()
    a, b, c, d = many_schedules(4)
    a, d = (evolve(one, definition=evolve(one.definition, group="g")) for one in (a, d))
    of_queue = '{"type":"sqs-send","queueUrl":"https://sqs.eu-west-1.amazonaws.com/1/delayer-target-a"}'
    c = evolve(c, owner="somebody", definition=evolve(c.definition, action=of_queue))
    letters = {
        "a": letter_of(a, reason="late"),
        "b": letter_of(b, reason="gave up: HTTP 503", prefix=Prefix.FAILED),
        "c": letter_of(c, at=NOW - 30 * MINUTE),
        "d": letter_of(d, reason="broken"),
    }
    for one in letters.values():
        world.store.put(one)
    answer = call(bulk_of(world), where=where)
    assert (answer["matched"], answer["redriven"], answer["refused"]) == (len(chosen), len(chosen), {})
    assert sorted(world.store.objects) == sorted(letters[name].key for name in set("abcd") - set(chosen))
    assert world.delayer_queue.sent == len(chosen)


def test_of_a_batch_only_what_is_selected() -> None:
    """What the stream gave up on is of many owners. It stays stored until nothing in it is needed."""
    world = World()
    mine, other = many_schedules(2)
    other = evolve(other, owner="somebody")
    world.store.objects[BATCH] = a_batch([mine, other])
    bulk = evolve(bulk_of(world), redrive=evolve(world.redrive, read_dead_letter=reader([mine, other])))
    assert call(bulk, where={**BATCHES, "owner": OWNER})["redriven"] == 1
    assert set(all_rows(world.ledger)) == {mine.id}
    assert BATCH in world.store.objects
    assert call(bulk, "discard", {**BATCHES, "owner": "somebody"})["discarded"] == 1
    assert BATCH in world.store.objects, "the command was not for all of it"
    world.run_until(NOW + MINUTE)
    assert call(bulk, where=BATCHES)["refused"] == {"not redriven: it is executed": 1, "not redriven: it is dropped": 1}
    assert world.store.objects == {}
    assert fired(world) == {mine.id: 1}


@pytest.mark.parametrize("key", [DISCARDED, "waiting/1795251600000-0123456789abcdef.json"])
def test_what_is_brought_back_by_itself_is_left_alone(key: str) -> None:
    """A command for all must not end what is about to fire."""
    world = World()
    [one] = many_schedules(1)
    world.store.objects[key] = a_batch([one])
    bulk = evolve(bulk_of(world), redrive=evolve(world.redrive, read_dead_letter=reader([one])))
    assert call(bulk, "discard")["lookedAt"] == 0
    assert call(bulk, "discard", {"prefix": "dead-lettered/"})["lookedAt"] == 0
    assert key in world.store.objects
    wrong = respond(bulk, {"command": "redrive", "where": {"prefix": key[:11]}})
    assert "brought back by itself" in wrong["error"]
    assert call(bulk, "discard", {"prefix": key[:11]})["discarded"] == 1


@pytest.mark.parametrize("command", ["redrive", "discard"])
@pytest.mark.parametrize("prefix", ["w", "waiting", "aws", "aws/lambda"])
def test_a_part_of_such_a_prefix_is_answered_with_the_whole(command: str, prefix: str) -> None:
    """Not with nothing found."""
    wrong = respond(bulk_of(World()), {"command": command, "where": {"prefix": prefix}})
    assert "give the whole prefix" in wrong["error"]


def reader(schedules: list[Schedule], malformed: int = 0) -> Callable[[bytes], Any]:
    return lambda _: Contents(schedules=tuple(schedules), malformed=malformed)


def test_the_time_of_a_batch_is_lambdas() -> None:
    world = World()
    [one] = many_schedules(1)
    world.store.objects[BATCH] = a_batch([one])
    bulk = evolve(bulk_of(world), redrive=evolve(world.redrive, read_dead_letter=reader([one])))
    assert call(bulk, where={**BATCHES, "from": "2026-11-21T08:00:01Z"}, dryRun=True)["matched"] == 0
    assert call(bulk, where={**BATCHES, "from": "2026-11-21T08:00:00Z"}, dryRun=True)["matched"] == 1
    world.store.objects[BATCH] = b"{}"
    assert call(bulk, where={**BATCHES, "from": "2026-11-21T08:00:00Z"}, dryRun=True)["matched"] == 0, (
        "it does not say when"
    )
    assert call(bulk, where={**BATCHES, "reason": "event source mapping"}, dryRun=True)["matched"] == 1


# ------------------------------------------------------------ without effect


def test_a_dry_run_says_what_would_happen_and_does_nothing() -> None:
    world = World()
    waiting, claimed, late = stored(world, 3, reason="why")
    put_row(world.ledger, a_claim_of(claimed))
    before = dict(world.store.objects), dict(all_rows(world.ledger))
    answer = call(bulk_of(world), dryRun=True)
    keys = sorted(world.store.objects)
    assert answer == {
        "lookedAt": 3,
        "matched": 3,
        "redriven": 2,
        "refused": {"not redriven: it is claimed; try again later": 1},
        "until": format_instant(NOW),
        "dryRun": True,
        "reasons": {"why": {"matched": 3, "sample": keys[:SAMPLE]}},
    }
    assert call(bulk_of(world), "discard", dryRun=True)["discarded"] == 2
    assert (world.store.objects, all_rows(world.ledger)) == before
    assert world.delayer_queue.sent == 0
    assert world.clock.now() == NOW, "it has no pace"
    done = call(bulk_of(world))
    assert (done["redriven"], done["refused"]) == (answer["redriven"], answer["refused"])
    assert set(all_rows(world.ledger)) == {waiting.id, claimed.id, late.id}


def a_claim_of(schedule: Schedule) -> Any:
    return evolve(a_claim(), schedule_id=schedule.id)


def test_an_answer_stays_short_however_many_reasons_there_are() -> None:
    world = World()
    for at, one in enumerate(many_schedules(REASONS + 5)):
        world.store.put(letter_of(one, reason=f"reason {at}"))
    reasons = call(bulk_of(world), dryRun=True)["reasons"]
    assert len(reasons) == REASONS + 1
    assert reasons[OTHERS]["matched"] == 5
    assert sum(one["matched"] for one in reasons.values()) == REASONS + 5


# ------------------------------------------------------------ pace, budget, repetition


@pytest.mark.parametrize("per_second", [SLOWEST, 50, 300, FASTEST])
def test_no_more_in_a_second_than_the_command_allows(per_second: int) -> None:
    world = World()
    stored(world, 120)
    call(bulk_of(world), perSecond=per_second)
    sent = sorted(message.visible_at for message in world.delayer_queue.messages)
    assert len(sent) == 120
    for at in sent:
        assert sum(at <= other < at + SECOND for other in sent) <= per_second
    assert sent[-1] - sent[0] <= 1.25 * 120 * SECOND / per_second


def test_a_pause_is_not_made_up_for() -> None:
    """AWS did not answer for a while: what has waited does not go all at once."""
    world = World()
    stored(world, 60)
    sends: list[Millis] = []
    queue = world.delayer_queue

    class Slow:
        def send(self, messages: Any) -> list[int]:
            sends.append(world.clock.now())
            if len(sends) == 20:
                world.clock.move(5 * SECOND)
            return queue.send(messages)

    bulk = bulk_of(world)
    call(evolve(bulk, redrive=evolve(bulk.redrive, delayer_queue=Slow())))  # type: ignore[arg-type] # it has what is called
    assert all(sum(at <= other < at + SECOND for other in sends) <= 50 for at in sends)


def test_a_call_ends_in_time_and_the_next_one_goes_on() -> None:
    """Nothing twice, nothing left out; the counts of the calls add up."""
    world = World()
    schedules = stored(world, 505)
    stored_failed = letter_of(many_schedules(506)[-1], prefix=Prefix.FAILED)
    world.store.put(stored_failed)
    bulk = evolve(bulk_of(world), budget=SECOND)
    total = to_the_end(bulk, where={"prefix": "dead-lettered/"})
    assert (total["lookedAt"], total["matched"], total["redriven"]) == (505, 505, 505)
    assert total["calls"] > 5
    assert list(world.store.objects) == [stored_failed.key]
    world.run_until(NOW + 10 * MINUTE)
    assert fired(world) == {one.id: 1 for one in schedules}


def test_a_call_ends_in_time_however_much_an_object_holds() -> None:
    """A call is answered within ten seconds of its budget, at the slowest pace; the function has twenty."""
    world = World()
    schedules = many_schedules(300)
    held = {f"{BATCH}-{at}": schedules[at * 100 : at * 100 + 100] for at in range(3)}
    for key, some in held.items():
        world.store.objects[key] = a_batch(some)
    by_first = {a_batch(some): some for some in held.values()}
    redrive = evolve(world.redrive, read_dead_letter=lambda content: Contents(schedules=tuple(by_first[content])))
    bulk = evolve(bulk_of(world), redrive=redrive, budget=0)
    after = ""
    for _ in held:
        began = world.clock.now()
        answer = call(bulk, where=BATCHES, perSecond=SLOWEST, after=after)
        assert answer["redriven"] == 100
        assert world.clock.now() - began <= 10 * SECOND
        after = answer["next"]
    assert world.store.objects == {}


def test_what_failed_again_is_not_met_by_the_same_run() -> None:
    """Its target is still down. A run that met it again would try it for ever."""
    world = World()
    [one] = stored(world, 1)
    bulk = evolve(bulk_of(world), budget=-1)
    first = call(bulk)
    assert (first["redriven"], "next" in first) == (1, True)
    world.clock.move(SECOND)
    world.store.put(letter_of(one, at=world.clock.now(), body=encode(DelayerMessage(schedule=one, nonce="n2"))))
    again = call(bulk, where={"until": first["until"]}, after="")
    assert (again["lookedAt"], again["matched"]) == (1, 0)
    world.clock.move(1)
    assert call(bulk)["matched"] == 1, "a new run does"


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("command", ["redrive", "discard"])
def test_whatever_fails_the_command_is_repeated_and_each_schedule_goes_once(fault: Fault, command: str) -> None:
    """Each call of the function fails once; whoever calls goes on from the last key that he was told."""
    calls = 1
    at = 0
    while at < calls:
        plan = FaultPlan(fault, at)
        world = World(spoiled="redrive", plan=plan)
        schedules = stored(world, 7)
        after = ""
        for _ in range(3):
            try:
                answer = call(bulk_of(world), command, after=after)
            except (Crash, AssertionError):
                continue  # no answer, or the list itself failed: the same call once more
            if "next" not in answer:
                break
            assert "interrupted" in answer
            after = answer["next"]
        assert world.store.objects == {}
        world.run_until(NOW + 2 * MINUTE)
        expected = {one.id: 1 for one in schedules} if command == "redrive" else {}
        assert fired(world) == expected, f"{fault} at {plan.seen[at]}"
        states = {all_rows(world.ledger)[one.id].state for one in schedules}
        assert states == {State.EXECUTED if command == "redrive" else State.DROPPED}
        calls = len(plan.seen)
        at += 1
    assert calls > 20


def test_an_outage_is_reported_with_the_key_to_go_on_from() -> None:
    world = World()
    stored(world, 3 * AT_A_TIME)
    keys = sorted(world.store.objects)
    world.spoiled, world.plan = "redrive", FaultPlan(Fault.BEFORE, 60)
    answer = call(bulk_of(world))
    assert "interrupted" in answer
    assert answer["next"] in keys
    assert answer["matched"] == keys.index(answer["next"]) + 1, "what is not done is not counted"


# ------------------------------------------------------------ what is refused


def test_what_cannot_be_redriven_is_counted_by_its_reason() -> None:
    world = World()
    one, claimed, executed, *_ = stored(world, 4)
    put_row(world.ledger, a_claim_of(claimed))
    put_row(world.ledger, evolve(a_claim_of(executed), state=State.EXECUTED))
    world.store.put(a_dead_letter(body="{not json", schedule_id="", at=NOW - MINUTE))
    answer = call(bulk_of(world))
    assert answer["redriven"] == 2
    assert answer["refused"] == {
        "not redriven: it is claimed; try again later": 1,
        "not redriven: it is executed": 1,
        "no schedule can be read from it: show it, POST the schedule again, and discard it": 1,
    }
    assert len(world.store.objects) == 2, "of the claimed one, and of the one that nobody can read"
    assert all_rows(world.ledger)[one.id].state is State.SCHEDULED


def test_what_is_on_its_way_is_not_discarded() -> None:
    world = World()
    claimed, _, failed = stored(world, 3)
    put_row(world.ledger, a_claim_of(claimed))
    put_row(world.ledger, evolve(a_claim_of(failed), state=State.FAILED))
    world.store.put(a_dead_letter(body="{not json", schedule_id="", at=NOW - MINUTE))
    answer = call(bulk_of(world), "discard")
    assert answer["discarded"] == 3, "the one that nobody can read, too"
    assert answer["refused"] == {"it is claimed: on its way; wait for its end": 1}
    assert [key.split("/")[1] for key in world.store.objects] == [claimed.id]


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ({"where": {"prefx": "failed/"}}, "unknown in where: prefx"),
        ({"where": {"owner": 7}}, "not a text in where: owner"),
        ({"where": {"from": "yesterday"}}, "from: not an RFC 3339"),
        ({"where": []}, "an object"),
        ({"where": None}, "an object"),
        ({"where": {}, "command": "list"}, '"redrive" or "discard"'),
        ({"where": {}, "key": "k"}, "not both"),
        ({"where": {}, "dryrun": True}, "unknown beside where: dryrun"),
        ({"where": {}, "dryRun": "yes"}, "dryRun is true or false"),
        ({"where": {}, "after": 7}, "after is"),
        ({"where": {}, "perSecond": 9}, "from 10 to 1000"),
        ({"where": {}, "perSecond": 1001}, "from 10 to 1000"),
        ({"where": {}, "perSecond": True}, "from 10 to 1000"),
        ({"where": {}, "perSecond": "50"}, "from 10 to 1000"),
    ],
    ids=str,
)
def test_a_wrong_command_does_nothing(event: dict[str, Any], problem: str) -> None:
    """A condition with a typing error must not mean that all are meant."""
    world = World()
    stored(world, 2)
    answer = respond(bulk_of(world), {"command": "redrive", **event})
    assert not answer["ok"]
    assert problem in answer["error"]
    assert len(world.store.objects) == 2
    assert world.delayer_queue.sent == 0
