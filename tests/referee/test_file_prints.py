"""The prints of bulk files: which parts of a message say that it is the same file."""

import subprocess
import sys

import pytest

from sandbox.extensions.referee.fingerprints import PIECE, compute_file_prints, compute_fingerprint, split_file
from sandbox.web.api.call_records import LARGE
from tests.psu.psu import HOST, file_address, file_id, row
from tests.referee.actor import Actor, Flow
from tests.tpp import version

FILE = (
    b"<Document><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2027-03-01T09:00:00</CreDtTm></GrpHdr><PmtInf><PmtInfId>P-1"
    b"</PmtInfId><ReqdExctnDt>2027-03-02</ReqdExctnDt><EndToEndId>E-1</EndToEndId></PmtInf></Document>"
)


@pytest.mark.parametrize("changed", [b"M-1", b"09:00:00", b"P-1"])
@pytest.mark.parametrize("prefix", [b"", b"p:"])
def test_ids_and_time_of_the_message_leave_the_payments_the_same(changed: bytes, prefix: bytes) -> None:
    first = FILE.replace(b"</", b"\0").replace(b"<", b"<" + prefix).replace(b"\0", b"</" + prefix)
    again = first.replace(changed, b"another")
    assert compute_file_prints(first).payments == compute_file_prints(again).payments
    assert compute_file_prints(first).whole != compute_file_prints(again).whole


@pytest.mark.parametrize("changed", [b"E-1", b"2027-03-02"])
def test_a_reference_or_a_date_makes_other_payments(changed: bytes) -> None:
    assert compute_file_prints(FILE).payments != compute_file_prints(FILE.replace(changed, b"another")).payments


def test_a_file_is_read_in_pieces_that_cut_no_id() -> None:
    batch = b"<PmtInf><PmtInfId>P-%d</PmtInfId><EndToEndId>E-1</EndToEndId></PmtInf>"
    first, again = (b"".join(batch % (number + shift) for number in range(10_000)) for shift in (0, 90_000))
    pieces = list(split_file(first))
    assert b"".join(pieces) == first and len(pieces) > 3
    assert max(map(len, pieces)) < PIECE + 100
    assert compute_file_prints(first).payments == compute_file_prints(again).payments
    assert compute_file_prints(first).payments != compute_file_prints(first.replace(b"E-1", b"E-2")).payments


def test_a_file_without_an_element_is_one_piece() -> None:
    assert list(split_file(b"x" * 2 * PIECE)) == [b"x" * 2 * PIECE]
    assert list(split_file(b"")) == []


def test_a_large_file_that_is_sent_again_is_found_too(actor: Actor) -> None:
    content = actor.content().replace(b"</Document>", b" " * LARGE + b"</Document>")
    for sent in (content, content.replace(b"<MsgId>", b"<MsgId>B-")):
        assert actor.send(sent).status_code == 201
    (found,) = actor.tpp.control("GET", "/referee").get_json()["findings"]
    assert found["rule"] == "bulk-file-doubled" and len(found["proof"]) == 1


def test_the_same_bytes_under_another_reference_of_the_tpp_are_left_to_the_bank(actor: Actor) -> None:
    """The bank refuses a MsgId that it has, so nothing is paid twice."""
    content = actor.content()
    for _ in range(2):
        actor.send(content)
    assert "bulk-file-doubled" not in actor.rules()


def test_a_csv_file_which_has_no_msg_id_is_paid_twice_when_it_is_sent_twice(actor: Actor) -> None:
    line = row(actor.tpp.iban_of("bakkerij"), "2027-03-02", "Jan Peeters", "12.00", "E-1")
    for _ in range(2):
        sent = file_id(actor.tpp, line)
        actor.approve(Flow("", f"{HOST}{file_address(actor.tpp, sent)}", ""), customer="bakkerij")
        actor.advance("1d")
        path = f"/bulk-payments/csv/{sent}/status"
        assert actor.tpp.call("GET", path, accept=version(2)).get_json()["status"] == "ACSC"
    assert actor.rules() == ["bulk-file-doubled"]


def test_a_fingerprint_is_the_same_in_another_process() -> None:
    """A server goes on with the referee's memories of the server before it, and beside those of another."""
    program = f"from {compute_fingerprint.__module__} import compute_fingerprint as of; print(of('a code').hex())"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.strip() == compute_fingerprint("a code").hex()
