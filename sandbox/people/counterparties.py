"""Counterparties: invented people, firms and shops, generated from a seed."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from sandbox.banking import iban

LANGUAGES = ("fr", "nl")
ABROAD = ("Bookshop, Hotel, Diner",) * 2  # in both languages

# Bank codes of IBANs of counterparties. No real Belgian bank has them. The sandbox bank has yet another code.
BANK_CODES = ("152", "168", "187", "527", "542", "616", "661", "717", "814", "857")

PROVIDERS = ["faker.providers.address", "faker.providers.person"]


class Counterparty(NamedTuple):
    name: str
    iban: str | None
    street: str
    town: str


class CounterpartyRole(NamedTuple):
    """The relation of a counterparty to a customer, such as landlord. For each language, a seed gives `total`
    counterparties with this relation."""

    trades: Mapping[str, Sequence[str]]  # the trades of firms, by language; empty if the counterparties are persons
    total: int = 8
    has_account: bool = True  # False for shops and cash machines, because a card payment shows no account
    towns: Sequence[str] = ()  # if empty, towns are drawn
    per_account: int = 1  # how many of them one account pays, or is paid by


def make_role(french: str = "", dutch: str = "", towns: str = "", **values: Any) -> CounterpartyRole:
    """Returns a role. `french` and `dutch` are the trades in these languages. Trades and towns are given in one text,
    separated by commas. Without trades, the counterparties are persons. `values` are the other fields of the role."""
    trades = {"fr": french.split(", "), "nl": dutch.split(", ")} if french else {}
    return CounterpartyRole(trades, towns=towns.split(", ") if towns else (), **values)


ROLES = {
    "landlord": make_role(),
    "friend": make_role(total=12, per_account=5),
    "worker": make_role(per_account=2),
    "employer": make_role("Ateliers, Bureau d'études", "Werkplaatsen, Studiebureau"),
    "shop": make_role(
        "Boulangerie, Épicerie, Boucherie, Librairie, Pharmacie, Supérette, Café, Fleuriste",
        "Bakkerij, Kruidenier, Slagerij, Boekhandel, Apotheek, Buurtwinkel, Café, Bloemen",
        total=20,
        has_account=False,
        per_account=12,
    ),
    "cash": make_role("Distributeur", "Geldautomaat", total=6, has_account=False, per_account=3),
    "energy": make_role("Énergie", "Energie", total=3),
    "telecom": make_role("Télécom", "Telecom", total=3),
    "insurer": make_role("Assurances", "Verzekeringen", total=3),
    "fund": make_role("Caisse familiale", "Gezinskas", total=2),
    "authority": make_role("Bureau de perception", "Ontvangkantoor", total=2),
    "welfare": make_role("Aide sociale", "Sociale dienst", total=2),
    "mediator": make_role("Gestion budgétaire", "Budgetbeheer", total=2),
    "terminals": make_role("Terminaux", "Betaalterminals", total=2),
    "customer": make_role("Traiteur, Hôtel, École, Café", "Traiteur, Hotel, School, Café", total=16, per_account=10),
    "supplier": make_role("Minoterie, Emballages, Grossiste", "Maalderij, Papier, Groothandel", per_account=5),
    "lessor": make_role("Leasing", "Leasing", total=2),
    "american": make_role(*ABROAD, "Boston, Chicago, Denver", total=6, has_account=False, per_account=4),
    "british": make_role(*ABROAD, "London, Leeds, York", total=6, has_account=False, per_account=4),
    # Add new roles at the end. Elsewhere, a new role would change the people that a seed draws for the roles after it.
    "grocer": make_role("Supermarché, Épicerie fine", "Supermarkt, Versmarkt", has_account=False, per_account=3),
    "petrol": make_role("Station-service", "Tankstation", total=4, has_account=False, per_account=2),
}

Counterparties = dict[tuple[str, str], tuple[Counterparty, ...]]  # by role and language


@lru_cache(maxsize=1)
def _load_fakers() -> dict[str, Any]:
    """Returns a generator of names and places for each language. Imports Faker on the first call, because the import
    takes 0.2 s. Makes only the providers that are used, because all providers would take 0.1 s more."""
    from faker import Faker

    return {language: Faker(f"{language}_BE", providers=PROVIDERS) for language in LANGUAGES}


def draw_counterparties(seed: int) -> Counterparties:
    """Generates all counterparties of a seed, by role and language. The caller must hold a lock, because all calls
    share the generators of names."""
    fakers = _load_fakers()
    for faker in fakers.values():
        faker.seed_instance(seed)
    dutch = fakers["nl"]  # the generator for fr_BE has names, but no Belgian towns and streets
    towns = [dutch.city() for _ in range(40)]
    streets = [dutch.street_address() for _ in range(80)]
    surnames = {language: [fakers[language].last_name() for _ in range(60)] for language in LANGUAGES}
    rng = Random(seed)
    counterparties: Counterparties = {}
    for name, role in ROLES.items():
        for language in LANGUAGES:
            counterparties[name, language] = tuple(
                Counterparty(
                    _make_name(role, number, language, fakers[language], surnames[language], rng),
                    iban.make_belgian(rng.choice(BANK_CODES), rng.randrange(10_000_000)) if role.has_account else None,
                    rng.choice(streets),
                    rng.choice(role.towns or towns),
                )
                for number in range(role.total)
            )
    return counterparties


def _make_name(role: CounterpartyRole, number: int, language: str, faker: Any, surnames: list[str], rng: Random) -> str:
    if not role.trades:
        return f"{faker.first_name()} {rng.choice(surnames)}"
    trades = role.trades[language]
    return f"{trades[number % len(trades)]} {rng.choice(surnames)}"
