"""The house holds its own rules, and each rule was seen to refuse a broken house."""

from pathlib import Path

import pytest

from tests.house import (
    CHECKS,
    FUNCTION_LINES_MAX,
    Check,
    House,
    chance_stays_outside,
    every_room_has_a_place,
    extensions_do_not_know_each_other,
    functions_stay_small,
    imports_point_inward,
    imports_point_inward_inside_a_room,
    modules_form_no_circle,
    names_are_no_riddles,
    no_two_classes_share_a_name,
    one_function_writes_a_status,
    only_the_machine_tells_time,
    packages_left_behind,
    read_house,
    reads_go_by_the_doors,
    rooms_form_no_circle,
    the_machine_is_known_at_the_top_only,
    the_web_stays_outside,
    what_decides_reads_decisions,
)

ROOT = Path(__file__).parents[1]

# The house against the rules


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_holds(check: Check) -> None:
    assert check(read_house(ROOT / "sandbox")) == []


def test_the_house_that_is_checked_is_the_real_one() -> None:
    found = set(read_house(ROOT / "sandbox"))
    assert {"sandbox.__init__", "sandbox.banking.__init__", "sandbox.bank.__init__"} <= found


def test_every_room_travels_in_the_wheel() -> None:
    assert packages_left_behind((ROOT / "setup.cfg").read_text(), read_house(ROOT / "sandbox")) == set()


def test_a_room_that_setup_does_not_list_is_left_behind() -> None:
    house = {"sandbox.__init__": "", "sandbox.bank.__init__": "", "sandbox.bank.clock": ""}
    assert packages_left_behind("[options]\npackages =\n    sandbox\n", house) == {"sandbox.bank"}


# The rules against tiny houses


def function(lines: int) -> str:
    return "def f():\n" + "    pass\n" * (lines - 1)


