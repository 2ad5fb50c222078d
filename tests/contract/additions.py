"""New rows for a copy of the package: each recipe of "Where a new thing goes" with what it adds, to which files.

A recipe is tried with two rows where the second one differs in a way that could need other files.
"""

import re
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COPY = "with_more_rows"
MORNING = "2027-03-01T09:00:00+01:00"
TARGET_2 = "target-2-transfers"
SAME_DAY = "same-day-sepa-credit-transfers"
HELD_BACK, PART_PAID = "HOLD", "PART"
MINE = "GAMMA"[1:]  # a project code
Places = tuple[tuple[str, str], ...]  # the text before which something is added, and what is added


class Recipe(NamedTuple):
    """The files of the product that change, and how many of them the architecture promises at most."""

    name: str
    most: int
    files: dict[str, Places]


PRODUCT = Recipe(
    "a payment product",
    2,
    {
        "contract/products.py": (
            (
                "PRODUCTS = {",
                f'T2 = Product("{TARGET_2}", sepa=False, deletable=False, remark="TARGET2", short="T2")\n',
            ),
            ("XB)}", "T2, "),
        ),
        "contract/fields.py": (),  # a letter more in each row
    },
)
SEPA_PRODUCT_WITHOUT_CANCELLATION = Recipe(
    "a payment product",
    2,
    {
        "contract/products.py": (
            (
                "PRODUCTS = {",
                f'SD = Product("{SAME_DAY}", sepa=True, deletable=False, remark="SAME-DAY", short="same-day")\n',
            ),
            ("XB)}", "SD, "),
        ),
        "contract/fields.py": (),
    },
)
FIELD = Recipe(
    "a field of a product",
    3,
    {
        "contract/fields.py": (
            (
                '        Field(\n            "remittance_information_structured"',
                "        Field(\n"
                '            "project_code", TextKind(4, "[A-Z]{4}", "it must be four letters"), "o-o", '
                '"The project that pays.",\n            label="project",\n        ),\n',
            ),
        ),
        "bank/records.py": (
            ("    debtor: Debtor | None = None\n    creditor_address", "    project_code: str | None = None\n"),
        ),
        "web/psu/catalogues/fr.po": (('msgid "review.purpose"', 'msgid "review.project"\nmsgstr "Projet"\n\n'),),
        "web/psu/catalogues/nl.po": (('msgid "review.purpose"', 'msgid "review.project"\nmsgstr "Project"\n\n'),),
    },
)
FIELD_IN_THE_MIDDLE = Recipe(
    "a field of a product",
    3,
    {
        "contract/fields.py": (
            (
                '        Field(\n            "creditor_account.bank_national_id"',
                '        Field("creditor_account.branch", TextKind(10), "--o", "The branch of the account."),\n',
            ),
            (
                '        Field(\n            "start_date"',
                '        Field("mandate", TextKind(20), "o", "The mandate of the customer.", "choice 6"),\n',
            ),
        ),
        "bank/records.py": (
            ("    bic: str | None = None\n    country", "    branch: str | None = None\n"),
            ("    amount: Money | None = None  # of a FIXED", "    mandate: str | None = None\n"),
        ),
    },
)
STATUS = Recipe(
    "a status or a move",
    4,
    {
        "contract/moves.py": (
            ('    RJCT = "RJCT"', f'    {HELD_BACK} = "{HELD_BACK}"\n'),
            (
                '    Status.RJCT: StatusStyle("bad")',
                f'    Status.{HELD_BACK}: StatusStyle("wait", "the end of an inquiry"),\n',
            ),
            ('    REJECTED = "rejected"', '    HELD_BACK = "held_back"\n'),
            (
                '    Move(PDNG, Trigger.FUNDS_MISSING, PDNG, "choice 5")',
                f'    Move(PDNG, Trigger.HELD_BACK, Status.{HELD_BACK}, "choice 5"),\n'
                f'    Move(Status.{HELD_BACK}, Trigger.EXECUTED, ACSP, "choice 5"),\n',
            ),
        ),
        "bank/behaviours.py": (
            ("        Trigger.FUNDS_MISSING", "        Trigger.HELD_BACK: Effect(forced=_move(Trigger.HELD_BACK)),\n"),
        ),
    },
)
FINAL_STATUS_OF_A_FILE = Recipe(
    "a status or a move",
    4,
    {
        "contract/moves.py": (
            ('    RJCT = "RJCT"', f'    {PART_PAID} = "{PART_PAID}"\n'),
            ('    Status.RJCT: StatusStyle("bad")', f'    Status.{PART_PAID}: StatusStyle("good"),\n'),
            ('    REJECTED = "rejected"', '    PART_PAID = "part_paid"\n'),
            (
                '    Move(PDNG, Trigger.SETTLED, ACSC, "choice 7")',
                f'    Move(PDNG, Trigger.PART_PAID, Status.{PART_PAID}, "choice 7"),\n',
            ),
        ),
        "bank/behaviours.py": (
            (
                "        Trigger.REJECTED: Effect(forced=partial(bulks.end",
                "        Trigger.PART_PAID: Effect(forced=_move(Trigger.PART_PAID)),\n",
            ),
        ),
    },
)
LANGUAGE = Recipe(
    "a language of the screens",
    2,
    {
        "contract/languages.py": (('    "nl": Language', '    "de": Language("Deutsch", "de_BE"),\n'),),
        "web/psu/catalogues/de.po": (),  # the French sentences, and one in German
    },
)
SETTINGS = Recipe(
    "a timing, a limit, a guess about the bank",
    1,
    {
        "contract/decisions_payments.py": (
            (
                "    recycling_tries: int = setting(",
                "    tea_break: timedelta = setting(\n"
                '        Topic.PAYMENTS, "choice 5", timedelta(minutes=5), "How long the bank has tea.",\n    )\n'
                '    tea: Literal["green", "black"] = setting(\n'
                '        Topic.PAYMENTS, "choice 5", "green", "What the bank has then.",\n    )\n',
            ),
        ),
    },
)
SETTING_WITH_BOUNDS = Recipe(
    "a timing, a limit, a guess about the bank",
    1,
    {
        "contract/decisions_accounts.py": (
            (
                "    balance_of: Literal[",
                "    pages_max: int = setting(\n"
                '        Topic.ACCOUNTS, "choice 8", 9, "Pages of one period.", least=2, most=12,\n    )\n',
            ),
        ),
    },
)
AXIS = Recipe(
    "an axis",
    2,
    {
        "contract/decisions_payments.py": (
            (
                "    fees: Literal[",
                '    monday_delete: Literal["permitted", "refused"] = settling(\n'
                '        "service 3.4", "DELETE on a Monday.", "a branch on the day",\n'
                '        ("permitted", "As on other days."), ("refused", "403."), shown_by="cancels",\n    )\n',
            ),
        ),
        "bank/execution.py": (
            (
                "    waiting = payment.signed_on is not None\n    bank.move(payment, Trigger.CANCELLED",
                '    if today.weekday() == 0 and bank.decisions.monday_delete == "refused":\n'
                "        raise Refusal(Error.NOT_CANCELLABLE, status=payment.status.value)\n",
            ),
        ),
    },
)
AXIS_OF_REPLIES = Recipe(
    "another form of replies",
    3,
    {
        "contract/decisions_payments.py": (
            (
                "    details_amount: Literal[",
                '    status_names_bank: Literal["no", "yes"] = initiation(\n'
                '        "service 2.4", "Whether a status names the bank.", "a parser that knows every field",\n'
                '        ("no", "The field is left out."), ("yes", "bank, with its BIC."),\n'
                '        unfelt="The client reads the fields that it knows.",\n    )\n',
            ),
        ),
        "web/api/replies.py": (
            (
                '    if decisions.status_names_payment == "no":',
                '    if decisions.status_names_bank == "yes":\n        body["bank"] = "SBXBBEBB"\n',
            ),
        ),
        "web/docs/amendments.py": (
            (
                '    ("status_names_payment", "no")',
                '    ("status_names_bank", "yes"): replace_fields(STATUSES, "bank", type="string"),\n',
            ),
        ),
    },
)
RULE = Recipe(
    "a referee rule",
    1,
    {
        "extensions/referee/account_rules.py": (
            (
                '@rule("psu-involved-always"',
                '@rule("deleted-on-monday", WARNING, "choice 13", ("payment_cancellation",), refused=False)\n'
                "def on_monday(event: Observation, memory: RuleState) -> str | None:\n"
                '    """A payment is deleted on a Monday.\n\n    Wait.\n    """\n'
                '    return "a Monday" if event.at.weekday() == 0 else None\n\n\n',
            ),
        ),
    },
)
REASON = Recipe(
    "a reason",
    2,
    {
        "contract/reasons.py": (
            (
                "    @property\n    def code",
                '    FROZEN = ReasonRow("AC07", "The account is frozen.", "RJCT of a payment", "choice 8")\n\n',
            ),
        ),
        "bank/freezing.py": (),  # the new file of the verb
    },
)
ERROR = Recipe(
    "an error",
    2,
    {
        "contract/errors.py": (
            (
                "    CONSENT_ENDED = ErrorRow(",
                '    ACCOUNT_FROZEN = _no_account("\'{input}\' is frozen.", "choice 8", remedy="Another account.")\n',
            ),
        ),
        "bank/freezing.py": (),
    },
)
VERB = Recipe(
    "a verb",
    2,
    {
        "bank/verbs.py": (
            ("    payments,\n    psu_actions", "    freezing,\n"),
            ('    "accounts.register"', '    "accounts.freeze": freezing.freeze,\n'),
        ),
        "bank/freezing.py": (),
    },
)
ENDPOINT = Recipe(
    "an endpoint",
    4,
    {
        "contract/operations.py": (
            (
                '    Operation(\n        "transactions"',
                '    Operation("account_freeze", "PUT", "/accounts/<logical_id>/freeze", (1,), "service 4.9", '
                '**READS | {"success": 204}),\n',
            ),
        ),
        "web/api/accounts.py": (
            (
                "def transactions(bank: Bank, call: Call)",
                "def freeze(bank: Bank, call: Call) -> Answer:\n"
                '    iban = statements.demand_granted_account(bank, call.token_grant, call.path["logical_id"]).iban\n'
                "    call.world.do(freezing.freeze, iban)\n"
                "    return make_empty_reply()\n\n\n",
            ),
            ("from sandbox.bank import consents, statements", "from sandbox.bank import freezing\n"),
            ("from sandbox.web.api.call import", "from sandbox.web.api.replies import make_empty_reply\n"),
        ),
        "web/api/app.py": (
            ('    "transactions": "sandbox.', '    "account_freeze": "sandbox.web.api.accounts:freeze",\n'),
        ),
    },
)
ENDPOINT_WITH_REPLY = Recipe(
    "an endpoint",
    4,
    {
        "contract/operations.py": (
            (
                '    Operation(\n        "transactions"',
                '    Operation("account_owners", "GET", "/accounts/<logical_id>/owners", (2, 1), "service 4.9", '
                "**READS),\n",
            ),
        ),
        "web/api/accounts.py": (
            (
                "def transactions(bank: Bank, call: Call)",
                "def owners(bank: Bank, call: Call) -> Answer:\n"
                '    account = statements.demand_granted_account(bank, call.token_grant, call.path["logical_id"])\n'
                "    names = [bank.customers[name].name for name in account.owners]\n"
                '    return ReplyContent({"owners": names})\n\n\n',
            ),
        ),
        "web/api/app.py": (
            ('    "transactions": "sandbox.', '    "account_owners": "sandbox.web.api.accounts:owners",\n'),
        ),
        "web/docs/reply_schemas.py": (
            (
                "REPLIES: ",
                "class AccountOwnersReply(Schema):\n    owners = fields.List(fields.String(), required=True)\n\n\n",
            ),
            ('    "transactions": ', '    "account_owners": AccountOwnersReply,\n'),
        ),
    },
)
FREEZING = '''"""Freezes an account: payments that wait on it are rejected."""

from dataclasses import replace

from sandbox.bank import execution
from sandbox.bank.state import Bank
from sandbox.contract.errors import Error, Refusal
from sandbox.contract.moves import Status
from sandbox.contract.reasons import Reason


def freeze(bank: Bank, iban: str) -> None:
    account = bank.accounts[iban]
    if account.countries == ():
        raise Refusal(Error.ACCOUNT_FROZEN, input="logical-id")
    bank.accounts[iban] = replace(account, countries=())
    for payment in bank.payments.values():
        if payment.debtor is not None and payment.debtor.iban == iban and payment.status is Status.PDNG:
            execution.reject(bank, payment, Reason.FROZEN.code)
'''
HABIT = Recipe(
    "a habit of a customer",
    1,
    {
        "people/habits.py": (
            (
                '    Habit("child", "fund"',
                '    Habit("bonus", "employer", 10, 10, 3, steady=True),\n',
            ),
            ('        ("wages", "', '        ("bonus", "Prime {month}", "Premie {month}"),\n'),
        ),
    },
)
DATABASE = Recipe(
    "another database",
    3,
    {
        "storage/folder_database.py": (),  # the new file
        "storage/store.py": (
            (
                "    if not is_address(place):\n",
                '    if str(place).startswith("folder://"):\n'
                "        from sandbox.storage.folder_database import FolderDatabase\n\n"
                "        return Store(FolderDatabase(str(place), makes=makes), stopwatch)\n",
            ),
            ('"postgres://")', '"folder://", '),
        ),
    },
)
FOLDER_DATABASE = '''"""A database with an address of its own; that it is SQLite in a folder is no matter here."""

from pathlib import Path

from sandbox.storage.sqlite_database import SqliteDatabase


class FolderDatabase(SqliteDatabase):
    def __init__(self, address: str, *, makes: bool = True) -> None:
        super().__init__(Path(address.removeprefix("folder://")) / "state", makes=makes)
'''
RECIPES = (
    PRODUCT,
    SEPA_PRODUCT_WITHOUT_CANCELLATION,
    FIELD,
    FIELD_IN_THE_MIDDLE,
    STATUS,
    FINAL_STATUS_OF_A_FILE,
    LANGUAGE,
    SETTINGS,
    SETTING_WITH_BOUNDS,
    AXIS,
    AXIS_OF_REPLIES,
    RULE,
    REASON,
    ERROR,
    VERB,
    ENDPOINT,
    ENDPOINT_WITH_REPLY,
    HABIT,
    DATABASE,
)


