"""What a person does with the records that wait for one."""

import json
from collections.abc import Sequence

import pytest
from attrs import evolve

from delayer.actions.rules.model import Done
from delayer.dead_letters.commands import respond
from delayer.dead_letters.dead_letter import DeadLetters, Undeliverable
from delayer.dead_letters.model import Disposition, Prefix, decide_disposition
from delayer.dead_letters.redrive import PAGE, Impossible, Redrive
from delayer.dead_letters.rules import DISCARDABLE, REDRIVABLE, redriven
from delayer.engines.ports import Outgoing, ReceivedMessage, Unavailable
from delayer.execute.rules import Made, carried
from delayer.ledger.model import ENDS, EventType, LedgerRow, State
from delayer.masking.mask import NOT_JSON
from delayer.schedule.instants import HOUR, MINUTE, SECOND, STALE_AFTER, Millis, format_instant, minute_of
from delayer.schedule.messages import DelayerMessage, decode, encode
from delayer.schedule.schedule_id import Shards
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.fakes.messaging import MemoryQueue
from tests.looking import all_rows, empty, put_row
from tests.samples import GOLDEN, NOW, OWNER, a_claim, a_dead_letter, a_delayer_message, an_executor_message, an_id
from tests.transitions import may_follow, take_out
from tests.world import PERIOD, World

RECORD = (GOLDEN / "stream-remove.json").read_text()
DISCARDED = "aws/lambda/stream-enqueuer/discarded"
BATCH = "batches/one"  # an object with several records


def dead_letters(body: str = "", due: Millis = NOW) -> tuple[World, Redrive, str]:
    """A world with one record dead-lettered, and its key."""
    world = World()
    copy = Undeliverable(
        body=body or encode(a_delayer_message(due)), reason="why", schedule_id=an_id(due), owner=OWNER, nonce="n1"
    )
    build(DeadLetters, world.ports("delayer-relay")).take(copy)
    [key] = world.store.objects
    return world, world.redrive, key


def reported(schedule_id: str, outcome: str, due: Millis = NOW) -> dict[str, object]:
    return {"scheduleId": schedule_id, "pointInTime": format_instant(due), "outcome": outcome, "settled": True}


def ended(world: World) -> State:
    row = world.ledger.read(an_id())
    assert row
    return row.state


def test_list_and_show() -> None:
    _, redrive, key = dead_letters()
    line = {
        "key": key,
        "scheduleId": an_id(),
        "reason": "why",
        "source": "delayer-relay",
        "at": format_instant(NOW),
    }
    assert redrive.list() == {"deadLetters": [line]}
    assert redrive.list("failed/") == {"deadLetters": []}
    assert redrive.show(key) == {**line, "body": encode(a_delayer_message())}


def test_what_lambda_put_there_is_listed_and_shown_too() -> None:
    """The stream's failure destination is the same bucket."""
    world, redrive, key = dead_letters()
    world.store.objects[DISCARDED] = b'{"payload": "{}"}\xff'
    assert [line["key"] for line in redrive.list()["deadLetters"]] == [DISCARDED, key]
    assert "event source mapping" in redrive.list("aws/")["deadLetters"][0]["reason"]
    assert redrive.show(DISCARDED)["body"] == NOT_JSON


@pytest.mark.parametrize("body", [encode(a_delayer_message()), encode(an_executor_message(attempt=7)), RECORD])
def test_a_redriven_schedule_fires_once_more(body: str) -> None:
    """Whatever it was when it was stored, with all its attempts; then it is stored no longer."""
    world, redrive, key = dead_letters(body)
    answer = redrive.redrive(key)
    assert answer == {"schedules": [reported(an_id(), "redriven")], "malformed": 0, "stillStored": False}
    assert world.store.objects == {}
    world.run_until(NOW + MINUTE)
    assert [message.attempt for _, message in world.target.reached] == [1]
    assert ended(world) is State.EXECUTED


