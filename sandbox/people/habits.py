"""The tables of habits. A life, such as `earner`, is a list of habits, made of bundles that several lives share."""

from enum import Enum
from typing import NamedTuple


class DayPattern(Enum):
    """A day of the month that has no fixed number."""

    FIRST = "first banking day"
    LAST = "last banking day"


# The hours at which habits are booked. Salaries and debits are booked before payments are executed or tried again
# (06:00, choice 5). Habits that spend a whole salary are booked an hour after that.
MORNING, LATER = 5, 7
HOURS = (MORNING, LATER)


class Habit(NamedTuple):
    """A repeated income (above zero) or expense (below zero). The amount is drawn between `low` and `high`. They are
    minor units if `fixed` is True, else thousandths of the owner's monthly income."""

    word: str  # the name of the habit, and its key in WORDS
    role: str  # the role of the counterparty, or SELF, NOBODY or EXCHANGE
    low: int
    high: int
    due: DayPattern | int | None = None  # a number is a day of the month; the habit is due on the next banking day
    a_week: float = 0  # how often a week a habit without a fixed day happens, on average
    every: int = 1  # months between two occurrences
    remark: str = "SEPA CREDIT TRANSFER"
    unit: int = 1  # the amount is a multiple of this, in cents
    steady: bool = False  # whether the amount is the same each time
    structured: bool = False  # whether the communication is a structured one
    each: bool = False  # whether it happens once for each counterparty of the role
    sweep: bool = False  # whether the amount is all money above what the account keeps
    currency: str = "EUR"
    fixed: bool = False  # whether low and high are minor units, and not shares of the income
    hour: int = MORNING  # the hour of the banking day at which it is booked, in Brussels: one of HOURS
    hold: int = 0  # minor units that a terminal reserves when the card is used; released when the amount is booked
    party: tuple[str, str | None] | None = None  # name and IBAN of the only counterparty, which replaces the role
    text: str | None = None  # the communication; None: the sentence that WORDS has for `word`

    @property
    def by_card(self) -> bool:
        """Whether a card is used. Cards are used on any day, and the amount is booked on the next banking day."""
        return self.remark in (CARD, CASH)


SELF = "self"
NOBODY = "nobody"
EXCHANGE = "exchange"
CARD = "CARD PAYMENT"
CASH = "CASH WITHDRAWAL"
DEBIT = "DIRECT DEBIT"

EARN = (
    Habit("salary", "employer", 1000, 1000, DayPattern.LAST, steady=True),
    Habit("child", "fund", 70, 70, 8, steady=True),
)
HOUSEHOLD = (
    Habit("rent", "landlord", -320, -290, DayPattern.FIRST, steady=True),
    Habit("energy", "energy", -62, -40, 12, remark=DEBIT, structured=True),
    Habit("telecom", "telecom", -22, -18, 18, remark=DEBIT, steady=True, structured=True),
    Habit("insurance", "insurer", -18, -14, 5, remark=DEBIT, steady=True),
    Habit("gift", "friend", -40, -5, a_week=0.7, unit=100),
    Habit("gift", "friend", 4, 25, a_week=0.4, unit=100),
    Habit("cash", "cash", -38, -8, a_week=0.6, remark=CASH, unit=1000),
)
SHOPPING = (Habit("card", "shop", -17, -1, a_week=10.5, remark=CARD),)
FEW_SHOPS = (Habit("card", "shop", -40, -3, a_week=3.5, remark=CARD),)
SAVE = (Habit("saving", SELF, 0, 0, 4, sweep=True, unit=5000),)
TRAVEL = (
    Habit("fee", "employer", 70, 130, 15, currency="USD"),
    Habit("fee", "employer", 40, 80, 22, currency="GBP"),
    Habit("card", "american", -45, -6, a_week=0.7, remark=CARD, currency="USD"),
    Habit("card", "british", -35, -5, a_week=0.6, remark=CARD, currency="GBP"),
    Habit("exchange", EXCHANGE, 30, 60, 10, every=3, unit=1000, currency="USD"),
    Habit("exchange", EXCHANGE, 30, 60, 11, every=2, unit=1000, currency="GBP"),
)
TRADE = (
    Habit("rent", "landlord", -75, -65, DayPattern.FIRST, steady=True),
    Habit("energy", "energy", -40, -22, 12, remark=DEBIT, structured=True),
    Habit("telecom", "telecom", -4, -3, 18, remark=DEBIT, steady=True, structured=True),
    Habit("insurance", "insurer", -9, -7, 5, remark=DEBIT, steady=True),
    Habit("wages", "worker", -110, -95, DayPattern.LAST, each=True, steady=True),
    Habit("vat", "authority", -130, -80, 20, every=3, structured=True),
    Habit("social", "authority", -70, -60, 25, every=3, structured=True),
)

