"""Every kind of `repeat` that is accepted, for property tests."""

from typing import Any

from hypothesis import strategies as st

from delayer.recurrence.rule import parse_rule
from delayer.recurrence.terms import BadRule
from delayer.recurrence.times import check_not_empty
from delayer.schedule.instants import MINUTE, format_instant, parse_instant
from tests.recurrence.random_rules import FIRST, LAST, ZONES, cron

crons = st.randoms(use_true_random=False).map(cron)
foreign = st.sampled_from(
    [
        "cron(0/5 8-17 ? * MON-FRI *)",
        "cron(0 0 29 2 ? 2028-2060)",
        "cron(30 1-3 ? * 7L *)",
        "rate(7 minutes)",
        "rate(1 day)",
    ]
)
durations = st.sampled_from(
    ["PT1M", "PT7M", "PT90S", "PT1H30M", "PT36H", "P1D", "P9D", "P2W", "P1M", "P5M", "P1Y", "P1M15D", "P4Y"]
)
instants = st.integers(FIRST // MINUTE, LAST // MINUTE).map(lambda minute: format_instant(minute * MINUTE))
counts = st.sampled_from([1, 7, 60, 1000])
dst = st.fixed_dictionaries(
    {}, optional={"gap": st.sampled_from(["shift", "skip"]), "overlap": st.sampled_from(["first", "both"])}
)
_MORE: dict[str, st.SearchStrategy[Any]] = {
    "from": instants,
    "count": counts,
    "dst": dst,
    "onMissed": st.sampled_from(["skip", "once", "all"]),
}
_until = instants.filter(lambda text: text > "2029")


def repeats() -> st.SearchStrategy[dict[str, Any]]:
    """Of all kinds, each with a time at least."""
    zones = st.sampled_from(ZONES)
    by_cron = st.fixed_dictionaries({"cron": crons | foreign, "timeZone": zones}, optional=_MORE | {"until": _until})
    by_duration = st.fixed_dictionaries(
        {"every": durations, "timeZone": zones}, optional=_MORE | {"anchor": instants, "until": _until}
    )
    return (by_cron | by_duration).filter(is_accepted)


def is_accepted(repeat: dict[str, Any]) -> bool:
    try:
        check_not_empty(parse_rule(repeat, parse_instant("2024-01-01T00:00:00Z")))
    except BadRule:
        return False
    return True
