"""`python -m bench.profile`: where the processor time of the functions goes."""

import json
import signal
import sys
from collections.abc import Sequence

from attrs import asdict
from rich.table import Table

from bench.profile.options import parse
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


def main() -> int:
    """1 if something could not be measured."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        options = parse()
        profiles = measure(options)
        for one in profiles:
            if one.table:
                console.print(f"\n{one.function}: {one.what}\n{one.table}", highlight=False)
        console.print(table_of(profiles))
        if options.json:
            options.json.write_text(json.dumps([asdict(one) for one in profiles], indent=2) + "\n", encoding="utf-8")
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
