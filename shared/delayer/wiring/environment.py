"""The bundle of a Lambda function: AWS's adapters, by the environment variables that the template sets."""

import secrets
from typing import TYPE_CHECKING

from delayer.engines.aws.telemetry import Telemetry
from delayer.engines.process import SystemClock, Threads, optional, random_token, setting
from delayer.wiring.bundle import Bundle
from delayer.wiring.settings import Settings, settings_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from delayer.engines.ports import Metric


class Environment(Bundle):
    """Of the function of this name. With `metrics`, it writes these metrics and no others.

    With `settings` it reads no variable for a part or a use case.
    """

    observer: Telemetry

    def __init__(
        self, function: str, metrics: "Collection[Metric] | None" = None, settings: Settings | None = None
    ) -> None:
        self.source = function
        self.settings = settings or settings_of(setting, optional)
        self.observer = Telemetry(function, metrics)
        self.clock = SystemClock()
        self.parallel = Threads()
        self.randomness = secrets.token_bytes
        self.pick = secrets.randbelow
        self.new_token = random_token
        self.new_job_id = self.new_series_id = lambda: secrets.token_hex(16)
