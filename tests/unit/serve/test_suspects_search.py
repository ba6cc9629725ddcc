"""All states of a killer and two innocents, with power cuts at every point between receive and outcome (ADR 0190).

The rules are those of `delayer.serve.suspects.lives`; each of them is missed when it is taken out.
"""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

import pytest
from attrs import evolve, frozen

from delayer.actions.rules.model import Done, Result
from delayer.schedule.instants import Malformed
from delayer.serve.suspects import lives
from delayer.serve.suspects.lives import KILLS, Care, ChildDied, LifeNote, Whose, judged, whose_turn
from tests.model.search import Found, explore, stuck


class At(Enum):
    """Where a message is."""

    QUEUE = auto()
    DESK = auto()
    ATTEMPT = auto()  # its note, if it gets one, is on the disk
    CHILD = auto()  # its attempt is in a child process
    MADE = auto()  # the attempt has ended, the outcome is not on the disk
    GIVEN_UP = auto()  # the same, for a dead letter
    DONE = auto()
    DEAD = auto()


OVER = {At.DONE, At.DEAD}
BEGUN = {At.DESK, At.ATTEMPT, At.CHILD, At.MADE, At.GIVEN_UP}


@frozen
class One:
    """A message, and what is known of it."""

    is_killer: bool = False
    at: At = At.QUEUE
    note: LifeNote | None = None  # of life 1 (this one) or 0 (another one)
    was_there: bool = False
    deaths: int = 0  # of children in a row, without a power cut


@frozen
class Scene:
    messages: tuple[One, ...]
    cuts: int  # power cuts and kills that may still come
    stops: int  # clean ends
    killed: int = 0  # lives, by the killer


@frozen
class Rules:
    """The rules, so that one can be taken out."""

    care_for: Any = lives.care_for
    noted: Any = lives.noted
    after_death: Any = lives.after_death
    is_alone: bool = True
    notes_first: bool = True
    cut_is_proof: bool = False  # a bug: what a life died with in a child counts as a death of the child


REAL = Rules()


def begun_anew(scene: Scene, rules: Rules, *, is_clean: bool) -> Scene:
    """The next life."""
    return evolve(
        scene,
        messages=tuple(
            one
            if one.at in OVER
            else evolve(
                one,
                at=At.QUEUE,
                was_there=not is_clean,
                deaths=one.deaths + 1 if rules.cut_is_proof and one.at is At.CHILD else one.deaths * rules.cut_is_proof,
                note=one.note and evolve(one.note if is_clean else rules.after_death(one.note, 1), life=0),
            )
            for one in scene.messages
        ),
    )


def changed(scene: Scene, index: int, **changes: Any) -> Scene:
    """One message of it is."""
    one = evolve(scene.messages[index], **changes)
    return evolve(scene, messages=(*scene.messages[:index], one, *scene.messages[index + 1 :]))


def whose(scene: Scene, rules: Rules) -> Whose:
    """Who may begin."""
    cares = [rules.care_for(one.note, was_there=one.was_there) for one in scene.messages]
    suspects = [one for one, care in zip(scene.messages, cares, strict=True) if care is Care.ALONE]
    return whose_turn(
        is_due=any(one.at is At.QUEUE for one in suspects),
        is_alone=any(one.at in BEGUN for one in suspects),
        under_way=sum(one.at in BEGUN for one in scene.messages),
    )


def before(one: One, rules: Rules, turn: Whose) -> Iterator[tuple[str, dict[str, Any]]]:
    """A message up to its attempt."""
    care = rules.care_for(one.note, was_there=one.was_there)
    if one.at is At.QUEUE and (turn is (Whose.SUSPECT if care is Care.ALONE else Whose.ALL) or not rules.is_alone):
        yield "is received", {"at": At.DESK}
    if one.at is At.DESK:
        is_noted = rules.notes_first and care is not Care.NONE
        note = rules.noted(one.note, 1) if is_noted else one.note
        yield "begins", {"at": At.CHILD if care is Care.ALONE else At.ATTEMPT, "note": note}


def afterwards(one: One) -> Iterator[tuple[str, dict[str, Any]]]:
    """From there to its end, if the life goes on."""
    match one.at:
        case At.ATTEMPT if not one.is_killer:
            yield "is made", {"at": At.MADE}
        case At.CHILD if one.deaths >= KILLS:
            yield "is given up", {"at": At.GIVEN_UP}
        case At.CHILD if one.is_killer:
            yield "kills its child", {"deaths": one.deaths + 1}
        case At.CHILD:
            yield "is made in a child", {"at": At.MADE}
        case At.MADE:
            yield "is done", {"at": At.DONE, "note": None}
        case At.GIVEN_UP:
            yield "is a dead letter", {"at": At.DEAD, "note": None}


