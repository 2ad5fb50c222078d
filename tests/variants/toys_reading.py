"""Toy clients that read accounts, and that get consents and tokens."""

from datetime import date
from typing import Any
from urllib.parse import urlsplit

from tests.payer import approve, begin, code_form, post_form, signed
from tests.reader import CAF, Reader, book, consent_uris, consented
from tests.spec.bodies import ALICE
from tests.spec.test_4_10_transactions import FIELDS
from tests.tpp import CHALLENGE, Tpp
from tests.variants import test_accounts as accounts
from tests.variants import test_tokens as tokens
from tests.variants.naive import Expects, Toys, ok

MARCH = {"date_from": "2027-03-01"}
ACCOUNT = {"type", "iban", "currency", "balance", "multicurrency", "other_compartments", "_links"}
ITEM = set(FIELDS)
TYPES = {"current-account": "current", "savings-account": "savings"}


def account(tpp: Tpp, customer: str = "alice") -> Any:
    return ok(Reader(tpp, customer).account())


def lines(tpp: Tpp, customer: str = "alice", **query: Any) -> Any:
    return ok(Reader(tpp, customer).transactions(query=query))["_embedded"]["transactions"]


def line(tpp: Tpp, amount: str = "-2.50") -> Any:
    book(tpp, tpp.iban_of("alice"), amount)
    return lines(tpp, pagesize=1)[0]


def pair(tpp: Tpp) -> Any:
    return ok(tokens.tokens(tpp, consented(tpp)))


def spends_what_is_left(tpp: Tpp) -> None:
    """Takes its own open payments off a balance that it takes for booked."""
    reader = Reader(tpp)
    before = ok(reader.account())["balance"]
    signed(tpp, instructed_amount__amount="10.00", debtor_account={"iban": ALICE})
    assert round(ok(reader.account())["balance"] - 10, 2) == round(before - 10, 2)


def follows_a_link(tpp: Tpp) -> None:
    """Puts the base address before it."""
    reader = Reader(tpp)
    found = urlsplit("http://localhost" + ok(reader.account())["_links"]["transactions"]["href"])
    assert found.netloc == "localhost", "no such host"
    ok(reader.get(found.path))


def keeps_ids_apart(tpp: Tpp) -> None:
    """A table of consents whose key is the logical-id."""
    table: dict[str, int] = {}
    for consent in range(2):
        for logical_id in Reader(tpp).ids.values():
            assert logical_id not in table
            table[logical_id] = consent


def sums_without_a_currency(tpp: Tpp) -> None:
    """Takes every line for euros."""
    of = [sum(row["amount"] for row in lines(tpp, "bram", **query)) for query in ({}, {"currency": "EUR"})]
    assert of[0] == of[1]


def counts_once(tpp: Tpp) -> None:
    """Takes each line for money that has left."""
    reader = Reader(tpp)
    before = ok(reader.account())["balance"]
    signed(tpp, debtor_account={"iban": ALICE}, requested_execution_date="2027-03-03")
    new = sum(row["amount"] for row in reader.page(query=MARCH)["transactions"])
    assert ok(reader.account())["balance"] == before + new


def overwrites_by_reference(tpp: Tpp) -> None:
    """A table of lines whose key is the reference."""
    for _ in "12":
        book(tpp, tpp.iban_of("alice"))
    rows = lines(tpp)
    assert len({row["transaction_ref"]: row for row in rows}) == len(rows)


def adds_what_it_does_not_know(tpp: Tpp) -> None:
    """A copy that grows by each reference that is new."""
    reader = Reader(tpp)
    copy = {row["transaction_ref"]: row for row in reader.page()["transactions"]}
    expected = len(reader.page()["transactions"])
    book(tpp, tpp.iban_of("alice"))
    copy |= {row["transaction_ref"]: row for row in reader.page()["transactions"]}
    assert len(copy) <= expected + 1