@pytest.mark.parametrize("ahead", [10 * MINUTE, 3 * 60 * MINUTE])
def test_a_schedule_that_is_redriven_early_waits_for_its_time(ahead: Millis) -> None:
    """In the delayer queue if it is near, else in the table."""
    world, redrive, key = dead_letters(due=NOW + ahead)
    world.control.raise_shards(Shards(highest=3, since=minute_of(NOW)))
    redrive.redrive(key)
    assert bool(all_rows(world.table)) == (ahead > PERIOD)
    world.run_until(NOW + ahead + MINUTE)
    assert [at for at, _ in world.target.reached] == [NOW + ahead]


def test_a_failed_schedule_is_redriven_with_all_its_attempts() -> None:
    world = World()
    put_row(world.ledger, a_claim(state=State.FAILED, revision=9))
    letter = a_dead_letter(prefix=Prefix.FAILED, body=encode(an_executor_message(attempt=10)))
    world.store.put(letter)
    world.redrive.redrive(letter.key)
    world.run_until(NOW + MINUTE)
    assert len(world.target.reached) == 1
    assert ended(world) is State.EXECUTED


DROPPED_SOON = '{"after":"PT10M","do":"drop"}'


@pytest.mark.parametrize("command", ["one", "bulk"])
def test_what_is_redriven_after_its_time_fires_whatever_its_rule_for_lateness_says(command: str) -> None:
    """Its target has answered 400 in time. An hour later it is redriven: what is answered `redriven` is attempted."""
    world = World()
    put_row(world.ledger, a_claim(state=State.FAILED, revision=9))
    body = encode(an_executor_message(attempt=1, on_late=DROPPED_SOON))
    letter = a_dead_letter(prefix=Prefix.FAILED, body=body)
    world.store.put(letter)
    world.clock.sleep_until(NOW + HOUR)
    if command == "one":
        answer = world.redrive.redrive(letter.key)
        assert [one["outcome"] for one in answer["schedules"]] == ["redriven"]
    else:
        foretold, done = (
            respond(use_cases.bulk(world.ports("redrive")), {"command": "redrive", "where": {}, "dryRun": dry_run})
            for dry_run in (True, False)
        )
        assert (foretold["result"]["redriven"], done["result"]["redriven"]) == (1, 1)
    world.run_until(NOW + 2 * HOUR)
    assert [at for at, _ in world.target.reached] == [NOW + HOUR]
    assert ended(world) is State.EXECUTED


def test_what_is_redriven_before_its_time_keeps_its_rule_for_lateness() -> None:
    world, redrive, key = dead_letters(encode(a_delayer_message(NOW + MINUTE, on_late=DROPPED_SOON)), NOW + MINUTE)
    redrive.redrive(key)
    world.clock.sleep_until(NOW + MINUTE)
    [sent] = world.delayer_queue.receive()
    assert decode(sent.body, DelayerMessage).schedule.definition.on_late == DROPPED_SOON


def test_what_its_target_has_accepted_is_not_redriven() -> None:
    """Only its outcome could not be written, for three days: a redrive would be a second firing."""
    world = World()
    made = Made(message=an_executor_message(), result=Done("HTTP 200"), lateness=0)
    letter = a_dead_letter(body=encode(carried(made)))
    world.store.put(letter)
    with pytest.raises(Impossible, match="its target has accepted it"):
        world.redrive.redrive(letter.key)
    many = {"command": "redrive", "where": {}}
    for dry_run in (True, False):
        answer = respond(use_cases.bulk(world.ports("redrive")), {**many, "dryRun": dry_run})
        assert answer["result"]["redriven"] == 0, answer
    assert world.delayer_queue.sent == 0
    assert letter.key in world.store.objects


@pytest.mark.parametrize("key", [DISCARDED, "waiting/1795251600000-0123456789abcdef.json"])
def test_what_is_brought_back_by_itself_is_not_redriven(key: str) -> None:
    """The row would wait for the redriven copy. If that could not be sent, the copy that is brought back is refused,
    and its object is deleted: nothing would be left.
    """
    world = World()
    world.store.objects[key] = json.dumps({"payload": {"Records": [json.loads(RECORD)]}}).encode()
    with pytest.raises(Impossible, match="brought back by itself"):
        world.redrive.redrive(key)
    assert key in world.store.objects
    assert all_rows(world.ledger) == {}


