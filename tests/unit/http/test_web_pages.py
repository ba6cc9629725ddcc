"""Programs on this machine get in, and no web page but the port's own."""

import pytest

from delayer.http.web_pages import Doorkeeper, headers_by_name

API = Doorkeeper(own_pages=True, subdomains=False)
AWS = Doorkeeper(own_pages=False, subdomains=True)
HOST = "localhost:8080"
doors = pytest.mark.parametrize("door", [API, AWS], ids=["api", "aws"])


def refusal(door: Doorkeeper, **headers: str) -> str | None:
    return door.refusal_of({"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}})


@doors
@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080"])
def test_a_program_that_names_this_machine_gets_in(door: Doorkeeper, host: str) -> None:
    assert door.refusal_of({"host": host}) is None
    assert door.refusal_of({"host": host, "sec-fetch-site": "none"}) is None, "typed into the browser's address bar"


@doors
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "localhost,evil.example",
        "0.0.0.0:8080",
        "127.0.0.2",
        "",
    ],
)
def test_another_name_for_this_machine_is_refused(door: Doorkeeper, host: str) -> None:
    """A page whose name leads to this machine (DNS rebinding) would have this port's own origin."""
    assert "localhost" in str(door.refusal_of({"host": host}))
    assert "localhost" in str(door.refusal_of({"host": host, "origin": f"http://{host}"}))
    assert door.refusal_of({}) is not None


@doors
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost:3000", "https://localhost:8080"]
)
def test_pages_of_other_origins_are_refused(door: Doorkeeper, origin: str) -> None:
    assert refusal(door, origin=origin) is not None


@doors
@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "made-up", ""])
def test_what_another_page_has_caused_is_refused(door: Doorkeeper, site: str) -> None:
    """An <img> sends no Origin."""
    assert refusal(door, sec_fetch_site=site) is not None


def test_a_page_of_the_api_itself_may_use_it_but_no_page_may_use_the_aws_port() -> None:
    own = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin"}
    assert refusal(API, **own) is None
    assert refusal(AWS, **own) is not None
    assert refusal(AWS, sec_fetch_site="same-origin") is not None


def test_buckets_have_names_below_localhost_at_the_aws_port_only() -> None:
    assert AWS.refusal_of({"host": "bucket.localhost:8081"}) is None
    assert API.refusal_of({"host": "bucket.localhost:8081"}) is not None


def test_a_repeated_header_hides_nothing() -> None:
    pairs = [("Host", HOST), ("Origin", f"http://{HOST}"), ("origin", "https://evil.example")]
    assert API.refusal_of(headers_by_name(pairs)) is not None
