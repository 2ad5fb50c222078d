"""Sample bulk files. Their dates are filled in when a sample is used, because fixed dates would soon be in the past."""

import re
from datetime import date, timedelta

from sandbox.banking.countries import read_fixture
from sandbox.bulkfiles.checks import find_reference_fault

# What each sample shows. Their debtor accounts belong to the customer `bakkerij`.
SAMPLES = {
    "three-bulks.pain.001.001.03.xml": "holds: three bulks of two accounts, today and tomorrow",
    "three-bulks.pain.001.001.09.xml": "holds: the same in the newer version",
    "three-bulks.csv": "holds: the same as csv, with quoted cells",
    "spreadsheet.csv": "holds: as a spreadsheet writes it, with `;`, a BOM and CRLF",
    "one-bad-bulk.pain.001.001.03.xml": "one bulk holds; the other has an IBAN, an amount, a currency and a repetition",
    "one-bad-bulk.csv": "one bulk holds; the other has a formula, an IBAN, an amount, a currency and a repetition",
    "bad-dates.pain.001.001.09.xml": "refused: one bulk yesterday, one more than 365 days ahead",
    "bad-schema.pain.001.001.09.xml": "refused: values that the schema does not take",
    "bad-rulebook.pain.001.001.09.xml": "refused: charges, service level, characters, slashes and bank against SEPA",
    "bad-sums.pain.001.001.03.xml": "refused: neither the number nor the sum is right, at both levels",
    "bad-columns.csv": "refused: a cell with `;` that is not quoted",
    "bad-header.csv": "refused: the header row has another name",
}
DAYS = {"{today}": 0, "{tomorrow}": 1, "{yesterday}": -1, "{far}": 366}
MESSAGE_ID = re.compile(rb"<MsgId>[^<]*</MsgId>")


def fill_sample(name: str, today: date, message_id: str | None = None) -> bytes:
    """Returns a sample file whose dates are counted from the bank's `today`. If `message_id` is given, it replaces the
    MsgId of the sample. Raises ValueError if it is invalid, or if the sample is a csv, which has no MsgId."""
    content = read_fixture(f"bulk/{name}")
    if message_id is not None:
        if (fault := find_reference_fault(message_id)) is not None:
            raise ValueError(f"the MsgId is not taken: {fault}")
        if not MESSAGE_ID.search(content):
            raise ValueError("a csv has no MsgId")
        content = MESSAGE_ID.sub(f"<MsgId>{message_id}</MsgId>".encode(), content)
    for word, days in DAYS.items():
        content = content.replace(word.encode(), (today + timedelta(days)).isoformat().encode())
    return content
