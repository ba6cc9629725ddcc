"""`make defects`: makes each change of a list in a copy of the tree, and says which test finds it.

`record` runs the tests once under coverage; `run` then makes each change and runs the tests that run its line, those
that read the code as data, the check of types, and on request the stories and the end-to-end tests of its area. What
has found a change is run without it, too. `draw` draws another list.
"""

import argparse
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.defects import stored
from tests.defects.change import Change
from tests.defects.covered import Covered
from tests.defects.draw import draw
from tests.defects.measure import Finding, Measure, controlled, known, say, write

# They start other processes, read pages, or are steps of their own: their lines say nothing, or everything.
LEFT_OUT: Final = (
    "tests/e2e",
    "tests/docs",
    "tests/simulation",
    "tests/proofs",
    "tests/browser",
    "tests/unit/bench",
    "tests/unit/local",
)
COVERAGE: Final = "[run]\ninclude =\n    */shared/delayer/*\n    */functions/*\n"
RESULTS: Final = Path(".defects")


def record(marks: str) -> int:
    """Which test runs which line, and how long each takes."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "rc").write_text(COVERAGE + f"data_file = {(RESULTS / 'coverage').absolute()}\n")
    command = [sys.executable, "-m", "pytest", "-q", "--numprocesses", "2", *(f"--ignore={one}" for one in LEFT_OUT)]
    command += ["--cov", f"--cov-config={RESULTS / 'rc'}", "--cov-context=test", "--cov-report="]
    command += [f"--junitxml={RESULTS / 'junit.xml'}", *(["-m", marks] if marks else [])]
    status = subprocess.run(command, check=False).returncode
    (RESULTS / "seconds.json").write_text(json.dumps(seconds_of(RESULTS / "junit.xml"), indent=1))
    return status


def seconds_of(junit: Path) -> dict[str, float]:
    """How long each test took, by its id."""
    return {_id_of(case): float(case.get("time", 0)) for case in ET.parse(junit).iter("testcase")}


def _id_of(case: ET.Element) -> str:
    parts = case.get("classname", "").split(".")
    classes = [part for part in parts if part[:1].isupper()]
    file = "/".join(part for part in parts if part not in classes) + ".py"
    return "::".join([file, *classes, case.get("name", "")])


def measured(given: argparse.Namespace) -> int:
    """Makes the changes, and prints what found each."""
    tree: Path = given.tree
    covered = Covered.read(given.coverage or RESULTS / "coverage", given.seconds or RESULTS / "seconds.json")
    measure = Measure(
        tree=tree,
        covered=covered,
        marks=given.marks,
        steps=frozenset(given.also),
        at_most=given.at_most,
        copies=given.copies,
    )
    changes = [one for one in stored.read(given.name) if given.only in one.name and not one.equivalent]
    to: Path = given.to or RESULTS / f"{given.name}.json"
    before = known(to) if given.go_on else {}
    findings = [again(one, before[one.name + one.file]) for one in changes if one.name + one.file in before]
    for finding in measure([one for one in changes if one.name + one.file not in before]):
        findings.append(finding)
        say(f"{len(findings)}/{len(changes)} {finding.change.name[:100]!r}: {finding.by or 'NOT FOUND'} {finding.step}")
        write(findings, to)
    findings = controlled(findings, measure)
    write(findings, to)
    return summary(findings)


def again(change: Change, row: dict[str, Any]) -> Finding:
    """What was measured before."""
    return Finding(change=change, by=row["by"], step=row["step"], tests=row["tests"])


def summary(findings: list[Finding]) -> int:
    """A table by area, and the survivors. The exit code. What nobody could notice is not among them."""
    of, found = (Counter(one.change.area for one in some) for some in (findings, [one for one in findings if one.by]))
    print("| area | defects | found |\n|---|---:|---:|")
    for area in of:
        print(f"| {area} | {of[area]} | {found[area]} |")
    print(f"| all | {of.total()} | {found.total()} ({found.total() / max(of.total(), 1):.1%}) |\n")
    print("by", dict(Counter(one.step for one in findings if one.by)))
    for one in findings:
        if not one.by:
            print(f"NOT FOUND {one.change.file} {one.change.name} {one.step}")
    return 0 if of == found else 1


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make defects", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="draw a list of changes, and write it")
    drawing.add_argument("name")
    drawing.add_argument("--number", type=int, required=True)
    drawing.add_argument("--seed", type=int, required=True)
    recording = commands.add_parser("record", help="run the tests once, to know which runs which line")
    running = commands.add_parser("run", help="make each change of a list, and look what finds it")
    running.add_argument("name")
    for command in (recording, running):
        command.add_argument("--marks", default="", help="which tests, as pytest's -m has it; without it, all")
    running.add_argument("--also", nargs="*", default=[], choices=["stories", "e2e"], help="what else is asked")
    running.add_argument("--only", default="", help="the changes with this in their name")
    running.add_argument("--copies", type=int, default=2, help="how many at a time (%(default)s)")
    running.add_argument(
        "--at-most", type=float, default=600, help="seconds of tests that are asked about one change (%(default)s)"
    )
    running.add_argument("--tree", type=Path, default=Path.cwd(), help="the tree that is changed, in copies of it")
    running.add_argument("--coverage", type=Path)
    running.add_argument("--seconds", type=Path)
    running.add_argument("--to", type=Path, help=f"where the findings are written ({RESULTS}/NAME.json)")
    running.add_argument(
        "--continue", dest="go_on", action="store_true", help="what is in that file already is not measured again"
    )
    given = parser.parse_args()
    if given.command == "record":
        return record(given.marks)
    if given.command == "run":
        return measured(given)
    others = [path.stem for path in stored.FOLDER.glob("*.json") if path.stem != given.name]
    listed = frozenset(change for name in others for change in stored.read(name))
    stored.write(given.name, draw(Path.cwd(), given.number, given.seed, listed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
