"""A film: a world's calls, screens and states in one HTML file that loads nothing."""

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from sandbox.client import Controls
from sandbox.contract.moves import Status
from sandbox.extensions.film.page import (
    NOT_NEEDED,
    RETURNED,
    STATES,
    make_frames,
    make_page,
    merge_in_order,
    render_film,
)
from tests.tpp import Tpp, payment

NASTY = "</script><script>alert(1)</script>"


def content_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = orjson.loads(found[1])
    return content


def test_it_tells_a_payment_from_the_call_to_the_credit(tpp: Tpp, controls: Controls) -> None:
    begun = tpp.initiate()
    tpp.signed(begun, "alice")
    tpp.advance("2m")
    tpp.status(begun.get_json()["payment_id"])
    frames = make_frames(controls)["frames"]
    told = [(frame["lane"], frame.get("to") or frame["status"]) for frame in frames]
    assert told == [
        ("bank", "RCVD"), ("tpp", 201), ("customer", "PATC"), ("customer", "PDNG"),
        ("bank", "ACSP"), ("bank", "ACSC"), ("tpp", 200),
    ]  # fmt: skip
    assert frames[3]["title"] == "alice signs with the card reader"


def test_each_event_has_the_screen_of_its_moment(tpp: Tpp, controls: Controls) -> None:
    begun = tpp.initiate()
    tpp.signed(begun, "alice")
    tpp.advance("2m")
    tpp.status(begun.get_json()["payment_id"])
    name = begun.get_json()["payment_id"]
    tpp.advance("1m")
    tpp.control("POST", f"/payments/{name}/return")
    frames = make_frames(controls)["frames"]
    assert [frame["screen"].partition(".")[0] for frame in frames] == [
        "Not opened yet", "Not opened yet", "Log in to see what you are asked to sign", "Signed",
        "The money has left the account", "Paid", "Paid", RETURNED,
    ]  # fmt: skip
    assert {frame["about"] for frame in frames} == {name}


def test_every_status_has_a_screen_and_a_call_about_nothing_says_so(tpp: Tpp, controls: Controls) -> None:
    assert set(STATES) == {status.value for status in Status}
    tpp.status("nothing")
    (frame,) = make_frames(controls)["frames"]
    assert (frame["about"], frame["screen"]) == (None, NOT_NEEDED)


def test_it_shows_the_verification_of_payee_as_the_customer_saw_it(tpp: Tpp, controls: Controls) -> None:
    tpp.control("PATCH", "/settings", payee_check="page")
    tpp.signed(tpp.initiate(body=payment(creditor_name="Test VoP none")), "alice")
    screens = [frame["screen"] for frame in make_frames(controls)["frames"] if frame.get("trigger") == "payee_checked"]
    assert screens == ["The name of the beneficiary does not match"]


def test_a_refused_call_is_shown_with_its_error_and_reason(tpp: Tpp, controls: Controls) -> None:
    tpp.initiate(body=payment(instructed_amount__amount="0"))
    (frame,) = make_frames(controls)["frames"]
    assert (frame["status"], frame["error"]) == (400, "B14821ZZ-1231-000000")
    assert "not above 0" in frame["why"]


def test_a_world_in_which_nothing_happened_has_an_empty_film(tpp: Tpp, controls: Controls) -> None:
    assert make_frames(controls)["frames"] == []


def test_the_page_is_whole_and_runs_only_its_own_script(tpp: Tpp, controls: Controls) -> None:
    tpp.initiate(body=payment(creditor_name=NASTY[:70]))
    page = render_film(controls, NASTY)
    assert page.count("<script") == page.count("</script>") == 2
    assert NASTY not in page and "alert(1)" in str(content_of(page)["subjects"])
    assert "default-src 'none'" in page and "unsafe-inline" not in page
    assert not re.search(r"(?:src|href)=\"(?!data:)", page) and "://" not in re.sub(r"http://www\.w3\.org\S+", "", page)


@pytest.mark.parametrize("second", ["2027-03-01T09:00:00+01:00", "2027-03-01T08:00:00+00:00"])
def test_at_one_instant_a_payment_comes_before_its_reply_and_its_customer_after(second: str) -> None:
    call = {"lane": "tpp", "at": second, "seq": 1, "operation": "payment_initiation"}
    facts = [
        {"lane": "bank", "at": "2027-03-01T09:00:00+01:00", "seq": 1, "trigger": "received"},
        {"lane": "customer", "at": "2027-03-01T09:00:00+01:00", "seq": 2, "trigger": "signed"},
    ]
    assert [frame["lane"] for frame in merge_in_order([call], facts)] == ["bank", "tpp", "customer"]


def test_what_is_left_out_of_a_long_film_is_told() -> None:
    page = make_page("long", {"frames": [], "subjects": {}, "left_out": 1234, "now": ""})
    assert "1,234 earlier events are left out" in page


def test_the_styles_and_scripts_travel_in_the_package() -> None:
    import sandbox.extensions.film

    folder = Path(sandbox.extensions.film.__file__).parent / "static"
    assert {file.name for file in folder.iterdir()} == {"film.css", "film.html", "film.js"}
