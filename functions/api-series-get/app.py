"""GET of one series, by its id or its name; of its next times; of its occurrences."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series
from delayer.core.api.listing import cursor_after
from delayer.core.api.series.listing import admit_count, admit_occurrences
from delayer.core.series.series import NoSeries
from delayer.use_cases.series.reading.occurrences import NoJournal, OccurrencesListed
from delayer.use_cases.series.reading.read import SeriesFound, Times
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-get")
owner_of = requests.owner_reader()
read, list_occurrences = use_cases.read_series(ports), use_cases.list_occurrences(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    match _answer(event, owner_of(event)):
        case SeriesFound() as found:
            return responses.response(200, series.shown_series(found))
        case Times(times=times, words=words, tz_version=version):
            return series.times(times, words, version)
        case OccurrencesListed(series=one, occurrences=found, after=after):
            listed = [(each.status, each.which.number, each.which.time) for each in found]
            return series.occurrences(one, listed, cursor_after(after) if after else "")
        case NoSeries():
            return series.no_series()
        case NoJournal():
            return series.no_journal()


def _answer(event: dict[str, Any], owner: str) -> SeriesFound | Times | OccurrencesListed | NoSeries | NoJournal:
    name, one, query = requests.name_of(event), requests.parameter(event, "seriesId"), requests.query(event)
    step = requests.route_of(event).rpartition("/")[2]
    if one == "by-name":  # two routes fit a series that is called `next`
        return read.by_name(step, owner)
    match step:
        case "next":
            return read.times(one, owner, admit_count(query))
        case "occurrences":
            return list_occurrences(admit_occurrences(query), one, owner)
    return read.by_name(name, owner) if name else read.by_id(one, owner)
