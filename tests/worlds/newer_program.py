"""Run by test_newer_programs in a copy of the package that knows one field and one parameter more: pays with both."""

import sys
from pathlib import Path
from typing import Any

import sandbox
from tests.tpp import SCT
from tests.worlds.tenancy import Server

MINE = "AMMA"
NEW_FIELD = "project_code"


def main() -> None:
    assert "newer_program" in sandbox.__file__
    from sandbox.bank import payments
    from sandbox.bank.initiations import RequestKey
    from sandbox.bank.records import Creditor, Origin, PaymentRequest
    from sandbox.banking.money import Money

    server = Server(Path(sys.argv[1]))
    world = server.worlds.get("default")
    [act] = world.log
    order, _, _, channel = act.arguments
    assert (getattr(order, NEW_FIELD), channel) == (None, "api") and order.unstructured == "stored before"
    more: Any = {NEW_FIELD: MINE} if "field" in sys.argv else {}
    order = PaymentRequest(
        product=SCT,
        amount=Money.read("1.00", "EUR"),
        creditor=Creditor("BE68539007547034"),
        creditor_name="Jan",
        endtoend_identification="NEW",
        **more,
    )
    origin, key = Origin("demo-tpp", "http://127.0.0.1/"), RequestKey("demo-tpp", "x", b"")
    initiate: Any = payments.initiate
    world.act(initiate, order, origin, key, "branch" if "argument" in sys.argv else "api")
    server.store.close()
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