BROKEN: tuple[tuple[Check, House], ...] = (
    (every_room_has_a_place, {"sandbox.attic": ""}),
    (imports_point_inward, {"sandbox.bank.state": "import sandbox.web.api.app", "sandbox.web.api.app": ""}),
    (imports_point_inward, {"sandbox.contract.errors": "import sandbox.banking.money", "sandbox.banking.money": ""}),
    (imports_point_inward, {"sandbox.banking.iban": "from ..bank.state import x", "sandbox.bank.state": ""}),
    (imports_point_inward, {"sandbox.worlds.world": "from sandbox.web import api", "sandbox.web.api.__init__": ""}),
    (imports_point_inward, {"sandbox.worlds.world": "from sandbox import World", "sandbox.__init__": ""}),
    (
        imports_point_inward,
        {"sandbox.people": "def f():\n    from sandbox.cli import main", "sandbox.cli": "def main(): pass"},
    ),
    (imports_point_inward, {"sandbox.worlds.world": "load('sandbox.web.api.app:route')", "sandbox.web.api.app": ""}),
    (
        imports_point_inward_inside_a_room,
        {"sandbox.bank.records": "from sandbox.bank import state", "sandbox.bank.state": ""},
    ),
    (
        imports_point_inward_inside_a_room,
        {"sandbox.web.api.gate": "from .initiations import status", "sandbox.web.api.initiations": ""},
    ),
    (modules_form_no_circle, {"sandbox.storage.a": "from . import b", "sandbox.storage.b": "from .a import x"}),
    (
        rooms_form_no_circle,
        {
            "sandbox.storage.a": "import sandbox.people",
            "sandbox.storage.b": "",
            "sandbox.people": "from sandbox.storage import b",
        },
    ),
    (the_web_stays_outside, {"sandbox.bank.state": "from flask import request"}),
    (the_web_stays_outside, {"sandbox.worlds.world": "import werkzeug.exceptions"}),
    (the_web_stays_outside, {"sandbox.contract.decisions": "import marshmallow"}),
    (chance_stays_outside, {"sandbox.bank.mint": "import random"}),
    (chance_stays_outside, {"sandbox.bank.mint": "def f():\n    from uuid import uuid4"}),
    (chance_stays_outside, {"sandbox.bulkfiles.report": "import secrets"}),
    (chance_stays_outside, {"sandbox.banking.money": "import time"}),
    (
        the_machine_is_known_at_the_top_only,
        {"sandbox.worlds.world": "from sandbox.machine import now", "sandbox.machine": ""},
    ),
    (only_the_machine_tells_time, {"sandbox.cli": "import time\nf(time.time)"}),
    (only_the_machine_tells_time, {"sandbox.cli": "import time as t\nt.monotonic()"}),
    (only_the_machine_tells_time, {"sandbox.cli": "from time import time_ns"}),
    (only_the_machine_tells_time, {"sandbox.web.api.app": "import time\ntime.time()"}),
    (only_the_machine_tells_time, {"sandbox.web.controls.world_views": "import time\ntime.perf_counter()"}),
    (only_the_machine_tells_time, {"sandbox.people": "from datetime import datetime as d\nd.now()"}),
    (only_the_machine_tells_time, {"sandbox.people": "import datetime\ndatetime.datetime.utcnow()"}),
    (only_the_machine_tells_time, {"sandbox.bank.state": "from datetime import date\ndate.today()"}),
    (
        no_two_classes_share_a_name,
        {"sandbox.cli": "class Order: pass", "sandbox.app": "def f():\n    class Order: pass"},
    ),
    (functions_stay_small, {"sandbox.cli": function(FUNCTION_LINES_MAX + 1)}),
    (functions_stay_small, {"sandbox.cli": "async " + function(FUNCTION_LINES_MAX + 1)}),
    (
        extensions_do_not_know_each_other,
        {
            "sandbox.extensions.lift.lifting": "from sandbox.extensions.referee.rule import Rule",
            "sandbox.extensions.referee.rule": "",
        },
    ),
    (imports_point_inward, {"sandbox.app": "import sandbox.extensions.shop.app", "sandbox.extensions.shop.app": ""}),
    (imports_point_inward, {"sandbox.cli": "X = 'sandbox.extensions.film.page:f'", "sandbox.extensions.film.page": ""}),
    (reads_go_by_the_doors, {"sandbox.web.api.gate": "def f(call):\n    return call.world.bank.clients"}),
    (reads_go_by_the_doors, {"sandbox.web.docs.app": "bank = here(worlds).bank"}),
    (reads_go_by_the_doors, {"sandbox.extensions.referee.stream": "def f(world):\n    Referee(world.in_memory.bank)"}),
    (what_decides_reads_decisions, {"sandbox.bank.fees": "def fee(bank):\n    return bank.settings.fees"}),
    (one_function_writes_a_status, {"sandbox.bank.signing": "def sign(payment):\n    payment.status = Status.ACSC"}),
    (one_function_writes_a_status, {"sandbox.bank.state": "def begin(bank, one):\n    one.status, one.x = 1, 2"}),
    (one_function_writes_a_status, {"sandbox.web.psu.app": "def f(one):\n    setattr(one, 'status', 1)"}),
    (names_are_no_riddles, {"sandbox.told": ""}),
    (names_are_no_riddles, {"sandbox.cli": "def seen_of(bank): pass"}),
    (names_are_no_riddles, {"sandbox.cli": "class Wanted: pass"}),
    (names_are_no_riddles, {"sandbox.cli": "def read(*, last_heard): pass"}),
)

SOUND: House = {
    "sandbox.__init__": "from sandbox.machine import now\nfrom sandbox.web.api.app import create_app",
    "sandbox.cli": "import sandbox\nfrom sandbox import machine, create_app\nimport time\ntime.sleep(1)" + "\n" * 9,
    "sandbox.machine": "import time\nfrom datetime import datetime\ntime.time(), datetime.now()",
    "sandbox.banking.money": "from datetime import time",
    "sandbox.bank.clock": "from datetime import datetime\nclass Clock:\n    now: datetime",
    "sandbox.bank.clients": "def is_known(known_client): pass",
    "sandbox.bank.state": "from .clock import Clock\ndef move(bank, one): one.status = bank.clock.now, bank.today",
    "sandbox.web.api.app": "import time, uuid, flask\nfrom sandbox.bank import state\ntime.perf_counter()",
    "sandbox.web.api.bodies": "import marshmallow\ndef base64url(): pass\n",
    "sandbox.web.api.replies": "from sandbox.web.api.bodies import Order\n" + function(FUNCTION_LINES_MAX),
}


@pytest.mark.parametrize("check, house", BROKEN)
def test_a_broken_house_is_noticed(check: Check, house: House) -> None:
    assert len(check(house)) == 1


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_house_passes(check: Check) -> None:
    assert check(SOUND) == []


def test_every_rule_was_seen_to_refuse() -> None:
    assert {check for check, _ in BROKEN} == set(CHECKS)
