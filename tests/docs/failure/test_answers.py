"""Each answer of the page on failure names proofs that exist, and figures that are those of the template."""

import re
from functools import cache

from delayer.enqueue.rules import HEARTBEAT_FRESH
from delayer.recovery import rules as trial
from delayer.schedule.instants import MINUTE, SECOND
from tests.cfn import ROOT, resources
from tests.running.of_each import of_each
from tests.simulation.bugs import BUGS

PAGE = (ROOT / "docs/how-it-works/failure.md").read_text()
ANSWERS = [part for part in PAGE.split("\n## ")[1:] if "\n**Proof**" in part]


@cache
def all_tests() -> str:
    return "\n".join(file.read_text() for file in sorted((ROOT / "tests").rglob("test_*.py")))


def test_the_questions_of_a_sceptic_come_first() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE)[: len(ANSWERS)] == [
        "The stream stalls for an hour",
        "The region is gone",
        "Clocks disagree",
        "A payload kills its function",
        "A deployment in mid-flight, and a rollback",
    ]


@of_each(ANSWERS)
def test_an_answer_begins_with_itself_and_its_proofs_exist(answer: str) -> None:
    assert answer.split("\n\n")[1].startswith("**")
    proof = answer.split("\n**Proof**")[1]
    named = re.findall(r"`(test_\w+)`", proof)
    files = re.findall(r"`(tests/[\w/]+\.py)`", proof)
    assert named or files
    assert [name for name in named if f"def {name}(" not in all_tests()] == []
    assert [file for file in files if not (ROOT / file).is_file()] == []
    bugs = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", proof))
    assert bugs <= {bug.name for bug in BUGS}


def test_how_long_a_killer_holds_up_its_neighbours() -> None:
    queues = resources("AWS::SQS::Queue")
    row = PAGE.split("| `delayer-relay` | up to nine others, twice, ")[1]
    assert row.startswith("a minute apart")
    assert queues["DelayerQueue"]["VisibilityTimeout"] == 60
    assert trial.NOTED_FROM == 2
    assert "twice, eight and a half minutes apart" in PAGE
    assert queues["ExecutorhttprequestQueue"]["VisibilityTimeout"] == 510
    assert (trial.PROOFS, trial.BLOCKS_AT_MOST) == (5, 5 * MINUTE)


def test_when_the_alarms_of_a_stalled_stream_ring() -> None:
    alarms = resources("AWS::CloudWatch::Alarm")

    def after(name: str) -> int:
        return int(alarms[name]["Period"]) * int(alarms[name]["EvaluationPeriods"]) * SECOND

    assert HEARTBEAT_FRESH + after("SweepHeldAlarm") == after("CanaryNearAlarm") == 6 * MINUTE
    assert "`SweepHeldAlarm` rings after about six minutes, and `CanaryNearAlarm` after about ten" in PAGE
    assert after("StreamNotPolledAlarm") == 10 * MINUTE
    assert "`StreamNotPolledAlarm` rings after ten to fifteen" in PAGE
    behind = alarms["IteratorAgeAlarm"]
    assert (after("IteratorAgeAlarm"), behind["Threshold"]) == (2 * MINUTE, MINUTE)
    assert behind["TreatMissingData"] == "notBreaching", "it is silent if nobody reads"
