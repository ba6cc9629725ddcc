"""Patterns of hosts, with what somebody would try who may reach one host only."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from delayer.owners.model import pattern_of, site_of

ALLOWED = ("api.example.com", "*.shop.example.com", "[2001:db8::1]", "192.0.2.7", "internal.example.net:8443")
REACHED = [
    "https://api.example.com/",
    "https://API.Example.COM/x?y#z",
    "http://api.example.com",
    "http://api.example.com:80/",
    "https://api.example.com:443/",
    "https://api.example.com./x",
    "https://a.shop.example.com/",
    "https://a.b.shop.example.com/",
    "https://[2001:db8::1]/",
    "https://[2001:0DB8:0:0:0:0:0:1]/",
    "https://192.0.2.7/",
    "https://internal.example.net:8443/",
]
HOSTILE = [
    "https://api.example.com.evil.org/",
    "https://notapi.example.com/",
    "https://evil-api.example.com/",
    "https://api.example.comevil.org/",
    "https://shop.example.com/",
    "https://notshop.example.com/",
    "https://a.notshop.example.com/",
    "https://ashop.example.com/",
    "https://a.shop.example.com.evil.org/",
    "https://a.shop.example.com:8443/",
    "https://api.example.com:8443/",
    "http://api.example.com:443/",
    "https://api.example.com:80/",
    "https://api.example.com:0/",
    "https://api.example.com:65536/",
    "https://api.example.com:443443/",
    "https://api.example.com@evil.org/",
    "https://api.example.com:443@evil.org/",
    "https://user@api.example.com/",
    "https://user:password@api.example.com/",
    "https://evil.org#@api.example.com/",
    "https://evil.org?@api.example.com/",
    "https://evil.org/@api.example.com",
    "https://evil.org\\@api.example.com/",
    "https://api.example.com\\@evil.org/",
    "https://api.example.com\\.evil.org/",
    "https://evil.org\t@api.example.com/",
    "https://evil.org\n.api.example.com/",
    " https://api.example.com/",
    "https:// api.example.com/",
    "https:api.example.com/",
    "https:/api.example.com/",
    "https:///api.example.com/",
    "https:\\\\api.example.com/",
    "//api.example.com/",
    "https://.api.example.com/",
    "https://api..example.com/",
    "https://api.example.com../",
    "https://api%2eexample.com/",
    "https://api.example.com%00.evil.org/",
    "https://api.example.com%2f@evil.org/",
    "https://api\u3002example.com/",
    "https://\uff41pi.example.com/",
    "https://\u0430pi.example.com/",
    "https://api.example\u2024com/",
    "https://xn--pi-6kc.example.com/",
    "https://3221225991/",
    "https://0xC0000207/",
    "https://0300.0.2.7/",
    "https://192.0.2.07/",
    "https://192.0.519/",
    "https://192.0.2.7.evil.org/",
    "https://[::ffff:192.0.2.7]/",
    "https://[2001:db8::1%25eth0]/",
    "https://[2001:db8::2]/",
    "https://[2001:db8::1]evil.org/",
    "https://[2001:db8::1]:8443/",
    "https://internal.example.net/",
    "https://internal.example.net:443/",
    "https://127.0.0.1/",
    "https://localhost/",
    "https://",
    "",
    "https://*.shop.example.com/",
    "https://api.example.com\x00/",
    "https://-api.example.com/",
    f"https://{'a' * 300}.shop.example.com/",
]


def allows(pattern: str, url: str) -> bool:
    site = site_of(url)
    return site is not None and pattern_of(pattern).matches(site)


@pytest.mark.parametrize("url", REACHED)
def test_what_is_allowed(url: str) -> None:
    assert any(allows(pattern, url) for pattern in ALLOWED)


@pytest.mark.parametrize("url", HOSTILE, ids=ascii)
def test_what_only_looks_like_it(url: str) -> None:
    assert not any(allows(pattern, url) for pattern in ALLOWED)


def test_that_many_were_tried() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) == 67


TOO_MUCH = [
    "*", "**", "*.", "*.*", "*.com", "*.com.", "*.COM", "*:443", "*.*.example.com", "a*.example.com", "*example.com",
    "api.*.com", "*.0.2.7", "*.192.0.2.7", "*.0x7f", "*.[2001:db8::1]", "https://api.example.com", "api.example.com/",
    "user@api.example.com", "api.example.com:0", "api.example.com:65536", "api.example.com:", "api.example.com:x", "",
    ".", " ", "a b", "\u00e9.example.com", "a..example.com", ".example.com", "0300.0.2.7", "192.0.2.07", "0x7f.1",
    "2130706433", "[::ffff:1.2.3.4", "[::1%eth0]", "[:::]", "-a.example.com", "a" * 64 + ".example.com",
]  # fmt: skip


@pytest.mark.parametrize("text", TOO_MUCH, ids=ascii)
def test_patterns_that_match_too_much_or_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        pattern_of(text)


def test_any_port() -> None:
    assert allows("api.example.com:*", "https://api.example.com:8443/")
    assert allows("*.example.com:*", "https://api.example.com/")
    assert allows("api.example.com:443", "https://api.example.com/")
    assert not allows("api.example.com:443", "http://api.example.com/")


def test_a_text_that_is_only_a_host() -> None:
    """As an action of a team may have it."""
    assert allows("api.example.com", "api.example.com")
    assert allows("api.example.com:*", "api.example.com:8443")
    assert not allows("api.example.com", "api.example.com:8443")
    assert not allows("api.example.com", "api.example.com/evil.org")


PIECES = st.sampled_from(
    [
        *("api.example.com", ".evil.org", "evil.org", "https", "a", "//", "%2e", "443", "::1", "0x7f"),
        *("@", ":", "/", "\\", "#", "?", ".", "[", "]", "\t", "\n", " ", "\u3002", "\x00", "*"),
    ]
)


@given(st.lists(PIECES, max_size=7).map("".join))
@example("api.example.com\\@evil.org")
def test_another_reader_of_urls_sees_no_other_host(rest: str) -> None:
    """What is allowed here is what the target is reached with: it reads the URL once more."""
    url = f"https://{rest}"
    if not allows("api.example.com", url):
        return
    try:
        host = parse_url(url).host
    except LocationParseError:
        return
    assert (host or "").rstrip(".").lower() == "api.example.com"


@given(st.from_regex(re.compile(r"[a-z0-9]{1,9}(\.[a-z0-9]{1,9}){0,3}", re.ASCII), fullmatch=True))
def test_a_wildcard_matches_names_below_and_nothing_else(host: str) -> None:
    assert allows("*.example.com", f"https://{host}/") == host.endswith(".example.com")
    assert allows("*.example.com", f"https://{host}.example.com/")
    assert not allows("*.example.com", f"https://{host}example.com/") or host.endswith(".")
