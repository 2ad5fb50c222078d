"""Counterparties: invented people, firms and shops, drawn from a seed."""

from collections.abc import Mapping
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from sandbox.banking import iban

LANGUAGES = ("fr", "nl")

# Three digits that the Belgian list of bank codes leaves free, and none of them ours.
BANK_CODES = ("152", "168", "187", "527", "542", "616", "661", "717", "814", "857")


class Party(NamedTuple):
    """A counterparty."""

    name: str
    iban: str | None
    street: str
    town: str


class CounterpartyRole(NamedTuple):
    """What a counterparty is to a customer: its trades by language (none: a person)."""

    trades: Mapping[str, tuple[str, ...]] | None = None
    many: int = 8
    has_account: bool = True  # cards and cash show none
    towns: tuple[str, ...] = ()
    circle: int = 1  # how many of them one account deals with


SHOPS = {
    "fr": (
        "Boulangerie",
        "Épicerie",
        "Boucherie",
        "Librairie",
        "Pharmacie",
        "Supérette",
        "Café",
        "Fleuriste",
    ),
    "nl": ("Bakkerij", "Kruidenier", "Slagerij", "Boekhandel", "Apotheek", "Buurtwinkel", "Café", "Bloemen"),
}
ABROAD = {"fr": ("Bookshop", "Hotel", "Diner"), "nl": ("Bookshop", "Hotel", "Diner")}

ROLES = {
    "landlord": CounterpartyRole(),
    "friend": CounterpartyRole(many=12, circle=5),
    "worker": CounterpartyRole(circle=2),
    "employer": CounterpartyRole({"fr": ("Ateliers", "Bureau d'études"), "nl": ("Werkplaatsen", "Studiebureau")}),
    "shop": CounterpartyRole(SHOPS, many=20, has_account=False, circle=12),
    "cash": CounterpartyRole({"fr": ("Distributeur",), "nl": ("Geldautomaat",)}, many=6, has_account=False, circle=3),
    "energy": CounterpartyRole({"fr": ("Énergie",), "nl": ("Energie",)}, many=3),
    "telecom": CounterpartyRole({"fr": ("Télécom",), "nl": ("Telecom",)}, many=3),
    "insurer": CounterpartyRole({"fr": ("Assurances",), "nl": ("Verzekeringen",)}, many=3),
    "fund": CounterpartyRole({"fr": ("Caisse familiale",), "nl": ("Gezinskas",)}, many=2),
    "authority": CounterpartyRole({"fr": ("Bureau de perception",), "nl": ("Ontvangkantoor",)}, many=2),
    "welfare": CounterpartyRole({"fr": ("Aide sociale",), "nl": ("Sociale dienst",)}, many=2),
    "mediator": CounterpartyRole({"fr": ("Gestion budgétaire",), "nl": ("Budgetbeheer",)}, many=2),
    "terminals": CounterpartyRole({"fr": ("Terminaux",), "nl": ("Betaalterminals",)}, many=2),
    "customer": CounterpartyRole(
        {"fr": ("Traiteur", "Hôtel", "École", "Café"), "nl": ("Traiteur", "Hotel", "School", "Café")}, 16, circle=10
    ),
    "supplier": CounterpartyRole(
        {"fr": ("Minoterie", "Emballages", "Grossiste"), "nl": ("Maalderij", "Papier", "Groothandel")}, circle=5
    ),
    "lessor": CounterpartyRole({"fr": ("Leasing",), "nl": ("Leasing",)}, many=2),
    "american": CounterpartyRole(ABROAD, many=6, has_account=False, towns=("Boston", "Chicago", "Denver"), circle=4),
    "british": CounterpartyRole(ABROAD, many=6, has_account=False, towns=("London", "Leeds", "York"), circle=4),
    # New roles go to the end: those before them keep the people that a seed draws.
    "grocer": CounterpartyRole(
        {"fr": ("Supermarché", "Épicerie fine"), "nl": ("Supermarkt", "Versmarkt")}, has_account=False, circle=3
    ),
    "petrol": CounterpartyRole(
        {"fr": ("Station-service",), "nl": ("Tankstation",)}, many=4, has_account=False, circle=2
    ),
}

People = dict[tuple[str, str], tuple[Party, ...]]  # by role and language


@lru_cache(maxsize=1)
def _fakers() -> dict[str, Any]:
    """Imports Faker on first use, as that takes 0.2 s."""
    from faker import Faker

    return {language: Faker(f"{language}_BE") for language in LANGUAGES}


def draw_people(seed: int) -> People:
    """Draws all counterparties of a seed. The caller holds the lock."""
    fakers = _fakers()
    for faker in fakers.values():
        faker.seed_instance(seed)
    dutch = fakers["nl"]  # fr_BE knows names only
    towns = [dutch.city() for _ in range(40)]
    streets = [dutch.street_address() for _ in range(80)]
    surnames = {language: [fakers[language].last_name() for _ in range(60)] for language in LANGUAGES}
    rng = Random(seed)
    people: People = {}
    for name, role in ROLES.items():
        for language in LANGUAGES:
            people[name, language] = tuple(
                Party(
                    _name(role, number, language, fakers[language], surnames[language], rng),
                    iban.make_belgian(rng.choice(BANK_CODES), rng.randrange(10_000_000)) if role.has_account else None,
                    rng.choice(streets),
                    rng.choice(role.towns or towns),
                )
                for number in range(role.many)
            )
    return people


def _name(role: CounterpartyRole, number: int, language: str, faker: Any, surnames: list[str], rng: Random) -> str:
    if role.trades is None:
        return f"{faker.first_name()} {rng.choice(surnames)}"
    trades = role.trades[language]
    return f"{trades[number % len(trades)]} {rng.choice(surnames)}"
