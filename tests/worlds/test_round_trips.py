"""How often a call asks a shared database. A call that may change a world asks when it enters, and not before."""

from threading import get_ident
from typing import Any

import pytest

from sandbox.storage import postgres_database
from sandbox.storage.database import Row
from tests.tpp import Tpp, refused
from tests.worlds.tenancy import Server

SERVICE, OTHER = (f"application/vnd.{word}.api+json; version=3" for word in ("service", "other"))


@pytest.fixture
def tpps(servers: list[Server]) -> tuple[Tpp, Tpp]:
    """Of two servers, which both have the world in memory."""
    one, two = (server.tpp("w") for server in servers)
    one.initiated(), two.initiated()
    return one, two


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the database is asked by this thread, one item for each round trip: another one writes calls."""
    queries: list[str] = []
    here = get_ident()
    rows = postgres_database._fetch_rows

    def noting(connection: postgres_database._BoundedConnection, query: str, values: Row) -> object:
        if get_ident() == here:
            queries.append(query)
        return rows(connection, query, values)

    monkeypatch.setattr(postgres_database, "_fetch_rows", noting)
    return queries


def test_a_call_that_reads_asks_once_and_one_that_changes_asks_when_it_enters_and_when_it_commits(
    tpps: tuple[Tpp, Tpp], asked: list[str]
) -> None:
    for tpp in tpps:
        asked.clear()
        payment_id = tpp.initiated()
        assert len(asked) == 2 and "FOR UPDATE" in asked[0] and asked[1].endswith("COMMIT"), asked
        asked.clear()
        assert tpp.status(payment_id).status_code == 200
        assert len(asked) == 1, asked


def test_a_call_that_is_refused_at_the_gate_asks_too(tpps: tuple[Tpp, Tpp], asked: list[str]) -> None:
    assert tpps[0].initiate(accept=OTHER).status_code == 406
    assert len([query for query in asked if "INSERT INTO counts" not in query]) == 1, asked


def test_a_setting_that_another_server_changed_holds_for_a_call_that_may_change_the_world(
    tpps: tuple[Tpp, Tpp],
) -> None:
    one, two = tpps
    assert two.control("PATCH", "/settings", vendor="other").status_code == 200
    assert one.initiate(accept=SERVICE).status_code == 406
    assert two.control("PATCH", "/settings", vendor="service").status_code == 200
    assert one.initiate(accept=OTHER).status_code == 406
    assert two.control("PATCH", "/settings", vendor="other").status_code == 200
    assert one.initiate(accept=OTHER).status_code == 201


def test_what_judges_a_call_before_it_enters_is_noticed_where_another_server_set_it(tpps: tuple[Tpp, Tpp]) -> None:
    one, two = tpps
    fault = {"when": {"operation": "payment_initiation"}, "answer": {"status": 503}}
    assert two.control("POST", "/faults", **fault).status_code == 201
    assert one.initiate().status_code == 503
    assert two.control("DELETE", "/faults").status_code == 204
    assert one.initiate().status_code == 201
    assert two.control("PATCH", "/settings", variants={"accept_without_version": "newest"}).status_code == 200
    assert one.initiate(accept="application/vnd.service.api+json").status_code == 201
    assert two.control("PATCH", "/settings", variants={"accept_without_version": "406"}).status_code == 200
    assert one.initiate(accept="application/vnd.service.api+json").status_code == 406
    assert two.control("PATCH", "/settings", variants={}, client_certificates="proxy").status_code == 200
    assert one.initiate().status_code == 495
    assert two.control("PATCH", "/settings", client_certificates="off").status_code == 200
    assert one.initiate().status_code == 201


def test_a_world_that_another_server_dropped_or_replaced_takes_a_payment_as_the_new_one(tpps: tuple[Tpp, Tpp]) -> None:
    one, two = tpps
    assert two.http.delete("/_sandbox/worlds/w").status_code == 204
    ids = [one.initiated()]
    assert [row["payment_id"] for row in two.listed("payments")] == ids
    assert two.http.put("/_sandbox/worlds/w", json={"replace": True}).status_code == 201
    ids = [one.initiated()]
    assert [row["payment_id"] for row in two.listed("payments")] == ids


def test_worlds_are_made_by_calls_no_longer_where_another_server_declared_them(tpps: tuple[Tpp, Tpp]) -> None:
    one, two = tpps
    assert two.http.patch("/_sandbox/settings", json={"worlds": "declared"}).status_code == 200
    assert two.http.delete("/_sandbox/worlds/w").status_code == 204
    assert refused(one.initiate(), 404, "SBX-0404", "world")


def test_payments_that_other_servers_initiate_do_not_have_waiting_calls_delivered(
    tpps: tuple[Tpp, Tpp], asked: list[str]
) -> None:
    asked.clear()
    for tpp in tpps * 3:
        tpp.initiated()
    assert not [query for query in asked if "INSERT INTO counts" in query]  # which numbers calls as they are delivered


def test_what_another_server_changed_comes_after_the_calls_that_waited(
    servers: list[Server], tpps: tuple[Tpp, Tpp]
) -> None:
    one, two = tpps
    world = servers[0].worlds.find("w")
    changes: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", "/settings", {"unsigned_after": "5m"}),
        ("POST", "/clock", {"advance": "2h"}),
    ]
    for method, path, body in changes:
        one.initiated()
        assert two.control(method, path, **body).status_code == 200
        world.follow()
        assert not world.calls.has_waiting
