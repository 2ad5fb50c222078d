"""One deliberately wrong file for each thing that can be wrong."""

from itertools import pairwise
from typing import NamedTuple


class WrongFile(NamedTuple):
    """`schema`: whether an editor with the JSON Schema sees it too."""

    text: str
    line: int
    column: int
    says: str
    hint: str | None = None
    schema: bool = True


RULE = "rules:\n  - when: {}\n    "
PAYMENT = "rules:\n  - when: {kind: payment}\n    "
FAULT = "faults:\n  - "

NOT_YAML = (
    WrongFile("rules: [", 1, 9, "this is no YAML: expected the node content, but found '<stream end>'"),
    WrongFile("a: b: c", 1, 5, "this is no YAML: mapping values are not allowed here"),
    WrongFile("seed: 1\nscenario: \x07", 2, 11, "this is no YAML: unacceptable character #x0007"),
    WrongFile("seed: 1\nseed: 2", 2, 1, "the key 'seed' stands here twice", "first on line 1"),
    WrongFile("seed: !!int 1", 1, 7, "the tag 'tag:yaml.org,2002:int' is not read", "a scenario has no tags"),
    WrongFile("about: *it", 1, 8, "nothing above is marked &it"),
    WrongFile("? [a]\n: 1", 1, 3, "a key must be a text"),
    WrongFile('scenario: "\\uD800"', 1, 11, "half a pair of surrogates", schema=False),
    WrongFile("seed: 1e999", 1, 7, "NaN and Infinity are not JSON", schema=False),
    WrongFile("seed: 1\n---\nseed: 2", 2, 1, "a second document", "a file holds one scenario"),
    WrongFile("about: " + "[" * 40 + "]" * 40, 1, 38, "over 30 levels deep"),
    WrongFile("about: '" + "x" * 500_001 + "'", 1, 1, "a scenario of over 500000 characters is not read"),
    WrongFile(
        "".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefg"))
        .replace("b:", "a: &a x\nb:", 1), 6, 28, "a scenario of over 50000 values", schema=False,
    ),
)  # fmt: skip

TOP = (
    WrongFile("[1]", 1, 1, "a scenario is expected", "with scenario, about"),
    WrongFile("senario: x", 1, 1, "an unknown key 'senario'", "did you mean 'scenario'?"),
    WrongFile("zzz: x", 1, 1, "an unknown key 'zzz'", "known: scenario, about"),
    WrongFile("scenario: 12", 1, 11, "a text is expected", 'in quotes: "12"'),
    WrongFile("scenario: ''", 1, 11, "an empty text"),
    WrongFile(
        f"{FAULT}when: {{operation: token}}\n    answer: {{status: 500, body: {{a: {10**20}}}}}",
        3,
        33,
        "a JSON number has 64 bits at most, and NaN and Infinity are not JSON",
        schema=False,
    ),
    WrongFile(f"scenario: {'x' * 301}", 1, 11, "a title of over 300 characters", "say the rest in 'about'"),
    WrongFile(f"about: {'x' * 10_001}", 1, 8, "a text of over 10000 characters", schema=False),
    WrongFile("extends: defautl", 1, 10, "there is no scenario 'defautl'", "did you mean 'default'?", False),
    WrongFile("extends: 5", 1, 10, "a text is expected", 'in quotes: "5"'),
    WrongFile("seed: one", 1, 7, "a whole number is expected"),
    WrongFile("seed: -1", 1, 7, "a number from 0 to"),
    WrongFile("clock: {at: yesterday}", 1, 13, "a time is written like 2027-01-02T06:00:00+01:00"),
    WrongFile("clock: {at: 2027-02-30}", 1, 13, "2027-02-30 does not exist: February 2027 has 28 days", schema=False),
    WrongFile("clock: {at: 1999-01-01T00:00}", 1, 13, "a time lies between the years 2000 and 2200"),
    WrongFile("clock: {frozen: no}", 1, 17, "true or false is expected"),
    WrongFile("clock: {rate: fast}", 1, 15, "a number is expected"),
    WrongFile("clock: {rate: 0}", 1, 15, "a number above 0 and up to 1000000 is expected"),
    WrongFile(
        "clock: {frozen: true, rate: 2}", 1, 29, "a frozen clock has no rate", "take one of the two away", schema=False
    ),
    WrongFile("rules: {}", 1, 8, "a list is expected", "each item begins with a dash"),
    WrongFile("rules:\n  - {when: {}, then: []}", 2, 22, "an empty list"),
)