def pending_and_booked(tpp: Tpp) -> tuple[list[Any], list[Any]]:
    """The pending lines, and the lines once all is booked."""
    reader = Reader(tpp)
    order = {"requested_execution_date": "2027-03-03", "remittance_information_unstructured": "Rent of March"}
    signed(tpp, debtor_account={"iban": ALICE}, **order)
    pending = [row for row in reader.page(query=MARCH)["transactions"] if "status" in row]
    tpp.advance("3d")
    reader.renew()
    return pending, reader.page(query=MARCH)["transactions"]


def matches_by_reference(tpp: Tpp) -> None:
    """Looks a pending payment up by its reference, where booked lines keep theirs."""
    known = line(tpp)["transaction_ref"]
    pending, rows = pending_and_booked(tpp)
    references = {row["transaction_ref"] for row in rows}
    assert known not in references or all(row["transaction_ref"] in references for row in pending)


def matches_by_text(tpp: Tpp) -> None:
    """Looks a pending payment up by its text, where it has one."""
    pending, rows = pending_and_booked(tpp)
    texts = {(row["communication"], row["remittance_info"]) for row in rows}
    assert all((row["communication"], row["remittance_info"]) in texts for row in pending if row["remittance_info"])


def shows_what_is_to_come(tpp: Tpp) -> None:
    """A screen of the payments that are not booked yet."""
    assert all(f"{row['counterparty_info']:>30}" for row in pending_and_booked(tpp)[0])


def knows_every_field(model: set[str], row: Any) -> None:
    """A model that refuses other fields."""
    assert set(row) <= model, set(row) - model


def names_the_counterparty(tpp: Tpp) -> None:
    counterparty = line(tpp).get("counterparty_account")
    assert counterparty is None or counterparty[0].isupper()


def stops_at_a_known_line(tpp: Tpp) -> None:
    reader = Reader(tpp)
    known = {row["transaction_ref"] for row in reader.page()["transactions"]}
    book(tpp, tpp.iban_of("alice"))
    new = []
    for row in reader.page()["transactions"]:
        if row["transaction_ref"] in known:
            break
        new.append(row)
    assert len(new) == 1


def remembers_the_last_line(tpp: Tpp) -> None:
    for _ in range(2):
        book(tpp, tpp.iban_of("alice"))
    assert [page[-1]["transaction_ref"] for page in Reader(tpp).walk(**MARCH, pagesize=2)]


def stops_at_an_empty_page(tpp: Tpp) -> None:
    assert lines(tpp), "an account without transactions"


def asks_again_for_the_first(tpp: Tpp) -> None:
    """Shows what the PSU chose at the last consent."""
    iban = tpp.iban_of("bakkerij")
    second = next(row["accounts"][1] for row in tpp.listed("customers") if row["customer"] == "bakkerij")
    for chosen in (iban, second):
        reader = Reader(tpp, "bakkerij", accounts=[chosen])
    assert list(reader.ids) == [second]


def pages_the_history(tpp: Tpp) -> None:
    """One proof for two pages of the history."""
    reader = Reader(tpp)
    for _ in range(2):
        assert reader.page(query=tokens.OLD, sca_token=reader.sca)["transactions"]


def proves_in_the_header(tpp: Tpp) -> None:
    reader = Reader(tpp)
    assert reader.page(query=tokens.OLD, sca_token=reader.sca)["transactions"]


def reads_as_a_payer(tpp: Tpp) -> Any:
    begun = begin(tpp)
    code = approve(tpp, begun.address, "alice").get_json()["redirect"].partition("code=")[2].partition("&")[0]
    return ok(post_form(tpp, code_form(code)))["sca_token"]


def sends_the_code_as_it_is(tpp: Tpp) -> None:
    form = "&".join(f"{name}={value}" for name, value in code_form(consented(tpp)).items())
    ok(post_form(tpp, form))


def asks_for_caf(tpp: Tpp) -> Any:
    return ok(consent_uris(tpp, f"scope=CAF&iban={tpp.iban_of('alice')}", 3))


def tries_another_verifier(tpp: Tpp) -> None:
    code = consented(tpp)
    for verifier in (CHALLENGE, None):
        reply = tokens.tokens(tpp, code, **({"code_verifier": verifier} if verifier else {}))
    ok(reply)


