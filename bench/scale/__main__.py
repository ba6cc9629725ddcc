"""`python -m bench.scale`: what the model says of loads, by name, by numbers, or beside the emulator."""

import argparse
import sys
from collections.abc import Sequence

from attrs import evolve

from bench.scale import emulator, figures, report, stack
from bench.scale.model import Load, Outcome, simulate
from bench.scale.page import ranges, rows, texts
from bench.scale.page.rows import Row
from local.errors import EmulatorError


def main(argv: Sequence[str] | None = None) -> int:
    """1 if the arguments make no sense, or the emulator could not be measured."""
    given = parser().parse_args(argv)
    try:
        if given.measure:
            emulator.measure()
        if given.run is not None:
            emulator.run_all(given.run)
        if given.emulator:
            print(report.of_comparison(*emulator.compare(figures.read())))
        elif given.memory:
            print("\n\n".join(memory(scale, given.seed) for scale in given.scale or stack.SCALES))
        elif given.write or given.show:
            write(calculates=given.write)
        elif not given.measure and given.run is None:
            print(asked(given))
    except (EmulatorError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def asked(given: argparse.Namespace) -> str:
    """The loads of the page, or the one that was given, for each scale that was asked for."""
    loads = [Load(name="as asked", schedules=given.schedules, within=given.within)] if given.schedules else report.LOADS
    changes = dict(one.split("=", 1) for one in given.set)
    parts = []
    for scale in given.scale or stack.SCALES:
        shape = stack.changed(stack.of_template(scale), changes)
        parts.append(f"{scale}: {shape}\n\n{rows.of_rows(map(Row.of, outcomes(loads, shape, given.seed)))}")
    return "\n\n".join(parts)


def outcomes(loads: Sequence[Load], shape: stack.Stack, seed: int = 1) -> list[Outcome]:
    """One run for each."""
    measured = figures.read()
    return [simulate(load, shape, measured, seed) for load in loads]


def memory(scale: str, seed: int) -> str:
    """Ten thousand at one instant, and one schedule after the other, with other sizes of relay and executor."""
    sizes = []
    for relay, executor in report.SIZES:
        shape = evolve(stack.of_template(scale), relay_memory=relay, executor_memory=executor)
        burst, trickle = outcomes((report.INSTANT, report.TRICKLE), shape, seed)
        sizes.append((relay, executor, burst, trickle))
    return f"{scale}:\n\n{report.of_sizes(sizes)}"


def write(*, calculates: bool) -> None:
    """The page anew, from the file; and before that the file, by a calculation."""
    if calculates:
        loads = (*report.LOADS, *report.BETWEEN)
        rows.store({name: [Row.of(one) for one in outcomes(loads, stack.of_template(name))] for name in stack.SCALES})
        ranges.store(ranges.calculated())
    for name, text in texts.texts(rows.read()).items():
        report.write(report.PAGE, name, text)
    report.write(report.PAGE, "facts", report.of_facts())
    if figures.RUNS.exists():
        report.write(report.PAGE, "emulator", report.of_comparison(*emulator.compare(figures.read())))


def parser() -> argparse.ArgumentParser:
    """The parser, with the text that `--help` shows."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale",
        description="Calculates how late schedules are on AWS, what binds first and what they cost: for the loads of "
        "docs/how-it-works/scale.md, or for one that is given. It calls nothing; --measure and --run start an "
        "emulator.",
    )
    parser.add_argument("--schedules", type=int, metavar="N", help="a load of its own: so many schedules")
    parser.add_argument(
        "--within", type=float, default=0.0, metavar="S", help="due within so many seconds (default: 0)"
    )
    parser.add_argument(
        "--scale", action="append", choices=stack.SCALES, help="of this value of Scale only; repeatable"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another value of the stack; repeatable: lanes=2, executor_memory=512, target=0.3, executor=200/20 "
        "(batches at a time / provisioned pollers)",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is left to chance (default: 1)")
    parser.add_argument("--measure", action="store_true", help="measure the functions again, and write figures.json")
    parser.add_argument(
        "--run", nargs="*", metavar="NAME", help="run the loads of the comparison on the emulator, and write runs.json"
    )
    parser.add_argument("--emulator", action="store_true", help="show the runs of the emulator beside their prediction")
    parser.add_argument("--memory", action="store_true", help="compare sizes of the functions, in speed and in cost")
    parser.add_argument(
        "--write", action="store_true", help="write loads.json and the figures of docs/how-it-works/scale.md anew"
    )
    parser.add_argument("--show", action="store_true", help="write the page anew, from loads.json as it is")
    return parser


if __name__ == "__main__":
    sys.exit(main())