def make_copy(home: Path) -> None:
    """A copy of the package with all of these rows."""
    for folder in ("sandbox", "fixtures", "scenarios", "docs"):
        copytree(ROOT / folder, home / folder, ignore=ignore_patterns("__pycache__"))
    sandbox = home / "sandbox"
    french = (sandbox / "web/psu/catalogues/fr.po").read_text()
    german = french.replace('msgid "login.title"\nmsgstr "', 'msgid "login.title"\nmsgstr "Anmelden bitte', 1)
    (sandbox / "web/psu/catalogues/de.po").write_text(german)
    (sandbox / "bank/freezing.py").write_text(FREEZING)
    (sandbox / "storage/folder_database.py").write_text(FOLDER_DATABASE)
    for recipe in RECIPES:
        for name, places in recipe.files.items():
            file = sandbox / name
            text = file.read_text()
            for before, addition in places:
                assert text.count(before) == 1, (name, before)
                text = text.replace(before, addition + before)
            file.write_text(text)
    fields = sandbox / "contract/fields.py"
    fields.write_text(with_columns_of_products(fields.read_text()))


def with_columns_of_products(text: str) -> str:
    """The fields with a column for each new product: as a cross-border payment, and as a SEPA credit transfer."""
    return re.sub(r'"([ro-])([ro-])([ro-])"', r'"\1\2\3\1\3"', text)