def test_the_removals_of_a_batch_are_redriven() -> None:
    """What was inserted is in the table."""
    world = World()
    removed = json.loads(RECORD)
    inserted = {**removed, "eventName": "INSERT", "dynamodb": {"NewImage": removed["dynamodb"]["OldImage"]}}
    payload = json.dumps({"Records": [inserted, removed]})
    world.store.objects[BATCH] = json.dumps({"payload": payload}).encode()
    world.redrive.redrive(BATCH)
    assert world.delayer_queue.sent == 1
    assert world.store.objects == {}


def test_a_body_that_holds_something_malformed_stays() -> None:
    """It goes only when nothing is lost with it."""
    world = World()
    removed = json.loads(RECORD)
    malformed = {**removed, "dynamodb": {**removed["dynamodb"], "OldImage": {}}}
    world.store.objects[BATCH] = json.dumps({"payload": {"Records": [malformed, removed]}}).encode()
    answer = world.redrive.redrive(BATCH)
    assert (answer["malformed"], answer["stillStored"]) == (1, True)
    assert world.delayer_queue.sent == 1
    assert BATCH in world.store.objects


def test_of_several_those_that_can_be_are_redriven() -> None:
    world, redrive, _ = dead_letters()
    first = json.loads(RECORD)
    other_id = an_id(NOW + 1)
    image = {**first["dynamodb"]["OldImage"], "due": {"S": f"{NOW + 1}#{other_id}"}}
    second = {**first, "dynamodb": {**first["dynamodb"], "OldImage": image}}
    put_row(world.ledger, a_claim(state=State.EXECUTED))
    world.store.objects[BATCH] = json.dumps({"payload": {"Records": [first, second]}}).encode()
    answer = redrive.redrive(BATCH)
    assert [one["outcome"] for one in answer["schedules"]] == ["not redriven: it is executed", "redriven"]
    assert BATCH not in world.store.objects


def test_a_redrive_that_is_repeated_after_a_crash_fires_once() -> None:
    """It died before it discarded the body: of the two copies, the ledger lets one through."""
    world, redrive, key = dead_letters()
    content = world.store.objects[key]
    redrive.redrive(key)
    world.store.objects[key] = content
    redrive.redrive(key)
    nonces = {decode(one.body, DelayerMessage).nonce for one in world.delayer_queue.messages}
    assert len(nonces) == 2
    assert "" not in nonces
    world.run_until(NOW + 10 * MINUTE)
    assert len(world.target.reached) == 1


def test_the_body_of_what_is_claimed_is_not_deleted() -> None:
    """Whoever stores it may be about to write the end: then it is the only copy."""
    world, redrive, key = dead_letters()
    put_row(world.ledger, a_claim())
    answer = redrive.redrive(key)
    assert [one["outcome"] for one in answer["schedules"]] == ["not redriven: it is claimed; try again later"]
    assert answer["stillStored"] is True
    assert list(world.store.objects) == [key]


def test_what_its_owner_has_stopped_is_not_redriven() -> None:
    world, redrive, key = dead_letters()
    put_row(world.ledger, a_claim(state=State.DEAD_LETTERED, stopped_at=NOW))
    assert redrive.redrive(key)["stillStored"] is True
    assert world.delayer_queue.sent == 0
    assert redrive.discard(key)["schedules"] == [reported(an_id(), "dropped")]


def test_what_has_no_row_gets_one() -> None:
    """Who made the dead letter may have died before the mark; one that comes late loses against the row."""
    world, redrive, key = dead_letters()
    empty(world.ledger)
    redrive.redrive(key)
    row = all_rows(world.ledger)[an_id()]
    assert (row.state, row.revision, bool(row.nonce)) == (State.SCHEDULED, 1, True)
    assert decide_disposition(row, "another") is Disposition.STORE


