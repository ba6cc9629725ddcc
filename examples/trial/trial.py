"""A trial that ends: in fourteen days the account is closed, unless its customer pays or is given more time."""

import sys
from datetime import timedelta

from attrs import frozen

from delayer_client import Conflict, Delayer, HttpRequest, NotFound


@frozen
class Trials:
    """What an application calls when its customers do something. `url` gets {"customer": …} when a trial ends."""

    delayer: Delayer
    url: str
    lasts: timedelta = timedelta(days=14)

    def begin(self, customer: str) -> None:
        """Called again, it begins the same trial anew: one live schedule has a name at any time."""
        for name, target, after in (
            (f"trial-{customer}", self.url, self.lasts),
            (f"trial-notice-{customer}", self.url + "/ends-soon", self.lasts * 0.8),
        ):
            payload = {"customer": customer}
            self.delayer.replace(name, HttpRequest(url=target), delay=after, payload=payload, group=f"trial-{customer}")

    def extend(self, customer: str, by: timedelta) -> bool:
        """The end and the notice, if that is still to come. False if the trial has ended."""
        return [self._move(f"{name}-{customer}", by) for name in ("trial-notice", "trial")][-1]

    def _move(self, name: str, by: timedelta) -> bool:
        try:
            running = self.delayer.get_named(name)
            assert running.point_in_time
            self.delayer.change(running.id, at=running.point_in_time + by)
        except (NotFound, Conflict):
            return False
        return True

    def pays(self, customer: str) -> bool:
        """True: the account will never be closed. False: it is too late, open it again."""
        try:
            cancelled = bool(self.delayer.cancel_named(f"trial-{customer}"))
        except NotFound:
            return False
        self.delayer.groups.cancel(f"trial-{customer}")  # and the notice
        return cancelled


if __name__ == "__main__":
    trials = Trials(Delayer(), "http://127.0.0.1:8082/close-account", timedelta(seconds=10))
    match sys.argv[1:]:
        case ["begin", customer]:
            trials.begin(customer)
        case ["pays", customer]:
            print("The account stays open." if trials.pays(customer) else "There is no trial that runs.")
        case _:
            sys.exit("usage: trial.py begin|pays CUSTOMER")
