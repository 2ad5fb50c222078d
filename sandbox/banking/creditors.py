"""What a beneficiary must bring, by product and country (service 2.1, choice 5)."""

from sandbox.banking import countries
from sandbox.banking.iban import bic_belongs, country_of, is_bic, is_iban
from sandbox.contract.errors import Error, Refusal

ACCOUNT = "creditor_account"


def refuse(field: str, why: str) -> Refusal:
    return Refusal(Error.INPUT_INVALID, input=field, why=why)


def demand_bank(iban: str | None, bic: str | None, country: str | None, *, account: str = ACCOUNT) -> None:
    """What holds for every product: shapes, and that parts agree with each other."""
    if iban is not None and not is_iban(iban):
        raise refuse(f"{account}.iban", "it is no valid IBAN")
    if bic is not None and not is_bic(bic):
        raise refuse(f"{account}.bic", "it is no BIC")
    if country is not None and not countries.is_country(country):
        raise refuse(f"{ACCOUNT}.country", "it is no country code")
    if iban is not None and country is not None and country_of(iban) != country:
        raise refuse(f"{ACCOUNT}.country", "it is not the country of the IBAN")
    if iban is not None and bic is not None and not bic_belongs(bic, iban):
        raise Refusal(Error.BIC_WRONG, input=f"{account}.bic", why="does not belong to the IBAN")


def demand_sepa(iban: str, *, account: str = ACCOUNT) -> None:
    country = iban[:2]
    if country not in countries.SEPA:
        raise Refusal(Error.COUNTRY_NOT_ACCEPTED, country=country, input=f"{account}.iban")


def cross_border_country(
    iban: str | None, bban: str | None, bic: str | None, country: str | None, bank_national_id: str | None
) -> str:
    """Exactly one of iban and bban, each with what it needs; the answer is the beneficiary's country."""
    if bban is not None and bic is not None:
        raise Refusal(Error.BBAN_WITH_BIC, input=f"{ACCOUNT}.bban")
    if iban is not None and bban is not None:
        raise refuse(f"{ACCOUNT}.bban", "it cannot go with an iban")
    if iban is not None:
        if country_of(iban) not in countries.SEPA and bic is None:
            raise Refusal(Error.BIC_WRONG, input=f"{ACCOUNT}.bic", why="is missing: the country needs one")
        return _accepted(country_of(iban), f"{ACCOUNT}.iban")
    for field, value in (("iban", bban), ("country", country), ("bank_national_id", bank_national_id)):
        if value is None:
            raise Refusal(Error.INPUT_MISSING, input=f"{ACCOUNT}.{field}")
    assert country is not None
    return _accepted(country, f"{ACCOUNT}.country")


def _accepted(country: str, field: str) -> str:
    if not countries.accepts_country(country):
        raise Refusal(Error.COUNTRY_NOT_ACCEPTED, country=country, input=field)
    return country


def demand_cross_border(
    country: str, currency: str, purpose: str | None, city: str | None, address_country: str | None
) -> None:
    """A fitting purpose code, and outside of the EEA an address with city and country."""
    if currency == "EUR" and country in countries.SEPA:
        raise refuse(ACCOUNT, "euro to a SEPA account goes as a SEPA credit transfer")
    if purpose is None:
        if countries.purpose_required(country):
            raise Refusal(Error.INPUT_MISSING, input="purpose_code")
    elif not countries.purpose_allowed(country, purpose):
        raise refuse("purpose_code", f"it is not accepted for {country}")
    if country in countries.EEA:
        return
    for field, value in (("city", city), ("country", address_country)):
        if value is None:
            raise Refusal(Error.INPUT_MISSING, input=f"creditor_address.{field}")
