"""GET of one series, by its id or its name; of its next times; of its occurrences."""

from delayer.accept.rules.listing import cursor_after
from delayer.http.answers import Response, response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.rules.admission import admit_count, admit_occurrences
from delayer.series.rules.series import NoSeries
from delayer.series.use_cases.list_occurrences import ListOccurrences, NoJournal, OccurrencesListed
from delayer.series.use_cases.read import ReadSeries, SeriesFound, Times
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-get")
read, list_occurrences = build(ReadSeries, ports), build(ListOccurrences, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    match _answer(request, owner):
        case SeriesFound() as found:
            return response(200, series.shown_series(found))
        case Times(times=times, words=words, tz_version=version):
            return series.times(times, words, version)
        case OccurrencesListed(series=one, occurrences=found, after=after):
            listed = [(each.status, each.which.number, each.which.time) for each in found]
            return series.occurrences(one, listed, cursor_after(after) if after else "")
        case NoSeries():
            return series.no_series()
        case NoJournal():
            return series.no_journal()


def _answer(request: ApiRequest, owner: str) -> SeriesFound | Times | OccurrencesListed | NoSeries | NoJournal:
    name, one, query = request.name(), request.parameter("seriesId"), request.query
    step = request.route.rpartition("/")[2]
    if one == "by-name":  # two routes fit a series that is called `next`
        return read.by_name(step, owner)
    match step:
        case "next":
            return read.times(one, owner, admit_count(query))
        case "occurrences":
            return list_occurrences(admit_occurrences(query), one, owner)
    return read.by_name(name, owner) if name else read.by_id(one, owner)
