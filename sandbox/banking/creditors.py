"""Checks of a beneficiary's data by product and country (service 2.1, choice 5)."""

from sandbox.banking import countries
from sandbox.banking.iban import bic_fits_iban, find_country, is_bic, is_iban
from sandbox.contract.errors import Error, Refusal

ACCOUNT = "creditor_account"
OURS = "choice 5"
PUBLISHED = "service 2.1.8"  # the accepted countries, currencies and purpose codes


def make_refusal(field: str, reason: str, clause: str = OURS, **decided_by: object) -> Refusal:
    return Refusal(Error.INPUT_INVALID, input=field, why=reason, clause=clause, decided_by=decided_by)


def demand_iban(iban: str, field: str, rule: str) -> None:
    """Refuses an invalid IBAN, and one with blanks or lower case. `rule` is the clause that demands upper case for the
    country letters."""
    if is_iban(iban):
        return
    letters = "".join(iban.split())
    if not is_iban(letters.upper()):
        raise make_refusal(field, "it is no valid IBAN", sent=iban)
    if letters[:2] != letters[:2].upper():
        raise make_refusal(field, "its country letters must be upper case", rule, sent=iban)
    if letters != iban:
        raise make_refusal(field, "it must be written without blanks", sent=iban)
    raise make_refusal(field, "its letters must be upper case", sent=iban)


def demand_bank(
    iban: str | None, bic: str | None, country: str | None, *, account: str = ACCOUNT, rule: str = "service 2.1.3"
) -> None:
    """Makes the checks of a beneficiary's bank that hold for any product. Refuses an invalid IBAN, BIC or country, and
    a BIC or country that does not fit the IBAN."""
    if iban is not None:
        demand_iban(iban, f"{account}.iban", rule)
    if bic is not None and not is_bic(bic):
        raise make_refusal(f"{account}.bic", "it is no BIC", sent=bic)
    if country is not None and not countries.is_country(country):
        raise make_refusal(f"{ACCOUNT}.country", "it is no country code", rule, sent=country)
    if iban is not None and country is not None and find_country(iban) != country:
        raise make_refusal(f"{ACCOUNT}.country", "it is not the country of the IBAN", iban=iban, country=country)
    if iban is not None and bic is not None and not bic_fits_iban(bic, iban):
        decided_by = {"iban": iban, "bic": bic}
        raise Refusal(Error.BIC_WRONG, input=f"{account}.bic", why="does not belong to the IBAN", decided_by=decided_by)


def demand_sepa(iban: str, *, account: str = ACCOUNT) -> None:
    country = iban[:2]
    if country not in countries.SEPA:
        decided_by = {"country": country, "accepted": "the countries of SEPA"}
        raise Refusal(
            Error.COUNTRY_NOT_ACCEPTED, country=country, input=f"{account}.iban", clause=OURS, decided_by=decided_by
        )


def demand_country(
    iban: str | None, bban: str | None, bic: str | None, country: str | None, bank_national_id: str | None
) -> str:
    """Returns the beneficiary's country. Refuses a country that the bank does not accept.

    Also refuses contradicting or missing fields. With an IBAN outside SEPA, a BIC is needed. Without an IBAN, a BBAN, a
    country and a bank number are needed.
    """
    if bban is not None and bic is not None:
        raise Refusal(Error.BBAN_WITH_BIC, input=f"{ACCOUNT}.bban", decided_by={"bban": bban, "bic": bic})
    if iban is not None and bban is not None:
        raise make_refusal(f"{ACCOUNT}.bban", "it cannot go with an iban", iban=iban, bban=bban)
    if iban is not None:
        if find_country(iban) not in countries.SEPA and bic is None:
            reason = "is missing: the country needs one"
            raise Refusal(
                Error.BIC_WRONG, input=f"{ACCOUNT}.bic", why=reason, decided_by={"country": find_country(iban)}
            )
        return _demand_accepted(find_country(iban), f"{ACCOUNT}.iban")
    for field, value in (("iban", bban), ("country", country), ("bank_national_id", bank_national_id)):
        if value is None:
            decided_by = {} if bban is None else {"bban": bban}
            raise Refusal(Error.INPUT_MISSING, input=f"{ACCOUNT}.{field}", clause=OURS, decided_by=decided_by)
    assert country is not None
    return _demand_accepted(country, f"{ACCOUNT}.country")


def _demand_accepted(country: str, field: str) -> str:
    if not countries.accepts_country(country):
        decided_by = {"country": country}
        raise Refusal(Error.COUNTRY_NOT_ACCEPTED, country=country, input=field, clause=PUBLISHED, decided_by=decided_by)
    return country


def demand_cross_border(
    country: str, currency: str, purpose: str | None, city: str | None, address_country: str | None
) -> None:
    """Refuses a cross-border payment of euros to a SEPA country, and one to a country outside the EEA without the
    beneficiary's city and country. Also refuses a purpose code that the country does not accept, and a missing purpose
    code if the country needs one."""
    if currency == "EUR" and country in countries.SEPA:
        reason = "euro to a SEPA account goes as a SEPA credit transfer"
        raise make_refusal(ACCOUNT, reason, PUBLISHED, currency=currency, country=country)
    if purpose is None:
        if countries.needs_purpose(country):
            raise Refusal(Error.INPUT_MISSING, input="purpose_code", clause=PUBLISHED, decided_by={"country": country})
    elif not countries.accepts_purpose(country, purpose):
        raise make_refusal(
            "purpose_code", f"it is not accepted for {country}", PUBLISHED, country=country, purpose=purpose
        )
    if country in countries.EEA:
        return
    for field, value in (("city", city), ("country", address_country)):
        if value is None:
            decided_by = {"country": country}
            raise Refusal(Error.INPUT_MISSING, input=f"creditor_address.{field}", clause=OURS, decided_by=decided_by)