def steps(scene: Scene, rules: Rules) -> Iterator[tuple[str, Scene]]:
    """All that may happen next."""
    turn = whose(scene, rules)
    for index, one in enumerate(scene.messages):
        for what, changes in (*before(one, rules, turn), *afterwards(one)):
            yield f"{index} {what}", changed(scene, index, **changes)
        if one.at is At.ATTEMPT and one.is_killer:
            yield f"{index} kills the life", begun_anew(evolve(scene, killed=scene.killed + 1), rules, is_clean=False)
    if scene.cuts:
        yield "power cut", begun_anew(evolve(scene, cuts=scene.cuts - 1), rules, is_clean=False)
    if scene.stops and not any(one.at in BEGUN for one in scene.messages):
        yield "stopped", begun_anew(evolve(scene, stops=scene.stops - 1), rules, is_clean=True)


def wrong(scene: Scene, stops: int) -> str:
    """What must never be."""
    for one in scene.messages:
        if one.at is (At.DONE if one.is_killer else At.DEAD):
            return "an innocent is condemned" if one.at is At.DEAD else "a killer has succeeded"
    in_child = [one for one in scene.messages if one.at is At.CHILD]
    if in_child and sum(one.at in BEGUN for one in scene.messages) > 1:
        return "a suspect is not alone"
    if scene.killed > lives.SUSPECT * sum(one.is_killer for one in scene.messages) + stops:
        return "it kills more lives than it may"
    return ""


def searched(killers: int, innocents: int, cuts: int, stops: int = 0, rules: Rules = REAL) -> Found[Scene]:
    first = Scene(messages=(One(is_killer=True),) * killers + (One(),) * innocents, cuts=cuts, stops=stops)
    seen: dict[Scene, list[Scene]] = {}

    def following(scene: Scene) -> Iterator[tuple[str, Scene]]:
        found = list(steps(scene, rules))
        seen[scene] = [after for _, after in found]
        return iter(found)

    found = explore(first, following, lambda scene: wrong(scene, stops), lambda _: "")
    if found.wrong:
        return found
    stays = stuck(seen, lambda scene: all(one.at in OVER for one in scene.messages))
    return evolve(found, wrong=f"{len(stays)} states from which a message comes to no end" if stays else "")


@pytest.mark.parametrize(
    ("killers", "innocents", "cuts", "stops"),
    [(1, 2, 0, 1), (1, 2, 3, 0), (1, 1, 4, 1), (0, 2, 5, 0), (2, 1, 0, 0)],
)
def test_no_innocent_is_condemned_and_the_killer_ends(killers: int, innocents: int, cuts: int, stops: int) -> None:
    found = searched(killers, innocents, cuts, stops)
    assert found.wrong == "", found.way
    assert found.states > 100


@pytest.mark.parametrize(
    ("rules", "what"),
    [
        (evolve(REAL, care_for=lambda note, was_there: Care.NOTED), "it kills more lives than it may"),
        (evolve(REAL, notes_first=False), "it kills more lives than it may"),
        (evolve(REAL, noted=lambda note, life: LifeNote(life=life, lives=1)), "a suspect is not alone"),
        (evolve(REAL, after_death=lambda note, life: note), "it kills more lives than it may"),
        (evolve(REAL, is_alone=False), "a suspect is not alone"),
        (evolve(REAL, cut_is_proof=True), "an innocent is condemned"),
    ],
    ids=["no-suspects", "no-notes", "forgets-deaths", "counts-none", "not-alone", "a-cut-is-proof"],
)
def test_each_rule_is_missed(rules: Rules, what: str) -> None:
    assert searched(1, 1, 5, rules=rules).wrong == what


def outcomes_of(*outcomes: Result | ChildDied) -> Any:
    left = list(outcomes)
    return lambda: left.pop(0)


def test_three_deaths_in_a_row_are_the_proof() -> None:
    died = ChildDied("signal 11")
    assert judged(outcomes_of(Done("ok"))) == Done("ok")
    assert judged(outcomes_of(died, died, Done("ok"))) == Done("ok")
    with pytest.raises(Malformed, match=r"3 times.* signal 11"):
        judged(outcomes_of(died, died, died, Done("ok")))
