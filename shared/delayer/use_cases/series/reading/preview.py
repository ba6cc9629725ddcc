"""Says what a rule means, before a series goes by it. It stores nothing and asks AWS nothing."""

from attrs import frozen

from delayer.core.api.series.admission import admit_preview
from delayer.core.recurrence.describe import description
from delayer.core.recurrence.times import times
from delayer.core.recurrence.zones import tz_version
from delayer.ports.clock import Clock
from delayer.use_cases.series.reading.read import Times


@frozen(kw_only=True)
class PreviewSeries:
    """One call of the API."""

    clock: Clock

    def __call__(self, body: bytes) -> Times:
        """The next times from now on. Raises NotJson, TooLarge or Invalid."""
        now = self.clock.now()
        request = admit_preview(body, now)
        return Times(
            times=times(request.rule, now, request.count),
            words=description(request.rule),
            tz_version=tz_version(),
        )