BANK = (
    WrongFile("bank: defautl", 1, 7, "'defautl' is no set of fixtures", "did you mean 'default'?"),
    WrongFile("bank: []", 1, 7, "a bank is expected", "with customers, accounts or clients"),
    WrongFile("bank: {people: {}}", 1, 8, "an unknown key 'people'", "known: customers, accounts or clients"),
    WrongFile("bank: {customers: [zoe]}", 1, 19, "a mapping of names is expected", "customers by their names"),
    WrongFile(
        "bank:\n  customers:\n    zoe: {name: Zoe, kind: royal, language: fr}", 3, 28,
        "'royal' is no kind of customer", "known: private or business",
    ),
    WrongFile(
        "bank:\n  clients:\n    my-tpp: {name: Mine}", 3, 13, "'secret' is missing"
    ),
)  # fmt: skip

SETTINGS = (
    WrongFile("settings: {unsigned_afer: 5m}", 1, 12, "an unknown key", "did you mean 'unsigned_after'?"),
    WrongFile("settings: {unsigned_after: 5}", 1, 28, "a duration is a text such as 61m", "did you mean '5s'?"),
    WrongFile("settings: {unsigned_after: 5 minutes}", 1, 28, "a duration is written like 90s"),
    WrongFile("settings: {closed_days: skip}", 1, 25, "'skip' is no value of closed_days", "known: ignore or respect"),
    WrongFile("settings: {page_size: 51}", 1, 23, "a number from 1 to 50 is expected"),
    WrongFile("settings: {variants: {final_stat: ACSP}}", 1, 23, "an unknown axis", "did you mean 'final_status'?"),
    WrongFile("settings: {variants: {final_status: ACPS}}", 1, 37, "'ACPS' is no value", "did you mean 'ACSP'?"),
    WrongFile(
        "settings: {settled_status: ACSC, variants: {final_status: ACSP}}", 1, 59, "sets settled_status", None, False
    ),
    WrongFile("settings: {vendor: My Bank}", 1, 20, "'My Bank' has the wrong form", "like service"),
)

