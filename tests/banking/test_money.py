from decimal import Decimal

import pytest

from sandbox.banking.money import Money, count_decimals, is_currency


@pytest.mark.parametrize(
    ("text", "currency", "shown"),
    [
        ("1234.5", "EUR", "1234.50"),
        ("0", "EUR", "0.00"),
        ("-0", "EUR", "0.00"),
        ("-12.30", "EUR", "-12.30"),
        ("9999999999999.99", "EUR", "9999999999999.99"),
        ("007", "USD", "7.00"),
        ("1234", "JPY", "1234"),
        ("1.25", "TND", "1.25"),
        ("1", "KWD", "1.00"),
    ],
)
def test_an_amount_reads_and_shows_the_decimals_of_its_currency_but_no_more_than_two(
    text: str, currency: str, shown: str
) -> None:
    assert Money.read(text, currency).text() == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        ".5",
        "5.",
        "1.234",
        "1,5",
        "+1",
        "1e3",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "--1",
        "NaN",
        "Infinity",
        "\u0661",
        "1" * 14,
    ],
)
def test_what_breaks_the_grammar_of_amounts_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Money.read(text, "EUR")


@pytest.mark.parametrize("text", ["1234.5", "1234.00", "1.0"])
def test_a_currency_without_cents_refuses_a_fraction(text: str) -> None:
    assert Money.read("1234", "JPY").number == 1234
    with pytest.raises(ValueError):
        Money.read(text, "JPY")


@pytest.mark.parametrize("code", ["EUR", "USD", "JPY", "KWD"])
def test_iso_4217_names_the_currencies(code: str) -> None:
    assert is_currency(code)


@pytest.mark.parametrize("code", ["XAU", "XDR", "XXX", "XTS", "eur", "EURO", "", "QQQ"])
def test_gold_and_unknown_codes_are_no_money(code: str) -> None:
    assert not is_currency(code)
    with pytest.raises(ValueError):
        count_decimals(code)
    with pytest.raises(ValueError):
        Money.read("1", code)


def test_money_of_one_currency_adds_and_compares() -> None:
    two, five = Money.read("2", "EUR"), Money.read("5.00", "EUR")
    assert (two + five).text() == "7.00"
    assert (two - five).text() == "-3.00"
    assert -two == Money.zero("EUR") - two
    assert two < five and two <= two and five > two and five >= five
    assert Money.read("5", "EUR") == five
    assert two.is_positive and not Money.zero("EUR").is_positive and not (-two).is_positive


@pytest.mark.parametrize("act", ["__add__", "__sub__", "__lt__", "__le__", "__gt__", "__ge__"])
def test_two_currencies_never_meet(act: str) -> None:
    with pytest.raises(AssertionError):
        getattr(Money.zero("EUR"), act)(Money.zero("USD"))
    assert Money.zero("EUR") != Money.zero("USD")


@pytest.mark.parametrize(
    ("text", "rate", "currency", "shown"),
    [
        ("1.00", "0.125", "EUR", "0.13"),
        ("-1.00", "0.125", "EUR", "-0.13"),
        ("1.00", "0.1249", "EUR", "0.12"),
        ("1.00", "178.5", "JPY", "179"),
        ("10.00", "0.3333", "KWD", "3.333"),
    ],
)
def test_conversion_rounds_half_up_to_the_decimals_of_the_other_currency(
    text: str, rate: str, currency: str, shown: str
) -> None:
    assert Money.read(text, "USD").convert(Decimal(rate), currency).text() == shown
