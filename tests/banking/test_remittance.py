import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.banking.remittance import is_free_text, make_structured, read_structured

KNOWN = "+++090/9337/55493+++"


@pytest.mark.parametrize("text", [KNOWN, "090933755493"])
def test_both_belgian_forms_read_as_one(text: str) -> None:
    assert read_structured(text) == KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+++090/9337/55494+++",
        "090933755494",
        "000000000000",
        "***090/9337/55493***",
        "090/9337/55493",
        "+++090933755493+++",
        " 090933755493",
        "090933755493\n",
        "+++090/9337/55493++",
        "٠٩٠٩٣٣٧٥٥٤٩٣",
        "RF18539007547034",
    ],
)
def test_any_other_form_is_refused(text: str) -> None:
    assert read_structured(text) is None


@given(st.integers(0, 10**10 - 1))
def test_what_is_made_reads_back(number: int) -> None:
    made = make_structured(number)
    assert read_structured(made) == made
    assert read_structured(made.replace("+", "").replace("/", "")) == made


def test_no_rest_counts_as_97_and_eleven_digits_are_refused() -> None:
    assert make_structured(97) == "+++000/0000/09797+++"
    with pytest.raises(AssertionError):
        make_structured(10**10)


@pytest.mark.parametrize("text", ["x", "Loyer d'été, 2e étage", "日" * 140, " "])
def test_free_text_holds(text: str) -> None:
    assert is_free_text(text)


@pytest.mark.parametrize("text", ["", "x" * 141, "a\nb", "a\n", "a\tb", "\x00", "\x7f", "\x85", "\ud800"])
def test_empty_long_or_control_characters_are_no_free_text(text: str) -> None:
    assert not is_free_text(text)
