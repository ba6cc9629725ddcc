"""The command prints this text about the stack."""

import json

from local.command.demonstration import example_body
from local.project import PROJECT
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack


def explanation(stack: EmulatedStack, receiver: Receiver, obstacle: str | None = None) -> str:
    """Tells the user what to try now, and where the logs are. `obstacle` says why the example fails with this stack."""
    body = json.dumps(example_body(receiver))
    logs = (stack.folder / "logs").relative_to(PROJECT)
    exports = stack.process.exports.relative_to(PROJECT)
    note = f"\n{obstacle} So there was no demonstration, and this example fails.\n" if obstacle else ""
    return f"""
Delayer serves {stack.api_url}. Try:

  curl -i {stack.api_url}/schedules -H 'Content-Type: application/json' \\
    -d '{body}'
{note}
Requests to {receiver.url} are shown below.
Console:       {stack.api_url}/console   (what is due, what fired, what waits)
AWS endpoint:  . {exports}   (it exports the address and the keys of this run; then: aws dynamodb list-tables)
Logs:          {logs}/<function>.log, and {stack.process.log_file.relative_to(PROJECT)} of the emulator
Everything is in memory and is lost after Ctrl-C.
"""
