"""What callers leave behind is bounded in bytes, in each call, each world and the whole server; money never goes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from sandbox.bank.bounded_registers import WEIGHED_EVERY, forget_first, forget_oldest
from sandbox.contract.decisions import Decisions
from sandbox.extensions.referee.stream import find_referee
from sandbox.storage.memory_log import MemoryLog
from sandbox.storage.state_hash import hash_state
from sandbox.web.api import call_records, headers
from sandbox.web.api.call_records import find_content
from sandbox.worlds.calls import NAME_MAX, PATH_MAX, Recent
from sandbox.worlds.registry import MemoryBound, Room, WorldRegistry
from sandbox.worlds.snapshot import replay
from sandbox.worlds.world import World
from tests.spec import files
from tests.stories import explained
from tests.threads import wait_for_threads
from tests.tpp import CALLBACK, SCT, Tpp, refused, version

LONG = "a" * 60_000
CUT = "60,000 characters"


@pytest.fixture
def world(worlds: WorldRegistry) -> World:
    return worlds.get("default")


# Of one call


def test_a_long_client_and_a_long_path_are_kept_cut_and_say_so(tpp: Tpp, world: World) -> None:
    tpp.call("GET", "/accounts", client_id=LONG)
    tpp.call("GET", f"/{LONG}")
    client, path = list(world.calls.list_all())[-2:]
    assert client.client_id is not None and len(client.client_id) < NAME_MAX + 50 and CUT in client.client_id
    assert len(path.path) < PATH_MAX + 50 and "60,001 characters" in path.path
    row = tpp.control("GET", f"/explain/{path.request_id}").get_json()
    assert row["path"].startswith("/aaa") and "cut" in row["path"]
    assert world.calls.recent.weight < 5_000


def test_a_call_of_usual_length_is_kept_whole(tpp: Tpp, world: World) -> None:
    path = f"/{'b' * (PATH_MAX - 1)}"
    tpp.call("GET", path)
    assert world.calls.list_all()[-1].path == path
    tpp.call("GET", "/accounts", client_id="c" * NAME_MAX)
    assert world.calls.list_all()[-1].client_id == "c" * NAME_MAX


@pytest.mark.parametrize(
    "path, headers, told",
    [
        ("/accounts", {"x_long": LONG}, "headers, the last one cut"),
        ("/accounts", {f"x_{number}": "a" for number in range(4_000)}, "headers, the last one cut"),
        (f"/accounts?x={LONG}", {}, "of 60,002 characters of the query"),
    ],
)
def test_headers_and_query_are_kept_cut_and_the_console_says_so(
    tpp: Tpp, world: World, path: str, headers: dict[str, str], told: str
) -> None:
    tpp.call("GET", path, **headers)
    content = find_content(world, world.calls.list_all()[-1].seq)
    assert content is not None and told in content.cut
    assert content.weight < 2_000 + 3 * call_records.HEADERS_MAX + call_records.QUERY_MAX
    page = tpp.http.get(f"/_sandbox/console/calls/{world.calls.list_all()[-1].seq}")
    assert page.status_code == 200 and told in page.text


def test_usual_headers_are_kept_whole(tpp: Tpp, world: World) -> None:
    tpp.call("GET", "/accounts", x_usual="a" * 2_000)
    content = find_content(world, world.calls.list_all()[-1].seq)
    assert content is not None and (content.headers["HTTP_X_USUAL"], content.cut) == ("a" * 2_000, "")


@pytest.mark.parametrize(
    "path, headers",
    [
        ("/accounts", {"client_id": LONG}),
        ("/accounts", {"accept_language": f"fr, {LONG}"}),
        (f"/payments/{SCT}/x/status?paymentIdType={LONG}", {}),
        (f"/payments/{LONG}/x/status", {}),
        (f"/accounts/{LONG}", {}),
        (f"/accounts/{LONG}/transactions?next={LONG}", {}),
    ],
)
def test_the_referee_remembers_no_long_text(tpp: Tpp, world: World, path: str, headers: dict[str, str]) -> None:
    for number in range(30):
        tpp.call("GET", path.replace("aaa", f"{number:03d}", 1), **headers)
    assert len(find_referee(world).pack()) < 200_000


def test_answers_about_long_headers_are_not_kept() -> None:
    before = headers._cached_languages.cache_info().currsize
    for number in range(20):
        assert headers.read_languages(f"fr, {number}{LONG}") == ("fr",)
    assert headers._cached_languages.cache_info().currsize == before
    assert headers.read_languages("nl;q=0.5, fr") == ("fr", "nl")
    assert headers.read_languages("nl;q=0.5, fr") == headers._parse_languages("nl;q=0.5, fr")


# Of one input


def test_a_redirect_uri_of_two_thousand_characters_is_the_longest(tpp: Tpp) -> None:
    longest = f"{CALLBACK}/".ljust(2_000, "a")
    assert tpp.initiate(redirect_uri=longest).status_code == 201
    assert refused(tpp.initiate(redirect_uri=f"{longest}a"), 400, "GEN-1202-100001", "Redirect-URI")


def test_a_state_of_four_thousand_characters_is_the_longest(tpp: Tpp, world: World) -> None:
    path = urlsplit(tpp.initiate().headers["Location"]).path
    assert tpp.http.get(f"{path}?state={'s' * 4_001}", headers={"Accept-Language": "fr"}).status_code == 400
    assert world.bank.sessions == {}
    assert tpp.http.get(f"{path}?state={'s' * 4_000}", headers={"Accept-Language": "fr"}).status_code == 200
    assert len(world.bank.sessions) == 1


# Of registers


def test_texts_of_callers_are_weighed_now_and_then_and_the_oldest_go() -> None:
    decisions = Decisions(remembered_max=10_000, remembered_bytes_max=100_000)
    register = dict.fromkeys(range(WEIGHED_EVERY - 1), "x" * 1000)
    assert forget_oldest(register, decisions, len) == []
    register[-1] = "x" * 1_000
    gone = forget_oldest(register, decisions, len)
    assert gone == list(range(WEIGHED_EVERY - 90)) and len(register) == 90
    kept = ["x" * 1_000] * WEIGHED_EVERY
    forget_first(kept, replace(decisions, remembered_bytes_max=1_000_000), len)
    assert len(kept) == WEIGHED_EVERY
    forget_first(kept, decisions, len)
    assert len(kept) == 90


def test_sessions_with_long_states_are_bounded_in_bytes(worlds: WorldRegistry, app: Flask) -> None:
    settings = replace(worlds.beginning.settings, remembered_bytes_max=100_000)
    world = worlds.make("default", replace(worlds.beginning, settings=settings), replacing=True)
    tpp = Tpp(app)
    path = urlsplit(tpp.initiate().headers["Location"]).path
    token = path.rpartition("/")[2]
    from sandbox.bank import signing_sessions

    for number in range(WEIGHED_EVERY):
        world.act(signing_sessions.enter, token, f"{number}".ljust(4_000, "s"))
    assert 1 <= len(world.bank.sessions) <= 25
    assert world.bank.payments  # what is money stays


# Of a world


class Thing:
    def __init__(self, weight: int) -> None:
        self.weight = weight


def test_recent_things_are_bounded_in_number_and_in_bytes_and_the_newest_stays() -> None:
    kept: Recent[Any] = Recent()
    for _ in range(20):
        kept.add([Thing(10)], 15, 100)
    assert (len(kept), kept.weight) == (10, 100)
    kept.add([Thing(500)], 15, 100)
    assert (len(kept), kept.weight) == (1, 500)
    kept.forget(5)
    assert (len(kept), kept.weight) == (0, 0)
    for _ in range(20):
        kept.add([Thing(1)], 15, 100)
    assert (len(kept), kept.weight) == (15, 15)


def test_the_calls_of_a_world_are_bounded_in_bytes_by_a_setting(tpp: Tpp, world: World) -> None:
    tpp.control("PATCH", "/settings", calls_bytes_max=50_000)
    payment_id = tpp.initiated()
    for _ in range(60):
        tpp.call("GET", f"/{LONG}")
    assert len(world.calls.list_all()) < 40
    assert world.calls.recent.weight <= 50_000 and world.calls.attachments["contents"].weight <= 50_000
    assert tpp.status(payment_id).status_code == 200


def noise(size: int, number: int = 1) -> bytes:
    from random import Random

    return Random(number).randbytes(size).translate(bytes(32 + byte % 95 for byte in range(256)))


def test_files_that_wait_are_bounded_in_bytes_and_the_refusal_says_when_to_come_back(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", files_waiting_max=80_000)
    first = files.sent(tpp, noise(60_000), "csv")
    tpp.advance("30s")
    reply = files.send(tpp, noise(60_000, 2), "csv")
    assert refused(reply, 429, "SBX-0429-000001", "1 files wait")
    assert reply.headers["Retry-After"] == "90"
    assert files.send(tpp, noise(1_000, 3), "csv").status_code == 201
    tpp.advance("90s")
    assert files.send(tpp, noise(60_000, 2), "csv").status_code == 201
    assert files.status(tpp, first, "csv")["status"] == "RJCT"


def test_one_file_always_waits_however_large(tpp: Tpp) -> None:
    tpp.control("PATCH", "/settings", files_waiting_max=1)
    files.sent(tpp, noise(60_000), "csv")


def test_a_cancelled_file_waits_no_more(tpp: Tpp, world: World) -> None:
    tpp.control("PATCH", "/settings", files_waiting_max=1)
    first = files.sent(tpp, noise(60_000), "csv")
    assert files.send(tpp, noise(10, 2), "csv").status_code == 429
    assert tpp.call("DELETE", f"/bulk-payments/csv/{first}", accept=version(2)).status_code == 204
    assert world.bank.bulks[first].packed == b"" and world.bank.files_waiting == {}
    files.sent(tpp, noise(10, 2), "csv")


# Of the server


@pytest.fixture
def tenants(worlds: WorldRegistry, app: Flask) -> Callable[[str], Tpp]:
    worlds.history.most = 320_000
    return lambda name: Tpp(app, name)


def test_the_calls_of_the_world_that_nobody_called_for_longest_go_first(
    worlds: WorldRegistry, tenants: Callable[[str], Tpp]
) -> None:
    first, second = tenants("first"), tenants("second")
    payment_id = first.initiated()
    for tpp in (first, second):
        for _ in range(20):
            tpp.call("GET", f"/{LONG}")
    held = worlds.get("first"), worlds.get("second")
    before = [len(world.calls.list_all()) for world in held]
    worlds.history.most = sum(world.weight for world in held) - 10_000
    held[0].used, held[1].used = 1.0, 2.0
    worlds.history.shed()
    after = [len(world.calls.list_all()) for world in held]
    assert after[0] < before[0] and after[1] == before[1]
    worlds.history.most = 1_000
    worlds.history.shed()
    assert [len(world.calls.list_all()) for world in held] == [0, 0]
    assert first.status(payment_id).status_code == 200


def test_a_busy_world_is_passed_over(worlds: WorldRegistry, tenants: Callable[[str], Tpp]) -> None:
    from threading import Thread

    tenants("busy").initiated()
    busy = worlds.get("busy")
    with busy.lock:
        went: list[int] = []
        other = Thread(target=lambda: went.append(busy.forget_calls(1)))
        other.start()
        other.join()
    assert went == [0] and len(busy.calls.list_all()) == 1


def test_the_server_weighs_its_worlds_by_itself(worlds: WorldRegistry, tenants: Callable[[str], Tpp]) -> None:
    for number in range(40):
        tenants(f"w{number % 8}").call("GET", f"/{LONG}", x_long=LONG)
    assert sum(world.weight for world in worlds.list_all()) < 2 * worlds.history.most


def test_the_files_of_all_worlds_fill_a_quarter_at_the_most(
    worlds: WorldRegistry, tenants: Callable[[str], Tpp]
) -> None:
    files.sent(tenants("first"), noise(60_000), "csv")
    reply = files.send(tenants("second"), noise(60_000), "csv")
    assert refused(reply, 503, "SBX-0503-000001", "--history-mb")
    assert reply.headers["Retry-After"]
    told = explained(tenants("second"), reply.headers["Response-ID"])
    assert (told["error"], told["clause"]) == ("FILES_FULL", "choice 7")
    assert set(told["decided_by"]) == {"bytes_waiting", "bytes_of_this", "bytes_allowed"}
    files.sent(tenants("second"), noise(20_000), "csv")
    tenants("first").advance("120s")
    files.sent(tenants("second"), noise(60_000, 2), "csv")


def test_a_server_keeps_half_a_gigabyte_unless_it_is_told_otherwise(worlds: WorldRegistry) -> None:
    assert worlds.history.most == Room().history_max == 500_000_000
    assert MemoryBound(10, list).most == 10


# Of acts


def test_acts_are_compacted_by_bytes_as_well_and_the_world_stays_whole(worlds: WorldRegistry, app: Flask) -> None:
    settings = replace(worlds.beginning.settings, acts_bytes_max=100_000)
    world = worlds.make("default", replace(worlds.beginning, settings=settings), replacing=True)
    tpp = Tpp(app)
    sent = []
    for number in range(12):
        sent.append(files.sent(tpp, noise(40_000, number), "csv"))
        tpp.advance("120s")
        wait_for_threads("compaction")
    tpp.initiated()  # the next act finds the last checkpoint written
    assert isinstance(world.log, MemoryLog)
    assert world.log.weight <= 200_000 and len(list(world.log)) < 6
    assert len(world.log) == 13
    again = replay(replace(world.beginning, at=world.opening), world.log, world.bank.clock.now)
    assert hash_state(again) == hash_state(world.bank)
    assert list(again.bulks) == sent


def test_a_server_that_keeps_too_much_compacts_its_heaviest_world(worlds: WorldRegistry, app: Flask) -> None:
    heavy, light = Tpp(app, "heavy"), Tpp(app, "light")
    for number in range(4):
        files.sent(heavy, noise(40_000, number), "csv")
        heavy.advance("120s")
    light.initiated()
    log = worlds.get("heavy").log
    assert isinstance(log, MemoryLog) and log.weight > 100_000
    worlds.history.most = 50_000
    for _ in range(3):
        worlds.history.shed()
        wait_for_threads("compaction")
    assert list(log) == [] and log.weight < 100_000 and len(log) == 4
    assert len(list(worlds.get("light").log)) == 1