TOYS: Toys = {
    "balance_of": {
        "euro": Expects(accounts.of_two_accounts, "globalised", 1),
        "globalised": Expects(accounts.of_two_accounts, "euro", 0),
    },
    "balance_is": spends_what_is_left,
    "balances_as": lambda tpp: account(tpp)["balance"] - 10,
    "multicurrency": lambda tpp: account(tpp)["multicurrency"] and account(tpp)["other_compartments"][0],
    "account_holder": lambda tpp: knows_every_field(ACCOUNT, account(tpp)),
    "account_type": lambda tpp: TYPES[account(tpp)["type"]],
    "no_compartments": lambda tpp: len(account(tpp)["other_compartments"]),
    "href": follows_a_link,
    "logical_id": keeps_ids_apart,
    "unknown_logical_id": Expects(accounts.unknown_id, 401),
    "currency_omitted": sums_without_a_currency,
    "lacking_compartment": lambda tpp: lines(tpp, "bram", currency="JPY"),
    "item_amount": lambda tpp: sum(row["amount"] for row in lines(tpp)),
    "item_fields": lambda tpp: line(tpp)["transaction_ref"],
    "pending_items": counts_once,
    "pending_lines": shows_what_is_to_come,
    "reference_repeats": overwrites_by_reference,
    "reference_renumbered": adds_what_it_does_not_know,
    "reference_when_booked": matches_by_reference,
    "text_when_booked": matches_by_text,
    "counterparty_bic": lambda tpp: knows_every_field(ITEM, line(tpp)),
    "value_date_field": lambda tpp: [date.fromisoformat(row["value_date"]) for row in lines(tpp)],
    "item_sign": Expects(lambda tpp: line(tpp)["amount"] < 0, True),
    "item_dates": lambda tpp: date.fromisoformat(line(tpp)["value_date"]),
    "item_blanks": {"empty": names_the_counterparty, "absent": lambda tpp: line(tpp)["counterparty_account"]},
    "order_of_items": stops_at_a_known_line,
    "exact_last_page": remembers_the_last_line,
    "empty_page": stops_at_an_empty_page,
    "next_alone": lambda tpp: Reader(tpp).walk(date_from="2027-01-01", pagesize=40),
    "old_dates_without_sca": lambda tpp: lines(tpp, **tokens.OLD),
    "balance_after_90_days": Expects(accounts.after_100_days, (200, "")),
    "page_size": lambda tpp: lines(tpp)[49],
    "pair_of": Expects(tokens.two_users, 200),
    "failed_exchange": tries_another_verifier,
    "new_consent": asks_again_for_the_first,
    "sca_token_request": proves_in_the_header,
    "sca_token_reply": lambda tpp: pair(tpp)["sca_token"],
    "sca_token_for": reads_as_a_payer,
    "sca_token_uses": pages_the_history,
    "scope_in": lambda tpp: ok(consent_uris(tpp)),
    "caf_account": asks_for_caf,
    "caf_role": asks_for_caf,
    "consent_languages": Expects(
        lambda tpp: consent_uris(tpp, accept_language="nl, fr;q=0.5").get_json()[0]["language"], "nl"
    ),
    "token_type_case": Expects(lambda tpp: pair(tpp)["token_type"], "Bearer"),
    "token_length": Expects(lambda tpp: len(pair(tpp)["access_token"]) <= 255, True),
    "code_characters": sends_the_code_as_it_is,
    "code_life": Expects(tokens.later("1m"), 200),
    "consent_address_life": Expects(tokens.address_later, 200),
    "sca_token_life": Expects(tokens.sca_token_later, True),
    "consent_life": Expects(tokens.transactions_after("90d"), 200),
    # Of lenient axes: the same client goes on.
    "reused_code": Expects(tokens.code_twice, 401, 0),
    "renewal_extends_consent": lambda tpp: Reader(tpp).renew(),
    "caf_transactions": lambda tpp: ok(Reader(tpp, scope=CAF, iban=ALICE).account()),
    "sca_renewal_after": Expects(tokens.transactions_after("80d"), 200),
}
