"""service 4.0 and choice 2: Accept, Accept-Language and Content-Type, held and refused."""

from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from sandbox.app import assemble, make_first_beginning
from sandbox.banking.durations import read_instant
from sandbox.contract.decisions import Decisions
from sandbox.machine import machine_time
from sandbox.worlds.registry import WorldRegistry
from tests.conftest import MORNING
from tests.tpp import ISCT, SCT, XB, Tpp, refused, version

PRODUCTS = (SCT, ISCT, XB)


def is_accepted(reply: TestResponse) -> bool:
    assert reply.status_code in (200, 201), reply.text
    return True


@pytest.fixture
def payment_id(tpp: Tpp) -> str:
    return tpp.initiated()


# Accept


@pytest.mark.parametrize(
    "accept",
    (
        "application/vnd.service.api+json; version=3",
        "application/vnd.service.api+json;version=3",
        'application/vnd.service.api+json; version="3"',
        "application/vnd.service.api+json; version=3; charset=utf-8",
        "application/vnd.service.api+json; version=3; q=0.1",
        "text/html, application/vnd.service.api+json; version=3",
        "application/vnd.service.api+json; version=9, application/vnd.service.api+json; version=3; q=0.2, */*",
        "APPLICATION/vnd.Service.api+json; Version=3",
    ),
)
def test_one_media_range_names_a_version_of_the_operation(tpp: Tpp, accept: str) -> None:
    assert is_accepted(tpp.initiate(accept=accept))


@pytest.mark.parametrize(
    "accept",
    (
        None,
        "",
        "*/*",
        "application/*",
        "application/json",
        "application/json; version=3",
        "application/vnd.service.api+json",
        "application/vnd.service.api+json; version=",
        "application/vnd.service.api+json; version=9",
        "application/vnd.service.api+json; version=3.0",
        "application/vnd.service.api+json; version=three",
        "application/vnd.service.api+json; version=٣".encode().decode("latin-1"),
        "application/vnd.service.api+json; version=-3",
        "application/vnd.service.api+json; version=03",
        "application/vnd.service.api+json; version=3000000000",
        "application/vnd.service.api+json; q=0; version=3; q=0",
        "application/vnd.service.api+xml; version=3",
        "application/vnd.other.api+json; version=3",
        ";;;,,,=",
    ),
)
@pytest.mark.parametrize("product", PRODUCTS)
def test_any_other_accept_is_refused(tpp: Tpp, product: str, accept: str | None) -> None:
    assert refused(tpp.initiate(product, accept=accept), 406, "SBX-0406-000001", "Accept")


def test_a_status_has_the_same_rule_for_accept(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id, accept=f"*/*, {version(2)}"))
    assert refused(tpp.status(payment_id, accept="*/*"), 406, "SBX-0406-000001", "Accept")


def test_the_vendor_word_is_a_setting() -> None:
    beginning = make_first_beginning(seed=7, at=read_instant(MORNING), rate=0)
    acme = Tpp(assemble(WorldRegistry(replace(beginning, settings=Decisions(vendor="acme")), machine_time)))
    assert is_accepted(acme.initiate(accept="application/vnd.acme.api+json; version=3"))
    assert refused(acme.initiate(accept=version(3)), 406, "SBX-0406-000001")


# Accept-Language


@pytest.mark.parametrize(
    "languages, screens",
    [
        ("fr", "fr"),
        ("nl", "nl"),
        ("FR", "fr"),
        ("fr-BE", "fr"),
        ("nl-BE", "nl"),
        ("nl-BE, fr;q=0.5", "nl"),
        ("fr;q=0.5, nl-BE", "nl"),
        ("en, nl;q=0.5", "nl"),
        ("en;q=0.1, nl;q=0.5, fr;q=0.8", "fr"),
        ("nl;q=0.5, fr;q=0.5", "nl"),
        ("de, xx, fr;q=0.001", "fr"),
        ("nl;q=0, fr;q=0.1", "fr"),
        ("*, nl;q=0.5", "nl"),
        ("en", None),
        ("en-GB, de;q=0.9", None),
        ("*", None),
        ("xx, *;q=0.1", None),
    ],
)
def test_the_best_language_that_has_screens_decides(
    tpp: Tpp, worlds: WorldRegistry, languages: str, screens: str | None
) -> None:
    payment_id = tpp.initiate(accept_language=languages).get_json()["payment_id"]
    assert worlds.get("default").bank.payments[payment_id].origin.language == screens


@pytest.mark.parametrize("languages", (None, "", "xx", "fra", "x-klingon", "xx-BE, zz;q=0.5", "12", "fr;q=0", ",;"))
def test_a_missing_or_wholly_unknown_language_is_refused(tpp: Tpp, payment_id: str, languages: str | None) -> None:
    for reply in (tpp.initiate(accept_language=languages), tpp.status(payment_id, accept_language=languages)):
        assert refused(reply, 406, "SBX-0406-000002", "Accept-Language")


# Content-Type


@pytest.mark.parametrize("media", ("application/json", "application/json;charset=utf-8", "Application/JSON"))
def test_an_initiation_is_json(tpp: Tpp, media: str) -> None:
    assert is_accepted(tpp.initiate(content_type=media))


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize(
    "media", ("", "text/plain", "application/xml", "text/csv", "application/x-www-form-urlencoded", "application/jsonx")
)
def test_an_initiation_of_another_type_is_refused(tpp: Tpp, product: str, media: str) -> None:
    assert refused(tpp.initiate(product, content_type=media), 415, "SBX-0415-000001", "Content-Type")


def test_an_initiation_without_a_type_is_refused(tpp: Tpp) -> None:
    assert refused(tpp.call("POST", f"/payments/{SCT}", data=b"{}"), 415, "SBX-0415-000001", "Content-Type")


def test_a_read_needs_no_content_type(tpp: Tpp, payment_id: str) -> None:
    assert is_accepted(tpp.status(payment_id))
    assert is_accepted(tpp.status(payment_id, content_type="text/plain"))