@pytest.mark.parametrize("state", sorted(set(State) - REDRIVABLE - {State.CLAIMED, State.ENQUEUED, State.UNDECIDED}))
def test_what_ended_otherwise_is_not_redriven(state: State) -> None:
    """Nor is its body needed any more."""
    world, redrive, key = dead_letters()
    put_row(world.ledger, a_claim(state=state))
    assert redrive.redrive(key)["schedules"] == [reported(an_id(), f"not redriven: it is {state}")]
    assert all_rows(world.ledger)[an_id()] == a_claim(state=state)
    assert world.delayer_queue.sent == 0
    assert world.store.objects == {}


@pytest.mark.parametrize("state", sorted(ENDS & REDRIVABLE))
def test_what_is_redriven_is_in_the_table_of_states(state: State) -> None:
    assert may_follow(state, State.ENQUEUED)


@pytest.mark.parametrize("state", sorted(ENDS & DISCARDABLE))
def test_what_is_discarded_is_in_the_table_of_states(state: State) -> None:
    assert may_follow(state, State.DROPPED)


def test_what_is_a_month_late_is_not_redriven() -> None:
    """Its ledger row may be about to expire; the body stays, for a client that POSTs it again."""
    world, redrive, key = dead_letters()
    world.clock.move(STALE_AFTER + 1)
    answer = redrive.redrive(key)
    assert "29 days" in answer["schedules"][0]["outcome"]
    assert answer["stillStored"]
    assert key in world.store.objects
    assert world.delayer_queue.sent == 0


@pytest.mark.parametrize(
    "body", ["{not json", "[]", '"text"', "{}", '{"dynamodb": {}}', '{"eventName": "REMOVE", "dynamodb": 1}']
)
def test_what_nobody_can_read_is_not_redriven(body: str) -> None:
    world = World()
    letter = a_dead_letter(body=body, schedule_id="")
    world.store.put(letter)
    with pytest.raises(Impossible, match="no schedule can be read"):
        world.redrive.redrive(letter.key)
    assert letter.key in world.store.objects


class Down(MemoryQueue):
    """Takes nothing."""

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        return list(range(len(messages)))


def test_a_record_that_could_not_be_sent_is_still_stored() -> None:
    world, redrive, key = dead_letters()
    with pytest.raises(Unavailable):
        evolve(redrive, delayer_queue=Down(clock=world.clock)).redrive(key)
    assert key in world.store.objects
    redrive.redrive(key)
    assert world.delayer_queue.sent == 1


