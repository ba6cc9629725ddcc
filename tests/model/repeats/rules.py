"""What the client goes by when it repeats, so that a guard can be taken out. Its calls say it themselves."""

from attrs import frozen

from delayer_client.calls import schedules, series
from delayer_client.calls.call import Repeat


@frozen(kw_only=True)
class Rules:
    """Each of them is missed, if it is not there."""

    by_id: Repeat = schedules.cancel("id").repeat
    keeps: bool = True  # after a lost answer the call is about the same id, and the name is not looked up again
    by_name: Repeat = schedules.cancel_named("name").repeat  # of a caller that may not look the name up
    turned_back: Repeat = series.pause("id").repeat  # of a call whose effect somebody else can turn back


REAL = Rules()
