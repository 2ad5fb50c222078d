"""Who can foretell ids, codes and tokens: anyone who gave the seed, and nobody who saw one of them (choice 10, 12)."""

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sandbox.app import assemble
from sandbox.bank.mint import Mint
from sandbox.banking.durations import read_instant
from sandbox.commands.options import Seed, read_seed
from sandbox.commands.serve import describe_seed, make_server_beginning
from sandbox.commands.serve_options import AccessOptions
from sandbox.storage.state_hash import hash_state
from sandbox.storage.store import open_store
from sandbox.worlds.beginning import compute_secret, compute_seed
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.exports import sealed
from tests.test_cli import ended, get, serving
from tests.tpp import Tpp

SECRET = "00112233445566778899aabbccddeeff"
HEXADECIMAL = re.compile(r"[0-9a-f]{32}")


def started(
    seed: str | None, guarded: bool = False, scenario: str = "default", path: Path | None = None
) -> WorldRegistry:
    """A server's worlds as `serve` makes them with this --seed; `guarded`: on a network without one."""
    given = None if seed is None else read_seed(seed)
    beginning = make_server_beginning(scenario, given, read_instant(MORNING), True, guarded)
    return WorldRegistry(beginning, lambda: 0.0, None if path is None else open_store(path), guarded=guarded)


def led(worlds: WorldRegistry, name: str = "default") -> list[str]:
    """What a world gives out on the way to a balance: an id, an address, a token, a consent, a code."""
    tpp = Tpp(assemble(worlds), name)
    paid = tpp.initiate()
    token = tpp.token_for("alice")
    bank = worlds.get(name).bank
    return [paid.get_json()["payment_id"], paid.headers["Location"], str(token), *bank.codes, *bank.access_tokens]


# The mint


def test_a_seed_alone_gives_the_ids_and_secrets_that_it_always_gave() -> None:
    mint = Mint(7)
    assert mint.draw_id() == "ca8118dd-67a6-4fa6-83b0-d0f5ebe24756"
    assert mint.draw_secret() == "dMsAEE5-VyaOFf5_qk4q2ojVt-aQd5-teR4YUmXNk5M"
    assert mint.draw_digits(6) == "576118"


def test_with_a_secret_the_seed_alone_gives_none_of_them() -> None:
    plain, keyed, other = Mint(7), Mint(7, secret=SECRET), Mint(7, secret=SECRET[::-1])
    for draw in (Mint.draw_id, Mint.draw_secret, lambda mint: mint.derive_key("pages")):
        assert len({draw(plain), draw(keyed), draw(other)}) == 3
    assert Mint(7, secret=SECRET).draw_id() == Mint(7, secret=SECRET).draw_id()


def test_a_world_s_secret_is_its_own_and_of_the_same_length() -> None:
    secrets = {SECRET, *(compute_secret(SECRET, name) for name in ("default", "a", "b"))}
    assert len(secrets) == 4
    assert all(HEXADECIMAL.fullmatch(secret) for secret in secrets)
    assert compute_secret("", "a") == ""


# The server


def test_a_seed_that_is_given_foretells_every_byte() -> None:
    assert led(started("7")) == led(started("7"))
    assert led(started("7"), "mine") == led(started("7"), "mine")
    assert led(started("7"))[0] == Mint(7).draw_id()


def test_a_seed_that_is_drawn_foretells_nothing_but_begins_again_when_it_is_given_whole() -> None:
    drawn = started(None)
    shown = describe_seed(drawn)
    assert re.fullmatch(r"[0-9]{1,7}-[0-9a-f]{32}", shown)
    first = led(drawn)
    number = drawn.beginning.seed
    assert first[0] not in {Mint(seed).draw_id() for seed in (number, compute_seed(number, "default"))}
    assert not set(first) & set(led(started(str(number))))
    assert first == led(started(shown))
    assert led(drawn, "mine") == led(started(shown), "mine")
    assert led(started(None))[0] != first[0]


def test_whoever_has_one_of_two_worlds_has_not_the_other() -> None:
    worlds = started(None)
    tpp = Tpp(assemble(worlds))
    led(worlds), led(worlds, "mine")
    server, other = worlds.beginning.secret, worlds.get("mine").beginning.secret
    for query in ("", "?secrets=strip"):
        content = tpp.http.get(f"/_sandbox/export{query}").text
        assert worlds.get("default").beginning.secret in content
        assert server not in content
        assert other not in content
    assert not HEXADECIMAL.search(tpp.control("GET", "/worlds").text)


def test_people_and_their_past_follow_from_the_number_alone() -> None:
    drawn = started(None)
    same = started(str(drawn.beginning.seed))
    for name in ("default", "mine"):
        mine, theirs = (Tpp(assemble(worlds), name) for worlds in (drawn, same))
        assert mine.listed("accounts") == theirs.listed("accounts")


def test_the_seed_of_every_world_is_a_number_that_javascript_holds() -> None:
    worlds = started(None)
    for name in ("default", "mine", "yours"):
        shown: Any = Tpp(assemble(worlds)).control("PUT", f"/worlds/{name}", replace=True).json
        assert 0 <= shown["seed"] < 2**53


SEEDED = {"scenario": "Seeded", "seed": 5}


