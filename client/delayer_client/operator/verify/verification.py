"""One run, from the options to the report."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from delayer_client.operator.verify.options import Options
from delayer_client.operator.verify.results.report import Report, report_of
from delayer_client.operator.verify.run import begin, verify
from delayer_client.operator.verify.session import Step, silent, untitled


class Verification:
    """Uses a stack as its owner does, and removes what it has made: about 140 schedules, a series and two queues."""

    def __init__(
        self,
        options: Options,
        *,
        step: Step = untitled,
        say: Callable[[str], None] = silent,
        folder: Path | None = None,
        profile: str = "",
        region: str = "",
    ) -> None:
        self.options = replace(options, url=options.url.rstrip("/"))
        self.step = step  # makes a context manager of the title of what is done within it
        self.say = say  # gets a line beside the steps
        self.folder = folder  # where .local/<port>/aws.env is looked for; None for that of the process
        self.profile = profile  # of AWS's configuration
        self.region = region  # of the stack; empty if its URL or AWS's configuration says it

    def run(self) -> Report:
        """Some minutes. An interruption removes what was made, and goes on to the caller."""
        session = begin(self.options, folder=self.folder, profile=self.profile, region=self.region)
        session.step, session.say = self.step, self.say
        verify(session)
        return report_of(session.findings, session.lateness, session.bill)
