"""Where servers share a world, the id of an act decides what the bank draws in it: files of worlds carry these ids."""

from pathlib import Path

import pytest

from sandbox.storage.state_hash import hash_state
from tests.exports import sealed
from tests.tpp import Tpp, refused
from tests.worlds.tenancy import ON_A_DATABASE, Server, lived


def carried(tpp: Tpp, name: str, query: str = "") -> bytes:
    """The world's file, after it was read as another world."""
    content = tpp.http.get(f"/_sandbox/export{query}").get_data()
    reply = tpp.http.post(f"/_sandbox/import?as={name}", data=content)
    assert reply.status_code == 201, reply.text
    return content


@ON_A_DATABASE
def test_a_world_of_a_database_is_carried_with_the_ids_that_were_answered(server: Server, path: Path) -> None:
    ids = lived(server.tpp())
    content = carried(server.tpp(), "again")
    assert server.payments("again") == server.payments() and set(ids) <= set(server.payments())
    other = Server(path)
    other.tpp().http.post("/_sandbox/import?as=again", data=content)
    assert other.payments("again") == server.payments()
    more = other.tpp("again").initiated()
    hashed = other.worlds.get("again").ask(hash_state)
    other = other.restarted()
    assert more in other.payments("again") and other.worlds.get("again").ask(hash_state) == hashed
    other.store.close()


def test_no_secret_that_the_bank_drew_is_in_a_stripped_file(server: Server) -> None:
    lived(server.tpp())
    tokens = {paid.sca_token for paid in server.worlds.get("default").bank.payments.values() if paid.sca_token}
    content = carried(server.tpp(), "again", "?secrets=strip")
    assert tokens and not [token for token in tokens if token.encode() in content]
    assert server.payments("again") == server.payments()


@pytest.mark.parametrize("wrong", [b'"id":7', b'"id":"' + b"x" * 65 + b'"'])
@ON_A_DATABASE
def test_a_file_whose_act_has_an_id_of_another_kind_is_refused(server: Server, wrong: bytes) -> None:
    server.tpp().initiated()
    content = server.tpp().http.get("/_sandbox/export").get_data()
    begin = content.index(b'"id":"')
    harmed = content[:begin] + wrong + content[content.index(b'"', begin + 6) + 1 :]
    reply = server.tpp().http.post("/_sandbox/import?as=again", data=sealed(harmed.splitlines()))
    assert refused(reply, 400, "SBX-0400-000001", "the id of an act is no short text")


@ON_A_DATABASE
def test_a_file_whose_act_has_another_id_comes_to_another_state_and_is_refused(server: Server) -> None:
    server.tpp().initiated()
    content = server.tpp().http.get("/_sandbox/export").get_data()
    begin = content.index(b'"id":"')
    harmed = content[:begin] + b'"id":"another"' + content[content.index(b'"', begin + 6) + 1 :]
    reply = server.tpp().http.post("/_sandbox/import?as=again", data=sealed(harmed.splitlines()))
    assert refused(reply, 400, "SBX-0400-000001", "another state than it says")