@pytest.mark.parametrize("body", [{"seed": 5}, {"scenario": SEEDED}])
@pytest.mark.parametrize("guarded", [False, True])
def test_a_seed_that_a_control_gives_foretells_unless_the_server_is_on_a_network(
    body: dict[str, Any], guarded: bool
) -> None:
    ids = []
    for worlds in (started(None, guarded), started(None, guarded)):
        tpp = Tpp(assemble(worlds))
        assert tpp.control("PUT", "/worlds/mine", **body).get_json()["seed"] == 5
        ids.append(Tpp(assemble(worlds), "mine").initiate().get_json()["payment_id"])
    assert (ids == [Mint(5).draw_id()] * 2, len(set(ids)) == 2) == (not guarded, guarded)


@pytest.mark.parametrize("guarded", [False, True])
def test_so_does_the_seed_of_a_scenario(guarded: bool, tmp_path: Path) -> None:
    file = tmp_path / "seeded.yaml"
    file.write_text("scenario: Seeded\nseed: 5\n")
    at_start = Tpp(assemble(started(None, guarded, str(file))))
    loaded = Tpp(assemble(started(None, guarded)))
    assert loaded.control("PUT", "/scenario", scenario=SEEDED).status_code == 200
    foretold = Mint(5).draw_id()
    assert [tpp.initiate().get_json()["payment_id"] == foretold for tpp in (at_start, loaded)] == [not guarded] * 2


UNSAID = dict.fromkeys(row.name for row in fields(AccessOptions))


@pytest.mark.parametrize(
    "host, controls, controls_port, controls_host, expected",
    [
        ("127.0.0.1", "on", None, "127.0.0.1", False),
        ("localhost", "on", 8081, "::1", False),
        ("127.0.0.1", "on", None, "0.0.0.0", False),  # which no port opens
        ("127.0.0.1", "off", 8081, "0.0.0.0", False),
        ("0.0.0.0", "off", None, "127.0.0.1", True),
        ("127.0.0.1", "on", 8081, "0.0.0.0", True),
    ],
)
def test_a_server_is_on_a_network_when_others_reach_the_bank_or_its_controls(
    host: str, controls: str, controls_port: int | None, controls_host: str, expected: bool
) -> None:
    given: dict[str, Any] = UNSAID | {"host": host, "controls": controls}
    given |= {"controls_port": controls_port, "controls_host": controls_host}
    assert AccessOptions(**given).is_on_a_network is expected


def test_on_a_network_the_secret_is_shown_to_nobody() -> None:
    with serving("--port", "0", "--host", "0.0.0.0", "--open", greets="listening on http://127.0.0.1:") as (
        server,
        port,
    ):
        seed = get(port, "/_sandbox/worlds/default")["seed"]
        _, err = ended(server)
    assert f"Seed {seed} and a secret that is not shown;" in err
    assert not HEXADECIMAL.search(err)


def test_a_seed_that_is_given_to_a_server_on_a_network_foretells() -> None:
    words = ("--port", "0", "--host", "0.0.0.0", "--open", "--seed", "7")
    with serving(*words, greets="listening on http://127.0.0.1:") as (server, _):
        _, err = ended(server)
    assert "Seed 7;" in err


# What is kept, and what travels


def test_a_world_with_a_secret_goes_on_as_if_it_had_never_been_away(tmp_path: Path) -> None:
    path, seed = tmp_path / "bank.state", f"7-{SECRET}"
    kept, twin = started(seed, path=path), started(seed)
    assert led(kept) == led(twin)
    left = kept.get("default").ask(hash_state)
    assert kept.store is not None
    kept.store.close()
    assert SECRET.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    again = started(None, path=path)
    assert describe_seed(again) == "7 of the state file"
    assert again.get("default").ask(hash_state) == left
    assert led(again) == led(twin)
    assert again.store is not None
    again.store.close()


@pytest.mark.parametrize("query", ["", "?secrets=strip"])
def test_a_world_with_a_secret_travels_and_draws_what_it_would_have_drawn(query: str) -> None:
    home = started(f"7-{SECRET}")
    led(home)
    content = Tpp(assemble(home)).http.get(f"/_sandbox/export{query}").data
    away = started("99")
    reply = Tpp(assemble(away)).http.post("/_sandbox/import?as=there", data=content)
    assert reply.status_code == 201, reply.text
    paid = [Tpp(assemble(home)).initiate(), Tpp(assemble(away), "there").initiate()]
    assert paid[0].get_json()["payment_id"] == paid[1].get_json()["payment_id"]


def imported_with(change: Callable[[dict[str, Any]], object]) -> TestResponse:
    """The reply to an export whose first line was changed."""
    home = started(f"7-{SECRET}")
    led(home)
    tpp = Tpp(assemble(home))
    head, _, rest = tpp.http.get("/_sandbox/export").data.partition(b"\n")
    line = json.loads(head)
    assert line["secret"] == compute_secret(SECRET, "default")
    change(line)
    return tpp.http.post("/_sandbox/import?as=there", data=sealed([json.dumps(line).encode(), *rest.splitlines()]))


def test_an_export_without_its_secret_is_refused() -> None:
    reply = imported_with(lambda line: line.pop("secret"))
    assert reply.status_code == 400 and "line 1: something is missing" in reply.text


def test_an_export_with_another_secret_is_refused() -> None:
    reply = imported_with(lambda line: line.update(secret=""))
    assert reply.status_code == 400 and "was taken once and is refused now" in reply.text


def test_a_secret_is_in_no_text_of_a_beginning() -> None:
    assert SECRET not in repr(started(f"7-{SECRET}").beginning)
    assert str(Seed(7, SECRET)) == f"7-{SECRET}"
    assert str(Seed(7)) == "7"
