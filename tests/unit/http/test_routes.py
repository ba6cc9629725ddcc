"""Which methods a path has."""

import pytest

from delayer.http.routing import methods_of


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/schedules", ("DELETE", "GET", "POST")),
        ("/schedules/batch", ("POST",)),
        ("/schedules/040q3", ("DELETE", "GET", "PATCH")),
        ("/schedules/by-name/a.name", ("DELETE", "GET", "PUT")),
        ("/schedules/040q3/stop", ("POST",)),
        ("/jobs/5b0c", ("GET",)),
        ("/", ()),
        ("/schedules/", ()),
        ("/schedules/a/b", ()),
        ("/schedules/by-name/a/b", ()),
        ("/jobs", ()),
        ("", ()),
    ],
)
def test_the_methods_of_a_path(path: str, methods: tuple[str, ...]) -> None:
    """Of the most exact one: a batch is no schedule of that id."""
    assert methods_of(path) == methods
