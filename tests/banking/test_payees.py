"""Choice 14: how a payee's bank compares a name with that of the account's holder."""

import pytest

from sandbox.banking.iban import is_iban
from sandbox.banking.payees import (
    CLOSE_MATCH,
    MATCH,
    NO_MATCH,
    NOT_POSSIBLE,
    PayeeCheck,
    check_foreign,
    check_holders,
    compare_names,
    is_reachable,
)

EMMA, BAKERY, SILENT, JOINT = "BE55152410003144", "BE65187410004296", "BE47661410008680", "BE58717410009779"


@pytest.mark.parametrize(
    "given, holder",
    [
        ("Alice Delvigne", "Alice Delvigne"),
        ("ALICE  delvigne ", "Alice Delvigne"),
        ("Delvigne Alice", "Alice Delvigne"),
        ("Delvigne, Alice", "Alice Delvigne"),
        ("Helene Dupre", "Hélène Dupré"),
        ("Mme Alice Delvigne", "Alice Delvigne"),
        ("Griet Vanhoevelaer", "Griet Van Hoevelaer"),
        ("Vanhoevelaer Griet", "Griet Van Hoevelaer"),
        ("Dhondt Ann Sofie", "Ann-Sofie D’Hondt"),
        ("Bakkerij Zonnegraan BV", "Bakkerij Zonnegraan"),
        ("B.V. Bakkerij Zonnegraan", "Bakkerij Zonnegraan"),
        ("Bakkerij Zonnegraan SRL", "Bakkerij Zonnegraan b v"),
        ("Energie Westhoek naamloze vennootschap", "Energie Westhoek NV"),
        ("Energie Westhoek S.A.", "Energie Westhoek NV"),
        ("Muller and Sohne", "Müller & Söhne GmbH"),
        ("Boulangerie St-Géry", "Boulangerie Saint-Géry SRL"),
        ("ING", "ING NV"),
        ("王小明", "王小明"),
    ],
)
def test_names_of_the_same_words_match(given: str, holder: str) -> None:
    assert compare_names(given, holder) == compare_names(holder, given) == MATCH


@pytest.mark.parametrize(
    "given, holder",
    [
        ("A. Delvigne", "Alice Delvigne"),
        ("Delvigne A", "Alice Delvigne"),
        ("J.B. Van de Walle", "Jean-Baptiste Van de Walle"),
        ("Alise Delvigne", "Alice Delvigne"),
        ("Aliec Delvigne", "Alice Delvigne"),
        ("Alice Delvinge", "Alice Marie Delvigne"),
        ("Delvigne", "Alice Delvigne"),
        ("Zonnegraan", "Bakkerij Zonnegraan"),
        ("Bakkerij Zonnegraan Gent", "Bakkerij Zonnegraan"),
        ("Bakkerij Zonnegraan NV", "Bakkerij Zonnegraan BV"),
    ],
)
def test_names_that_differ_a_little_are_a_close_match(given: str, holder: str) -> None:
    assert compare_names(given, holder) == CLOSE_MATCH


@pytest.mark.parametrize(
    "given, holder",
    [
        ("Jan Peeters", "Alice Delvigne"),
        ("Marie Delvigne", "Alice Delvigne"),
        ("Alice", "Alice Delvigne"),
        ("A D", "Alice Delvigne"),
        ("Bakkerij", "Bakkerij Zonnegraan"),
        ("...", "Alice Delvigne"),
        ("x" * 70, "Alice Delvigne"),
    ],
)
def test_other_names_do_not_match(given: str, holder: str) -> None:
    assert compare_names(given, holder) == NO_MATCH


def test_a_close_match_alone_tells_the_name_of_the_holder() -> None:
    assert check_foreign(EMMA, "E. Peeters") == PayeeCheck(CLOSE_MATCH, "Emma Peeters")
    assert check_foreign(EMMA, "Peeters Emma") == PayeeCheck(MATCH)
    assert check_foreign(EMMA, "Jan Janssens") == PayeeCheck(NO_MATCH)
    assert check_foreign(BAKERY, "Boulangerie Saint Gery") == PayeeCheck(MATCH)


@pytest.mark.parametrize("name", ["Anne Leclercq", "Benali Karim", "Karim Benali et Anne Leclercq"])
def test_one_holder_or_all_of_them_may_be_named(name: str) -> None:
    assert check_foreign(JOINT, name) == PayeeCheck(MATCH)


def test_a_joint_account_of_others_is_no_match() -> None:
    assert check_holders("Emma Peeters", ("Anne Leclercq", "Karim Benali")) == PayeeCheck(NO_MATCH)


@pytest.mark.parametrize("iban", [SILENT, "FR7630006000011234567890189"])
def test_a_bank_that_does_not_answer_makes_the_check_impossible(iban: str) -> None:
    assert check_foreign(iban, "Emma Peeters") == PayeeCheck(NOT_POSSIBLE)


def test_one_bank_takes_no_instant_payments() -> None:
    assert not is_reachable("NL41SBXU0123456789") and is_reachable("NL87SBXN0123456789") and is_reachable(EMMA)


def test_the_table_has_valid_accounts_of_no_bank_of_ours() -> None:
    from sandbox.banking.payees import _load_content

    assert all(map(is_iban, _load_content()["payees"]))
