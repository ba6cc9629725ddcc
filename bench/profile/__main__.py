"""`python -m bench.profile`: where the processor time of the functions goes."""

import json
import signal
import sys
from collections.abc import Sequence

from attrs import asdict
from rich.table import Table

from bench.profile.in_memory import Part, measure_in_memory
from bench.profile.options import Options, parse
from bench.profile.run import Profile, measure
from local.command.interrupts import interrupt
from local.command.progress import console
from local.errors import EmulatorError


def table_of(profiles: Sequence[Profile]) -> Table:
    """A row for each case."""
    table = Table(title="Processor time of one invocation, in ms")
    for name in ("function", "given", "records"):
        table.add_column(name)
    for name in ("all", "ours", "boto3", "calls of AWS", "import (clock)"):
        table.add_column(name, justify="right")
    for one in profiles:
        figures = (one.cpu_ms, one.own_ms, one.aws_ms, one.aws_calls, one.import_ms)
        table.add_row(one.function, one.what, str(one.records), *(f"{figure:.1f}" for figure in figures))
    return table


def table_in_memory(parts: Sequence[Part]) -> Table:
    """A row for each function, and for their sums."""
    table = Table(title="One schedule on the fakes")
    table.add_column("function")
    for name in ("processor time in ms", "calls of ours"):
        table.add_column(name, justify="right")
    for one in parts:
        table.add_row(one.name, f"{one.cpu_ms:.2f}", f"{one.calls:.0f}")
    return table


def main() -> int:
    """1 if something could not be measured."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        options = parse()
        found = _in_memory(options) if options.in_memory else _on_a_stack(options)
        if options.json:
            options.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
        return 1
    return 0


def _in_memory(options: Options) -> Sequence[Part]:
    parts = measure_in_memory(options)
    console.print(table_in_memory(parts))
    return parts


def _on_a_stack(options: Options) -> Sequence[Profile]:
    profiles = measure(options)
    for one in profiles:
        if one.table:
            console.print(f"\n{one.function}: {one.what}\n{one.table}", highlight=False)
    console.print(table_of(profiles))
    return profiles


if __name__ == "__main__":
    sys.exit(main())