# Habits of customers whose life goes on. Never change a row: replays of existing logs would differ. Add a new row in a
# life with a new name.
PURCHASES = (
    Habit("groceries", "grocer", -40, -8, a_week=1.4, remark=CARD),
    Habit("fuel", "petrol", -34, -15, a_week=0.7, remark=CARD, hold=12_500),
    Habit("purchase", "shop", -15, -1, a_week=5.5, remark=CARD),
)
ABROAD = (
    Habit("fee", "employer", 45, 95, 15, currency="USD"),
    Habit("fee", "employer", 25, 55, 22, currency="GBP"),
    *TRAVEL[2:],
)
CARD_FEE = (Habit("card_fee", NOBODY, -2400, -2400, 15, every=12, remark="CARD FEE", fixed=True),)

LIVES: dict[str, tuple[Habit, ...]] = {
    "still": (),
    "earner": EARN + HOUSEHOLD + SHOPPING + SAVE,
    "quiet": EARN[:1] + HOUSEHOLD + FEW_SHOPS + SAVE,
    "traveller": EARN[:1] + HOUSEHOLD + SHOPPING + SAVE + TRAVEL,
    "poor": (
        Habit("welfare", "welfare", 1000, 1000, DayPattern.LAST, steady=True),
        Habit("rent", "landlord", -450, -420, DayPattern.LAST, steady=True),
        Habit("energy", "energy", -80, -50, DayPattern.LAST, remark=DEBIT, structured=True),
        Habit("budget", "mediator", 0, 0, DayPattern.LAST, sweep=True),
    ),
    "employee": EARN + HOUSEHOLD + PURCHASES + SAVE + CARD_FEE,
    "globetrotter": EARN[:1] + HOUSEHOLD + PURCHASES + SAVE + ABROAD + CARD_FEE,
    "modest": (
        Habit("salary", "employer", 1000, 1000, 25, steady=True),
        Habit("rent", "landlord", -450, -420, 25, steady=True, hour=LATER),
        Habit("energy", "energy", -80, -50, 25, remark=DEBIT, structured=True, hour=LATER),
        Habit("budget", "mediator", 0, 0, 25, sweep=True, hour=LATER),
    ),
    "saver": (Habit("interest", NOBODY, 1000, 1000, DayPattern.FIRST, every=12, remark="INTEREST"),),
    "reserve": (
        Habit("lease", "lessor", -22, -22, 3, remark=DEBIT, steady=True, structured=True),
        Habit("repair", "supplier", -30, -5, a_week=0.5),
        Habit("invoice", "customer", 10, 40, a_week=0.7),
        *SAVE,
    ),
    "shop": (
        Habit("takings", "terminals", 60, 110, a_week=1.9),
        Habit("invoice", "customer", 12, 50, a_week=1.4, structured=True),
        Habit("supplier", "supplier", -55, -15, a_week=1.6),
        *TRADE,
        *SAVE,
    ),
    "office": (
        Habit("invoice", "customer", 20, 120, a_week=2.2, structured=True),
        Habit("case", "friend", 30, 140, a_week=1.5),
        Habit("duty", "authority", -110, -30, a_week=0.8, structured=True),
        Habit("supplier", "supplier", -12, -2, a_week=1.2),
        *TRADE,
        *SAVE,
    ),
}

PURCHASE_FR = "Achat du {day} à {town}, terminal {terminal}"
PURCHASE_NL = "Aankoop op {day} te {town}, terminal {terminal}"
# The communication of each habit, in French and Dutch.
WORDS: dict[str, dict[str, str]] = {
    word: {"fr": french, "nl": dutch}
    for word, french, dutch in (
        ("opening", "Solde reporté", "Overgedragen saldo"),
        ("salary", "Salaire {month}", "Loon {month}"),
        ("wages", "Salaire {month}", "Loon {month}"),
        ("child", "Allocations familiales {month}", "Groeipakket {month}"),
        ("rent", "Loyer {month}, {street}, {town}", "Huur {month}, {street}, {town}"),
        ("insurance", "Assurance {month}", "Verzekering {month}"),
        ("gift", "Merci et à bientôt", "Bedankt en tot gauw"),
        ("cash", "Retrait du {day} à {town}", "Geldopname op {day} te {town}"),
        ("card", "Achat du {day} à {town}", "Aankoop op {day} te {town}"),
        ("saving", "Épargne {month}", "Sparen {month}"),
        ("fee", "Honoraires {month}", "Honorarium {month}"),
        ("exchange", "Change {month}", "Wissel {month}"),
        ("welfare", "Revenu d'intégration {month}", "Leefloon {month}"),
        ("budget", "Budget {month}", "Budget {month}"),
        ("interest", "Intérêts", "Interesten"),
        ("repair", "Facture {number}, réparation", "Factuur {number}, herstelling"),
        ("invoice", "Facture {number}", "Factuur {number}"),
        ("supplier", "Facture {number}, livraison {month}", "Factuur {number}, levering {month}"),
        ("takings", "Recettes au {day}", "Ontvangsten tot {day}"),
        ("case", "Dossier {number}", "Dossier {number}"),
        ("groceries", PURCHASE_FR, PURCHASE_NL),
        ("fuel", PURCHASE_FR, PURCHASE_NL),
        ("purchase", PURCHASE_FR, PURCHASE_NL),
        ("card_fee", "Cotisation annuelle carte {year}", "Jaarlijkse bijdrage kaart {year}"),
    )
}
