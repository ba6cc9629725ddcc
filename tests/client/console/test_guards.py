"""Who gets in: the pages of the console itself, a link from elsewhere as far as an empty page, and nobody else."""

import httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from delayer.http.web_pages import Doorkeeper, headers_in
from delayer_client import HttpRequest
from delayer_client.console.guards.door import Verdict, verdict_of
from delayer_client.console.guards.sessions import AT_MOST, Sessions
from tests.client.console.world import HOST, ORIGIN, console, served

LINK = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
API = Doorkeeper(own_pages=True, subdomains=False)


def verdict(method: str = "GET", **headers: str) -> Verdict:
    return verdict_of(method, {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080"])
def test_a_browser_that_names_this_machine_gets_in(host: str) -> None:
    assert verdict_of("GET", {"host": host, "sec-fetch-site": "none"}) is Verdict.COME_IN
    assert API.refusal_of({"host": host, "sec-fetch-site": "none"}) is None, "as at the API's port"


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "localhost@evil.example", "localhost,evil.example", "0.0.0.0:8080", ""],
)
def test_another_name_for_this_machine_is_refused(host: str) -> None:
    """DNS rebinding: the name leads here, and the page would have this port's own origin."""
    assert verdict_of("GET", {"host": host, "origin": f"http://{host}"}) is Verdict.OTHER_NAME
    assert verdict_of("GET", LINK | {"host": host}) is Verdict.OTHER_NAME
    assert API.refusal_of({"host": host}) is not None, "as at the API's port"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost:3000", "https://localhost:8080"]
)
def test_requests_of_other_origins_are_refused(origin: str) -> None:
    assert verdict(origin=origin) is Verdict.OTHER_PAGE
    assert verdict("POST", origin=origin, sec_fetch_site="same-origin") is Verdict.CHANGES


