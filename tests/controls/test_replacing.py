"""A world whose name is taken is replaced only where the caller says so (choice 10)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from sandbox.worlds.registry import WorldRegistry
from tests.tpp import Tpp, refused

TAKEN = "SBX-0409-000006"
WAYS = ("make", "fork", "import")


def settle(tpp: Tpp, way: str, name: str, replace: bool | None = None) -> Any:
    """Make a world of that name in one of the three ways."""
    more = {} if replace is None else {"replace": replace}
    if way == "make":
        return tpp.control("PUT", f"/worlds/{name}", **more)
    if way == "fork":
        return tpp.control("POST", "/worlds/default/fork", **{"as": name}, **more)
    query = "" if replace is None else f"&replace={str(replace).lower()}"
    return tpp.http.post(f"/_sandbox/import?as={name}{query}", data=tpp.control("GET", "/export").data)


@pytest.mark.parametrize("replace", [None, False])
@pytest.mark.parametrize("way", WAYS)
def test_a_world_that_exists_stays_and_the_caller_hears_what_to_do(
    tpp: Tpp, app: Flask, way: str, replace: bool | None
) -> None:
    assert tpp.control("PUT", "/worlds/mine").status_code == 201
    payment_id = Tpp(app, "mine").initiated()
    reply = settle(tpp, way, "mine", replace)
    assert refused(reply, 409, TAKEN, "'mine'")
    assert "replace" in reply.get_json()["error_description"]
    assert [row["payment_id"] for row in Tpp(app, "mine").listed("payments")] == [payment_id]


@pytest.mark.parametrize("way", WAYS)
def test_a_world_is_replaced_where_the_caller_says_so(tpp: Tpp, app: Flask, way: str) -> None:
    Tpp(app, "mine").initiated()
    assert settle(tpp, way, "mine", replace=True).status_code == 201
    assert Tpp(app, "mine").listed("payments") == []
    assert settle(tpp, way, "fresh", replace=True).status_code == 201  # nothing to replace is no error


@pytest.mark.parametrize("way", WAYS)
def test_a_world_that_a_call_made_on_demand_is_taken(tpp: Tpp, app: Flask, way: str) -> None:
    assert Tpp(app, "mine").initiate().status_code == 201
    assert refused(settle(tpp, way, "mine"), 409, TAKEN, "mine")


@pytest.mark.parametrize("way", WAYS)
def test_the_default_world_is_always_taken_until_it_is_dropped(tpp: Tpp, worlds: WorldRegistry, way: str) -> None:
    assert refused(settle(tpp, way, "default"), 409, TAKEN, "default")
    tpp.initiated()
    assert settle(tpp, way, "default", replace=True).status_code == 201
    assert len(tpp.listed("payments")) == (0 if way == "make" else 1)
    assert tpp.control("DELETE", "/worlds/default").status_code == 204
    assert tpp.control("PUT", "/worlds/default").status_code == 201


def test_an_import_that_names_no_world_replaces_none_of_the_name_in_the_file(tpp: Tpp) -> None:
    content = tpp.control("GET", "/export").data
    tpp.initiated()
    assert refused(tpp.http.post("/_sandbox/import", data=content), 409, TAKEN, "default")
    assert len(tpp.listed("payments")) == 1
    assert tpp.http.post("/_sandbox/import?replace=true", data=content).status_code == 201
    assert tpp.listed("payments") == []


def test_an_import_at_the_address_of_a_world_that_does_not_exist_makes_it(tpp: Tpp) -> None:
    content = tpp.control("GET", "/export").data
    for status in (201, 409):
        assert tpp.http.post("/worlds/new/_sandbox/import", data=content).status_code == status


@pytest.mark.parametrize("wrong", ["true", 1, None])
def test_replace_is_true_or_false(tpp: Tpp, wrong: Any) -> None:
    assert refused(tpp.control("PUT", "/worlds/default", replace=wrong), 400, "SBX-0400-000001", "replace")
    fork = tpp.control("POST", "/worlds/default/fork", **{"as": "default", "replace": wrong})
    assert refused(fork, 400, "SBX-0400-000001", "replace")
    reply = tpp.http.post("/_sandbox/import?replace=yes", data=tpp.control("GET", "/export").data)
    assert refused(reply, 400, "SBX-0400-000001", "replace")


@pytest.mark.parametrize("way", WAYS)
def test_of_those_who_take_a_name_at_once_one_has_it(app: Flask, way: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda number: settle(Tpp(app), way, "mine").status_code, range(6)))
    assert sorted(found) == [201] + [409] * 5
