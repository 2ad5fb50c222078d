import pytest

from sandbox.banking.pkce import METHODS, is_challenge, matches

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636, appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_methods_are_two() -> None:
    assert METHODS == ("S256", "plain")


@pytest.mark.parametrize(
    ("method", "challenge"),
    [
        ("S256", CHALLENGE),
        ("S256", "a.b_c~d-" * 5 + "abc"),
        ("plain", "a" * 32),
        ("plain", "a.b_c~d-" * 16),
        ("plain", CHALLENGE),
    ],
)
def test_a_challenge_holds(method: str, challenge: str) -> None:
    assert is_challenge(method, challenge)


@pytest.mark.parametrize(
    ("method", "challenge"),
    [
        ("S256", CHALLENGE[:-1]),
        ("S256", CHALLENGE + "A"),
        ("S256", CHALLENGE[:-1] + "="),
        ("S256", CHALLENGE[:-1] + "+"),
        ("S256", CHALLENGE + "\n"),
        ("plain", "a" * 31),
        ("plain", "a" * 129),
        ("plain", "a" * 40 + " "),
        ("plain", "é" * 43),
        ("s256", CHALLENGE),
        ("", CHALLENGE),
    ],
)
def test_a_challenge_of_another_shape_or_method_is_refused(method: str, challenge: str) -> None:
    assert not is_challenge(method, challenge)


def test_a_verifier_has_32_to_128_unreserved_characters() -> None:
    assert is_challenge("plain", VERIFIER) and is_challenge("plain", "a" * 32) and is_challenge("plain", "~" * 128)
    assert not any(is_challenge("plain", text) for text in ("", "a" * 31, "a" * 129, VERIFIER + "\n", "é" * 43))


def test_the_verifier_behind_a_challenge_matches() -> None:
    assert matches("S256", CHALLENGE, VERIFIER)
    assert matches("plain", VERIFIER, VERIFIER)
    assert matches("plain", "a" * 32, "a" * 32)


@pytest.mark.parametrize(
    ("method", "challenge", "verifier"),
    [
        ("S256", CHALLENGE, VERIFIER[:-1] + "l"),
        ("S256", CHALLENGE, CHALLENGE),
        ("plain", CHALLENGE, VERIFIER),
        ("S256", CHALLENGE, ""),
        ("S256", CHALLENGE, "é" * 43),
        ("S384", CHALLENGE, VERIFIER),
        ("S256", "elOGB_2quSlplZKfRRVlu7gULhhEEXMiqv0rPXawGv8", "a" * 42),  # choice 2 shortens plain only
    ],
)
def test_any_other_verifier_does_not_match(method: str, challenge: str, verifier: str) -> None:
    assert not matches(method, challenge, verifier)
