"""The lines of a signing page that show a field as it is: those whose row in contract/fields has a label."""

from collections.abc import Iterator
from datetime import date
from operator import attrgetter

from sandbox.bank.records import Order
from sandbox.bank.standing_order_records import Contract
from sandbox.contract.field_rows import Body, Choice
from sandbox.web.psu.formats import long_date
from sandbox.web.psu.phrases import Line
from sandbox.web.psu.words import say


def field_lines(language: str, body: Body, record: Order | Contract) -> Iterator[Line]:
    """The label and the text of each such field that was given; a choice is shown in the words of the language."""
    for row in body.fields:
        value = attrgetter(row.record)(record) if row.label else None
        if isinstance(value, date):
            yield row.label, long_date(language, value)
        elif value is not None:
            yield row.label, say(language, value) if isinstance(row.kind, Choice) else value