RULES = (
    WrongFile("rules: [5]", 1, 9, "a rule is expected", "with title, when, then, timings, validation, psu or refuse"),
    WrongFile("rules:\n  - when: {kind: payment}", 2, 5, "one of then, timings, validation, psu or refuse is missing"),
    WrongFile(
        "rules:\n  - when: {produkt: x}\n    refuse: FUNDS_MISSING", 2, 12, "an unknown key", "did you mean 'product'?"
    ),
    WrongFile("rules:\n  - when: {kind: paymnt}", 2, 18, "'paymnt' is no kind", "did you mean 'payment'?"),
    WrongFile(
        "rules:\n  - when: {product: sepa}", 2, 21, "'sepa' is no product", "known: sepa-credit-transfers", schema=False
    ),
    WrongFile(
        "rules:\n  - {when: {kind: bulk, product: sepa-credit-transfers}, refuse: FORBIDDEN}", 2, 34,
        "a bulk has no product 'sepa-credit-transfers'", "it has pain.001 or csv", False,
    ),
    WrongFile(
        "rules:\n  - {when: {kind: consent, product: csv}, refuse: FORBIDDEN}", 2, 37, "a consent has no product",
        "a consent has no product", False,
    ),
    WrongFile("rules:\n  - when: {amount: much}", 2, 20, "an amount is expected", 'like "250.00"'),
    WrongFile("rules:\n  - when: {amount: {above: 5}}", 2, 21, "an unknown key 'above'", "did you mean 'over'?"),
    WrongFile(
        "rules:\n  - {when: {amount: {over: 5, under: 4}}, refuse: FORBIDDEN}", 2, 38,
        "no amount is both over and under these", None, False,
    ),
    WrongFile("rules:\n  - when: {currency: euro}", 2, 22, "'euro' has the wrong form", "like EUR"),
    WrongFile("rules:\n  - when: {nth: 0}", 2, 17, "a number from 1 to"),
    WrongFile("rules:\n  - when: {creditor_name: no, nth: true}", 2, 36, "a whole number is expected"),
    WrongFile(
        "rules:\n  - {when: {client: demo-tp}, refuse: FORBIDDEN}", 2, 21, "'demo-tp' is no client of this bank",
        "did you mean 'demo-tpp'?", False,
    ),
    WrongFile(
        "rules:\n  - {when: {customer: alicia}, refuse: FORBIDDEN}", 2, 23, "'alicia' is no customer of this bank",
        "did you mean 'alice'?", False,
    ),
    WrongFile(
        "rules:\n  - {when: {debtor: alice-curent}, refuse: FORBIDDEN}", 2, 21,
        "'alice-curent' is no account of this bank", "did you mean 'alice-current'?", False,
    ),
    WrongFile(
        "bank: {customers: {zoe: {name: Z, kind: private, language: fr}}}\n"
        "rules:\n  - {when: {debtor: zoe}, refuse: FORBIDDEN}", 3, 21, "'zoe' has no account", None, False,
    ),
    WrongFile(
        "rules:\n  - {when: {from: 2027-03-02, until: 2027-03-01}, refuse: FORBIDDEN}", 2, 38,
        "'until' must lie after 'from'", None, False,
    ),
    WrongFile(
        RULE + "then: [{on: PATC}]", 3, 12, "one of move, return, recall, refund, payee or unreachable is missing"
    ),
    WrongFile(RULE + "then: [{payee: close}]", 3, 20, "'close' is no outcome", "did you mean 'close_match'?"),
    WrongFile(
        RULE + "then: [{payee: close_match}]", 3, 12,
        "needs the name that the payee's bank knows", "name: Emma Peeters", False,
    ),
    WrongFile(RULE + "then: [{payee: match, name: X}]", 3, 33, "a name goes with close_match only", None, False),
    WrongFile(RULE + "then: [{payee: match, after: 2s}]", 3, 34, "payee happens before the signature", None, False),
    WrongFile(
        RULE.replace("{}", "{kind: bulk}") + "then: [{payee: match}]", 3, 20,
        "payee is of a payment or standing_order only", "say kind: payment", False,
    ),
    WrongFile(
        RULE.replace("{}", "{product: sepa-credit-transfers}") + "then: [{unreachable: true}]", 3, 26,
        "only an instant payment", "say product: instant-*", False,
    ),
    WrongFile(RULE + "then: [{payee: match}, {payee: no_match}]", 3, 36, "payee is said twice", None, False),
    WrongFile(RULE + "then: [{on: PNDG, move: RJCT}]", 3, 17, "'PNDG' is no status", "did you mean 'PDNG'?"),
    WrongFile(
        PAYMENT + "then: [{on: ACSP, move: RJCT, reason: closed}]", 3, 43, "'closed' has the wrong form", "like AC04"
    ),
    WrongFile(
        PAYMENT + "then: [{on: ACSP, move: ACSC, reason: AC04}]", 3, 43, "a reason goes with RJCT or CANC only",
        None, False,
    ),
    WrongFile(
        PAYMENT + "then: [{on: ACSP, move: CANC}]", 3, 29, "no table lets it go from ACSP to CANC",
        "from ACSP it can go to ACSC, RJCT or ACSP", False,
    ),
    WrongFile(
        PAYMENT + "then: [{on: RJCT, move: CANC}]", 3, 29, "no table lets it go from RJCT to CANC", "RJCT is the end",
        False,
    ),
    WrongFile(
        PAYMENT + "then: [{on: ACWP, move: CANC}]", 3, 17, "no initiation that fits can be ACWP",
        "it can be RCVD, PATC",
        False,
    ),
    WrongFile(
        "rules:\n  - when: {kind: consent}\n    then: [{on: PATC, move: CANC}]", 3, 17,
        "no initiation that fits can be PATC", "a consent has no statuses", False,
    ),
    WrongFile(RULE + "timings: {page_size: 5s}", 3, 15, "an unknown key 'page_size'", "known: technical_checks"),
    WrongFile(RULE + "timings: [5s]", 3, 14, "a mapping of timings is expected", "with technical_checks"),
    WrongFile(RULE + "psu: {customer: alice}", 3, 10, "one of approves, refuses, never or wrong_code is missing"),
    WrongFile(RULE + "psu: {approves: false}", 3, 21, "true is expected", "or take the line away"),
    WrongFile(
        RULE + "psu: {approves: true, refuses: true}", 3, 36, "only one of approves and refuses can hold", None, False
    ),
    WrongFile(
        RULE + "psu: {never: true, after: 2s}", 3, 31, "`never` excludes all other acts of the customer", None, False
    ),
    WrongFile(
        RULE + "psu: {approves: true, account: alice, accounts: [alice]}", 3, 53,
        "only one of account and accounts can hold", "accounts belong to a consent", False,
    ),
    WrongFile(
        RULE + "psu: {refuses: true, second: {customer: griet, approves: true}}", 3, 34,
        "a second signature needs a first", "say approves: true", False,
    ),
    WrongFile(RULE + "psu: {approves: true, second: {approves: true}}", 3, 35, "'customer' is missing"),
    WrongFile(PAYMENT + "validation: [{refuse: true, code: FF01}]", 3, 17, "only a bulk file is validated",
              "say kind: bulk", False),
    WrongFile(RULE + "validation: [{bulk: 1}]", 3, 18, "'code' is missing"),
    WrongFile(RULE + "validation: [{code: FF01}]", 3, 18, "one of bulk or refuse is missing"),
    WrongFile(RULE + "refuse: FUNDS_MISING", 3, 13, "'FUNDS_MISING' is no error", "did you mean 'FUNDS_MISSING'?"),
    WrongFile(
        RULE + "refuse: INVALID_INPUT", 3, 13, "'INVALID_INPUT' is the token of several errors",
        "say which: HEADER_INVALID, INPUT_INVALID", False,
    ),
    WrongFile(RULE + "refuse: MOVE_ILLEGAL", 3, 13, "'MOVE_ILLEGAL' is no error of the bank"),
    WrongFile(PAYMENT + "refuse: CONFLICT", 3, 13, "payment_initiation never answers 409", None, False),
    WrongFile(
        PAYMENT + "refuse: FORBIDDEN\n    timings: {code_life: 1s}", 4, 14, "a refused initiation ends there",
        "take one of the two away", False,
    ),
)  # fmt: skip

