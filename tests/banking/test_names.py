"""Names of worlds (choice 1) and registered callbacks (choice 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.banking.names import fits_redirect, is_world_name

FOUR, LOCAL, SIX = "http://127.0.0.1:*/*", "http://localhost:*/*", "http://[::1]:*/*"
PATTERNS = (FOUR, LOCAL, SIX)


@pytest.mark.parametrize("name", ["default", "a", "A-1_b.c", "0", "x" * 64])
def test_a_world_may_be_called_so(name: str) -> None:
    assert is_world_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".a", "-a", "_a", "a/b", "a b", "a\n", "\na", "a\x00", "é", "a%2Fb", "a?b", "a#b", "x" * 65, "١"],
)
def test_a_world_may_not_be_called_so(name: str) -> None:
    assert not is_world_name(name)


@pytest.mark.parametrize(
    "pattern, uri",
    [
        (FOUR, "http://127.0.0.1:9000/callback"),
        (FOUR, "http://127.0.0.1:1/"),
        (FOUR, "http://127.0.0.1:65535/a/b?c=d&e=http://x/"),
        (FOUR, "http://127.0.0.1/callback"),
        (LOCAL, "http://localhost:9000/callback"),
        (LOCAL, "HTTP://LOCALHOST:9000/callback"),
        (SIX, "http://[::1]:9000/callback"),
        (SIX, "http://[::1]/"),
    ],
)
def test_a_loopback_pattern_takes_any_port_and_path(pattern: str, uri: str) -> None:
    assert fits_redirect(pattern, uri)


ATTACKS = (
    "",
    "http://127.0.0.1.evil.com/",
    "http://127.0.0.1:9000.evil.com/",
    "http://localhost.evil.com/",
    "http://evil.com/",
    "http://evil.com/?http://127.0.0.1:9000/",
    "http://evil.com#@127.0.0.1:9000/",
    "http://user@127.0.0.1:9000/",
    "http://user:word@127.0.0.1:9000/",
    "http://@127.0.0.1:9000/",
    "http://127.0.0.1:9000@evil.com/",
    "http://127.0.0.1@evil.com/",
    "http://127.0.0.1\\@evil.com/",
    "http://evil.com\\@127.0.0.1:9000/",
    "http:\\\\127.0.0.1:9000\\",
    "https://127.0.0.1:9000/",
    "https://localhost:9000/",
    "ftp://127.0.0.1:9000/",
    "javascript://127.0.0.1:9000/%0aalert(1)",
    "//127.0.0.1:9000/",
    "127.0.0.1:9000/",
    "http:127.0.0.1:9000/",
    "http:///127.0.0.1:9000/",
    "http://127.0.0.1:9000/#fragment",
    "http://127.0.0.1:9000/#",
    "http://127.0.0.1:/",
    "http://127.0.0.1:99999/",
    "http://127.0.0.1:65536/",
    "http://127.0.0.1:-1/",
    "http://127.0.0.1:+80/",
    "http://127.0.0.1:8 0/",
    "http://127.0.0.1:٨/",
    "http://127.0.0.1:*/*",
    "http://127.0.0.1 /",
    " http://127.0.0.1:9000/",
    "http://127.0.0.1:9000/ ",
    "http://127.0.0.1:9000/\r\nSet-Cookie: a=b",
    "http://127.0.0.1:9000/\x00",
    "http://127.0.0.1\t:9000/",
    "http://127.0.0.2:9000/",
    "http://127.1:9000/",
    "http://2130706433:9000/",
    "http://0x7f.0.0.1:9000/",
    "http://0.0.0.0:9000/",
    "http://127.0.0.1.:9000/",
    "http://localhost.:9000/",
    "http://127.0.0.1:9000/é",
    "http://１２７.0.0.1:9000/",
    "http://[::1].evil.com/",
    "http://evil[::1]/",
    "http://evil.com[::1]:9000/",
    "http://[::1]evil/",
    "http://[::1]@evil.com/",
    "http://[::1/",
    "http://[::ffff:127.0.0.1]:9000/",
    "http://[::2]:9000/",
    "http://127.0.0.1;evil.com/",
    "http://127.0.0.1,evil.com/",
)


@pytest.mark.parametrize("uri", ATTACKS, ids=ascii)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_an_attack_fits_no_loopback_pattern(pattern: str, uri: str) -> None:
    assert not fits_redirect(pattern, uri)


def test_a_loopback_name_fits_its_own_pattern_only() -> None:
    for pattern, host in zip(PATTERNS, ("127.0.0.1", "localhost", "[::1]"), strict=True):
        assert [fits_redirect(each, f"http://{host}:9000/") for each in PATTERNS] == [
            each == pattern for each in PATTERNS
        ]


def test_only_a_loopback_has_patterns() -> None:
    assert not fits_redirect("http://evil.com:*/*", "http://evil.com:9000/")
    assert not fits_redirect("https://tpp.example:*/*", "https://tpp.example:9000/")


def test_any_other_registered_address_must_be_met_exactly() -> None:
    registered = "https://tpp.example/callback"
    assert fits_redirect(registered, registered)
    for uri in (
        f"{registered}/",
        f"{registered}?a=b",
        f"{registered}#",
        "https://TPP.example/callback",
        "http://tpp.example/callback",
        "https://tpp.example:443/callback",
    ):
        assert not fits_redirect(registered, uri)


@given(st.text(max_size=40))
def test_no_text_makes_it_stumble(text: str) -> None:
    for pattern in PATTERNS:
        fits_redirect(pattern, text)
        assert not fits_redirect(pattern, f"http://evil.example/{text}")
        assert not fits_redirect(pattern, f"http://{text}@evil.example/")