@pytest.mark.parametrize("site", ["cross-site", "same-site", "made-up"])
def test_what_another_page_has_caused_is_refused_unless_it_is_a_link(site: str) -> None:
    assert verdict(sec_fetch_site=site) is Verdict.OTHER_PAGE
    image = {"sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"}
    frame = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}
    link = {"sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert verdict(sec_fetch_site=site, **image) is Verdict.OTHER_PAGE
    assert verdict(sec_fetch_site=site, **frame) is Verdict.OTHER_PAGE
    assert verdict(sec_fetch_site=site, **link) is Verdict.ASK_AGAIN
    assert verdict("POST", sec_fetch_site=site, **link) is Verdict.CHANGES, "a form of another page"


def test_a_change_needs_the_origin_of_the_console() -> None:
    assert verdict("POST", origin=ORIGIN, sec_fetch_site="same-origin") is Verdict.COME_IN
    assert verdict("POST") is Verdict.CHANGES
    assert verdict("DELETE", origin=ORIGIN) is Verdict.UNKNOWN_METHOD


def test_a_repeated_header_hides_nothing() -> None:
    pairs = [(b"Host", HOST.encode()), (b"Origin", ORIGIN.encode()), (b"origin", b"https://evil.example")]
    assert verdict_of("GET", headers_in(pairs)) is Verdict.OTHER_PAGE


def test_a_link_from_elsewhere_gets_a_page_without_data_that_asks_again() -> None:
    with console() as world:
        answer = world.browser.get("/console", headers=LINK)
        assert answer.status_code == 200
        assert 'http-equiv="refresh"' in answer.text
        assert "Due next" not in answer.text
        assert "set-cookie" not in answer.headers
        assert "Due next" in world.page()


def test_every_answer_forbids_frames_and_scripts_from_elsewhere() -> None:
    with console() as world:
        for path in ("/console", "/console/nothing-here", "/console/static/console.js", "/console/schedules/none"):
            headers = world.browser.get(path).headers
            assert headers["x-frame-options"] == "DENY"
            assert headers["x-content-type-options"] == "nosniff"
            policy = headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["cache-control"] == "no-store"


def test_a_token_opens_once_and_becomes_a_cookie_that_no_script_and_no_other_site_has() -> None:
    with console(sessions=Sessions(token="secret")) as world:
        assert world.browser.get("/console").status_code == 403
        answer = world.browser.get("/console/schedules?token=secret&state=failed", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/schedules?state=failed")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "Due next" in world.page()
        again = TestClient(world.browser.app, base_url=ORIGIN).get("/console?token=secret")
        assert again.status_code == 403
        assert "has been used" in again.text


@pytest.mark.parametrize("token", ["", "other", "sécret"])
def test_another_token_opens_nothing(token: str) -> None:
    with console(sessions=Sessions(token="secret")) as world:
        assert world.browser.get("/console", params={"token": token}).status_code == 403


def test_a_token_never_leads_to_another_host() -> None:
    with console(sessions=Sessions(token="secret")) as world:
        answer = world.browser.get("//evil.example/console?token=secret", follow_redirects=False)
        assert answer.headers.get("location", "/console").startswith("/console")


def test_nothing_is_changed_without_a_session_and_the_page_says_so() -> None:
    """After a restart a form of an open page has none: a reload would send it again, so its page is opened anew."""
    with console() as world:
        one = world.client.schedule(HttpRequest(url="https://shop.example/hook"), delay=60)
        answer = world.browser.post(f"/console/schedules/{one.id}/cancel", headers={"Origin": ORIGIN})
        assert (answer.status_code, answer.url.path) == (200, f"/console/schedules/{one.id}")
        assert "Nothing was changed: your session was over" in answer.text
        assert world.client.get(one.id).state != "cancelled"
        assert "Cancelled: " in world.press(f"/schedules/{one.id}/cancel", sure="yes"), "it has a session now"


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/console/series/x/pause", "/console/series/x"),
        ("/console/dead-letters/one/redrive", "/console/dead-letters"),
        ("/console/owner", "/console"),
        ("//evil.example/console", "/console"),
        ("/console/schedules/%2F%2Fevil/cancel", "/console"),
    ],
)
def test_a_form_of_a_session_that_is_over_leads_to_a_page_of_the_console(path: str, leads_to: str) -> None:
    with console() as world:
        answer = world.browser.post(path, headers={"Origin": ORIGIN}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, leads_to)
        assert "HttpOnly" in answer.headers["set-cookie"]


def test_with_a_token_a_form_without_a_session_is_refused() -> None:
    with console(sessions=Sessions(token="secret")) as world:
        assert world.browser.post("/console/owner", headers={"Origin": ORIGIN}).status_code == 403


def test_a_file_that_is_not_there_tells_nothing_to_those_who_have_no_token() -> None:
    with console(sessions=Sessions(token="secret")) as world:
        answer = world.browser.get("/console/static/none")
        assert (answer.status_code, answer.text) == (404, "There is no such file.")


def test_a_made_up_cookie_is_no_session() -> None:
    with console(sessions=Sessions(token="secret")) as world:
        cookie = {"Cookie": 'delayer_console_8080="made up"; delayer_console_8080=x'}
        assert world.browser.get("/console", headers=cookie).status_code == 403


def test_a_server_of_its_own_is_of_this_machine_and_prints_an_address_that_opens_once() -> None:
    with served("http://localhost:1", owner="alice") as address:
        assert address.startswith("http://127.0.0.1:")
        with httpx.Client(follow_redirects=True) as browser:
            page = browser.get(address)
            assert (page.status_code, page.url.query) == (502, b"")
            assert "Delayer does not answer" in page.text
            assert 'value="alice"' in page.text
        assert httpx.get(address).status_code == 403


def test_few_sessions_are_kept() -> None:
    sessions = Sessions()
    first = sessions.begin()
    for _ in range(AT_MOST):
        sessions.begin()
    assert sessions.of(first.id) is None


def test_websockets_are_closed() -> None:
    with console() as world, pytest.raises(WebSocketDisconnect) as closed, world.browser.websocket_connect("/console"):
        pass
    assert closed.value.code == 1008