def test_a_redrive_that_is_refused_leaves_everything_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator reads why."""
    world, redrive, key = dead_letters()
    take_out(monkeypatch, EventType.REDRIVEN)
    assert redrive.redrive(key)["stillStored"]
    [report] = redrive.redrive(key)["schedules"]
    assert report["outcome"].startswith("not redriven: no transition redriven leads from dead-lettered")
    assert key in world.store.objects
    assert (ended(world), world.delayer_queue.sent) == (State.DEAD_LETTERED, 0)


def test_a_discard_that_is_refused_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    world, _, key = dead_letters()
    take_out(monkeypatch, EventType.DROPPED)
    answer = respond(use_cases.bulk(world.ports("redrive")), {"command": "discard", "key": key})
    assert not answer["ok"]
    assert answer["error"].startswith("no transition dropped leads from dead-lettered")
    assert key in world.store.objects


def test_a_discard_ends_the_schedule_as_dropped() -> None:
    world, redrive, key = dead_letters()
    assert redrive.discard(key) == {"schedules": [reported(an_id(), "dropped")]}
    assert world.store.objects == {}
    assert ended(world) is State.DROPPED
    world.relay([ReceivedMessage(message_id="m", body=encode(a_delayer_message()))])
    assert world.http_queue.sent == 0


@pytest.mark.parametrize("state", sorted(ENDS - DISCARDABLE))
def test_a_discard_does_not_change_another_end(state: State) -> None:
    """What failed stays failed."""
    world, redrive, key = dead_letters()
    put_row(world.ledger, a_claim(state=state))
    assert redrive.discard(key) == {"schedules": [reported(an_id(), f"it stays {state}")]}
    assert all_rows(world.ledger)[an_id()] == a_claim(state=state)
    assert world.store.objects == {}


def test_a_schedule_on_its_way_is_not_discarded() -> None:
    """Its body may be needed again."""
    world, redrive, key = dead_letters()
    put_row(world.ledger, a_claim())
    with pytest.raises(Impossible, match="on its way"):
        redrive.discard(key)
    assert key in world.store.objects


CLAIMED = a_claim(state=State.DEAD_LETTERED)


@pytest.mark.parametrize(
    "row", [CLAIMED, redriven(an_id(), OWNER, CLAIMED, "n5", NOW)], ids=["dead-lettered", "redriven before"]
)
def test_what_was_claimed_and_never_handed_over_is_not_discarded(row: LedgerRow) -> None:
    """Its owner was refused a cancel, since it will be handed over: that is made true by a redrive."""
    world, redrive, key = dead_letters()
    put_row(world.ledger, row)
    with pytest.raises(Impossible) as refused:
        redrive.discard(key)
    assert "redrive it" in str(refused.value)
    assert "/stop" in str(refused.value)
    assert (all_rows(world.ledger)[an_id()], list(world.store.objects)) == (row, [key])
    redrive.redrive(key)
    world.run_until(NOW + MINUTE)
    assert len(world.target.reached) == 1


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (encode(a_delayer_message()), evolve(CLAIMED, attempt=2, retry_of="d1")),
        (encode(an_executor_message()), CLAIMED),
        (encode(a_delayer_message()), evolve(CLAIMED, stopped_at=NOW)),
    ],
    ids=["attempted", "handed over", "stopped"],
)
def test_what_was_handed_over_or_stopped_is_discarded(body: str, row: LedgerRow) -> None:
    """A killer must not stay for ever, and its owner's stop counts."""
    world, redrive, key = dead_letters(body)
    put_row(world.ledger, row)
    assert redrive.discard(key) == {"schedules": [reported(an_id(), "dropped")]}
    assert world.store.objects == {}


def test_a_schedule_without_a_row_can_be_discarded() -> None:
    """What Lambda discarded had no chance to write its end."""
    world = World()
    world.store.objects[DISCARDED] = json.dumps({"payload": {"Records": [json.loads(RECORD)]}}).encode()
    world.redrive.discard(DISCARDED)
    assert ended(world) is State.DROPPED
    assert world.store.objects == {}


def test_a_long_list_comes_page_by_page() -> None:
    world = World()
    for at in range(PAGE * 2 + 1):
        world.store.put(a_dead_letter(body=str(at)))
    redrive, after, pages = world.redrive, "", []
    while True:
        page = redrive.list("", after)
        pages.append([line["key"] for line in page["deadLetters"]])
        if "next" not in page:
            break
        after = page["next"]
    assert [len(page) for page in pages] == [PAGE, PAGE, 1]
    assert [key for page in pages for key in page] == sorted(world.store.objects)


def test_what_nobody_can_read_can_be_discarded() -> None:
    world = World()
    letter = a_dead_letter(body="{not json", schedule_id="")
    world.store.put(letter)
    assert world.redrive.discard(letter.key) == {"schedules": []}
    assert world.store.objects == {}


def test_a_key_that_is_not_there() -> None:
    redrive = World().redrive
    for command in (redrive.show, redrive.redrive, redrive.discard):
        with pytest.raises(Impossible, match="list what is"):
            command("dead-lettered/x/y.json")


def test_seconds_count() -> None:
    """An overdue schedule goes with no delay, another with what is left of its time, rounded down."""
    for due, delay in ((NOW - MINUTE, 0), (NOW + 90_999, 90)):
        world, redrive, key = dead_letters(due=due)
        redrive.redrive(key)
        assert world.delayer_queue.messages[0].visible_at == NOW + delay * SECOND
