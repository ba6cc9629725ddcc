"""The control rows of suspects."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.recovery.trial import Trial
from delayer.core.schedule.instants import Millis


@define
class MemoryTrials:
    """Port Trials."""

    begun: dict[str, Trial] = Factory(dict)
    passes: dict[str, Millis] = Factory(dict)

    def unfinished(self, suspect: str) -> Trial | None:
        return self.begun.get(suspect)

    def begin(self, suspect: str, trial: Trial) -> None:
        self.begun[suspect] = trial

    def finish(self, suspect: str) -> None:
        self.begun.pop(suspect, None)

    def any_unfinished(self, messages: Sequence[str]) -> set[str]:
        return set(messages) & set(self.begun)

    def begin_all(self, messages: Sequence[str], began: Millis) -> None:
        for message in messages:
            self.begin(message, Trial(began=began))

    def finish_all(self, messages: Sequence[str]) -> None:
        for message in messages:
            self.finish(message)

    def note_pass(self, function: str, now: Millis) -> None:
        self.passes[function] = max(now, self.passes.get(function, now))

    def passed(self, function: str) -> Millis | None:
        return self.passes.get(function)
