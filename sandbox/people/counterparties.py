"""Counterparties: invented people, firms and shops, drawn from a seed."""

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from sandbox.banking import iban

LANGUAGES = ("fr", "nl")

# Three digits that the Belgian list of bank codes leaves free, and none of them ours.
BANK_CODES = ("152", "168", "187", "527", "542", "616", "661", "717", "814", "857")


class Counterparty(NamedTuple):
    name: str
    iban: str | None
    street: str
    town: str


class CounterpartyRole(NamedTuple):
    """What counterparties are to a customer, and how many a seed has of them."""

    trades: Mapping[str, tuple[str, ...]] | None = None  # by language; None: a person
    total: int = 8
    has_account: bool = True  # cards and cash show none
    towns: tuple[str, ...] = ()
    per_account: int = 1  # those that one account deals with


SHOPS = {
    "fr": ("Boulangerie", "Épicerie", "Boucherie", "Librairie", "Pharmacie", "Supérette", "Café", "Fleuriste"),
    "nl": ("Bakkerij", "Kruidenier", "Slagerij", "Boekhandel", "Apotheek", "Buurtwinkel", "Café", "Bloemen"),
}
ABROAD = {"fr": ("Bookshop", "Hotel", "Diner"), "nl": ("Bookshop", "Hotel", "Diner")}

ROLES = {
    "landlord": CounterpartyRole(),
    "friend": CounterpartyRole(total=12, per_account=5),
    "worker": CounterpartyRole(per_account=2),
    "employer": CounterpartyRole({"fr": ("Ateliers", "Bureau d'études"), "nl": ("Werkplaatsen", "Studiebureau")}),
    "shop": CounterpartyRole(SHOPS, total=20, has_account=False, per_account=12),
    "cash": CounterpartyRole(
        {"fr": ("Distributeur",), "nl": ("Geldautomaat",)}, total=6, has_account=False, per_account=3
    ),
    "energy": CounterpartyRole({"fr": ("Énergie",), "nl": ("Energie",)}, total=3),
    "telecom": CounterpartyRole({"fr": ("Télécom",), "nl": ("Telecom",)}, total=3),
    "insurer": CounterpartyRole({"fr": ("Assurances",), "nl": ("Verzekeringen",)}, total=3),
    "fund": CounterpartyRole({"fr": ("Caisse familiale",), "nl": ("Gezinskas",)}, total=2),
    "authority": CounterpartyRole({"fr": ("Bureau de perception",), "nl": ("Ontvangkantoor",)}, total=2),
    "welfare": CounterpartyRole({"fr": ("Aide sociale",), "nl": ("Sociale dienst",)}, total=2),
    "mediator": CounterpartyRole({"fr": ("Gestion budgétaire",), "nl": ("Budgetbeheer",)}, total=2),
    "terminals": CounterpartyRole({"fr": ("Terminaux",), "nl": ("Betaalterminals",)}, total=2),
    "customer": CounterpartyRole(
        {"fr": ("Traiteur", "Hôtel", "École", "Café"), "nl": ("Traiteur", "Hotel", "School", "Café")},
        16,
        per_account=10,
    ),
    "supplier": CounterpartyRole(
        {"fr": ("Minoterie", "Emballages", "Grossiste"), "nl": ("Maalderij", "Papier", "Groothandel")}, per_account=5
    ),
    "lessor": CounterpartyRole({"fr": ("Leasing",), "nl": ("Leasing",)}, total=2),
    "american": CounterpartyRole(
        ABROAD, total=6, has_account=False, towns=("Boston", "Chicago", "Denver"), per_account=4
    ),
    "british": CounterpartyRole(ABROAD, total=6, has_account=False, towns=("London", "Leeds", "York"), per_account=4),
    # New roles go to the end: those before them keep the people that a seed draws.
    "grocer": CounterpartyRole(
        {"fr": ("Supermarché", "Épicerie fine"), "nl": ("Supermarkt", "Versmarkt")}, has_account=False, per_account=3
    ),
    "petrol": CounterpartyRole(
        {"fr": ("Station-service",), "nl": ("Tankstation",)}, total=4, has_account=False, per_account=2
    ),
}

Counterparties = dict[tuple[str, str], tuple[Counterparty, ...]]  # by role and language


@lru_cache(maxsize=1)
def _fakers() -> dict[str, Any]:
    """Imports Faker on first use, as that takes 0.2 s."""
    from faker import Faker

    return {language: Faker(f"{language}_BE") for language in LANGUAGES}


def draw_counterparties(seed: int) -> Counterparties:
    """Draws all counterparties of a seed. The caller holds the lock, as the generators of names are shared."""
    fakers = _fakers()
    for faker in fakers.values():
        faker.seed_instance(seed)
    dutch = fakers["nl"]  # fr_BE knows names only
    towns = [dutch.city() for _ in range(40)]
    streets = [dutch.street_address() for _ in range(80)]
    surnames = {language: [fakers[language].last_name() for _ in range(60)] for language in LANGUAGES}
    rng = Random(seed)
    counterparties: Counterparties = {}
    for name, role in ROLES.items():
        for language in LANGUAGES:
            counterparties[name, language] = tuple(
                Counterparty(
                    _name(role, number, language, fakers[language], surnames[language], rng),
                    iban.make_belgian(rng.choice(BANK_CODES), rng.randrange(10_000_000)) if role.has_account else None,
                    rng.choice(streets),
                    rng.choice(role.towns or towns),
                )
                for number in range(role.total)
            )
    return counterparties


def _name(role: CounterpartyRole, number: int, language: str, faker: Any, surnames: list[str], rng: Random) -> str:
    if role.trades is None:
        return f"{faker.first_name()} {rng.choice(surnames)}"
    trades = role.trades[language]
    return f"{trades[number % len(trades)]} {rng.choice(surnames)}"