FAULTS = (
    WrongFile("faults: [5]", 1, 10, "a fault is expected", "with title, when, answer"),
    WrongFile(
        FAULT + "when: {nth: 1}", 2, 5, "one of answer, delay, cut, change, callback or connection is missing"
    ),
    WrongFile(
        FAULT + "when: {operation: payment_state}", 2, 23, "'payment_state' is no operation",
        "did you mean 'payment_status'?",
    ),
    WrongFile(FAULT + "{when: {chance: 1.5}, delay: 1s}", 2, 21, "a number from 0 to 1 is expected"),
    WrongFile(FAULT + "{when: {nth: 0}, delay: 1s}", 2, 18, "a number from 1 to"),
    WrongFile(FAULT + "answer: {retry_after: 5}", 2, 13, "'status' is missing"),
    WrongFile(FAULT + "answer: {status: 501}", 2, 22, "not every operation may answer 501", None, False),
    WrongFile(
        FAULT + "answer: {status: 502, content_type: html}", 2, 41, "'html' has the wrong form", "like text/html",
    ),
    WrongFile(FAULT + "answer: {status: 502, content: x}", 2, 27, "an unknown key 'content'", "did you mean"),
    WrongFile(FAULT + "answer: {status: 20}", 2, 22, "a number from 100 to 599 is expected"),
    WrongFile(
        FAULT + "{when: {operation: token}, answer: {status: 409}}", 2, 49, "token never answers 409",
        "its statuses are 400, 401, 403", False,
    ),
    WrongFile(
        FAULT + "answer: {status: 408}", 2, 22, "not every operation may answer 408",
        "name an operation: payment_details, payment_status", False,
    ),
    WrongFile(FAULT + "delay: 601s", 2, 12, "a delay is at most 600 s", None, False),
    WrongFile(FAULT + "cut: after", 2, 10, "'after' is no place to cut", "known: before, within or reset"),
    WrongFile(
        FAULT + "{cut: before, answer: {status: 503}}", 2, 11, "a reply cut off before it begins has no content",
        "take one of the two away", False,
    ),
    WrongFile(FAULT + "change: key_oder", 2, 13, "'key_oder' is no change", "did you mean 'key_order'?"),
    WrongFile(
        FAULT + "{when: {from: 2027-03-02, until: 2027-03-02}, delay: 1s}", 2, 38, "'until' must lie after 'from'",
        None, False,
    ),
)  # fmt: skip

STEPS = (
    WrongFile("steps: [5]", 1, 9, "a step is a word with what it takes", "like pay: {amount: ...}"),
    WrongFile("steps: [pay]", 1, 9, "a step is a word with what it takes", "like pay: {amount: ...}"),
    WrongFile("steps:\n  - pey: {}", 2, 5, "no step is called 'pey'", "did you mean 'pay'?"),
    WrongFile("steps:\n  - as: rent", 2, 5, "this step does nothing", "the words are pay, order"),
    WrongFile("steps:\n  - pay: {}\n    expect: {}", 3, 5, "pay and expect are two", "give each a dash of its own"),
    WrongFile("steps:\n  - pay: {ammount: 5}", 2, 11, "pay knows no 'ammount'", "did you mean 'amount'?"),
    WrongFile("steps:\n  - pay: 5", 2, 10, "pay takes a mapping", "with product"),
    WrongFile("steps:\n  - withdraw: {customer: {a: 1}}", 2, 26, "a text is expected"),
    WrongFile("steps:\n  - pay: {}\n    as: 'my rent'", 3, 9, "'my rent' has the wrong form", "like rent"),
)

EVERY = (*NOT_YAML, *TOP, *BANK, *SETTINGS, *RULES, *FAULTS, *STEPS)
