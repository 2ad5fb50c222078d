"""How a store keeps what a world begins with: the world's own beside what nearly all worlds have alike."""

import zlib
from dataclasses import fields, replace
from datetime import UTC, datetime
from unittest.mock import Mock

import pytest

from sandbox.app import make_first_beginning
from sandbox.scenarios.reading import load
from sandbox.storage.codec import decode_bytes, encode_bytes
from sandbox.worlds import beginning as beginnings
from sandbox.worlds.beginning import Beginning, read_beginning, write_beginning
from tests.worlds.tenancy import Server

OPENING = datetime(2027, 3, 1, 8, tzinfo=UTC)


def test_a_beginning_is_read_as_it_was_written() -> None:
    for scenario in (None, load("default")):
        begun = replace(make_first_beginning(seed=7, at=OPENING, scenario=scenario), secret="0" * 32)
        found, opening = read_beginning(write_beginning(begun, OPENING))
        assert opening == OPENING
        for row in fields(Beginning):
            assert encode_bytes(getattr(found, row.name)) == encode_bytes(getattr(begun, row.name))


def test_a_beginning_with_other_people_or_settings_does_not_take_what_was_packed_before() -> None:
    first = make_first_beginning(seed=7, at=OPENING)
    write_beginning(first, OPENING)
    settings = replace(first.settings, requests_per_minute=5)
    people = replace(first.fixtures, clients={})  # of the same digest
    found, _ = read_beginning(write_beginning(replace(first, settings=settings, fixtures=people), OPENING))
    assert found.settings.requests_per_minute == 5 and found.fixtures.clients == {}


def test_a_page_of_worlds_decodes_once_what_they_have_alike(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        server.worlds.make(f"w{number:02}")
    restarted = server.restarted()
    beginnings._read_alike.cache_clear()
    decoded = Mock(side_effect=decode_bytes)
    monkeypatch.setattr(beginnings, "decode_bytes", decoded)
    listed = restarted.tpp().listed("worlds")
    restarted.store.close()
    assert len({row["seed"] for row in listed}) == 21
    lengths = [len(call.args[0]) for call in decoded.call_args_list]
    assert len([length for length in lengths if length > 1_000]) == 1


def test_a_stored_world_takes_few_bytes(server: Server) -> None:
    server.worlds.make("w")
    row = server.store.find("w")
    assert row is not None and len(row.beginning) < 5_000


GOOD = write_beginning(make_first_beginning(seed=7, at=OPENING), OPENING)
OWN, _, ALIKE = GOOD.partition(b"\n")
BAD = {
    "empty": b"",
    "without the second part": OWN,
    "cut": GOOD[:-5],
    "not compressed": OWN + b"\n" + zlib.decompress(ALIKE),
    "the people are missing": OWN + b"\n" + zlib.compress(encode_bytes({"rules": ()})),
    "no object": b"1\n" + ALIKE,
    "no opening": OWN.replace(b'"opening"', b'"openin"') + b"\n" + ALIKE,
    "another field": OWN.replace(b'"scenario"', b'"scenari"') + b"\n" + ALIKE,
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_a_beginning_that_is_not_as_it_was_written_is_an_error(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_beginning(content)
