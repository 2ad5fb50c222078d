"""One word each: pay, order, file, consent, values, trigger (choice 12)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.client import Controls
from sandbox.scenarios.well_known_values import list_default_values
from tests.running import KEY

Run = Callable[..., Result]


@pytest.fixture
def run(url: str) -> Run:
    return lambda *words: CliRunner().invoke(main, list(words), env={"SANDBOX_URL": url})


@pytest.fixture
def controls(url: str) -> Iterator[Controls]:
    with Controls(url) as controls:
        yield controls


def told(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_pay_initiates_and_signs(run: Run, controls: Controls) -> None:
    made = told(run("pay", "--amount", "7.50", "--json"))
    assert made["status"] == "PDNG" and "/_sandbox/callback?code=" in made["redirect"]
    (payment,) = controls.listed("payments")
    assert payment["customer"] == "alice" and payment["payment_id"] == made["payment_id"]


@pytest.mark.parametrize(
    "words, status, reason",
    [
        (("pay", "--until", "ACSC"), "ACSC", None),
        (("pay", "--customer", "bram", "--refuse"), "CANC", "PSU_REFUSED"),
        (("pay", "--unsigned"), "RCVD", None),
        (("order", "--until", "acwp"), "ACWP", None),
        (("order", "--refuse"), "CANC", "PSU_REFUSED"),
        (("file", "--until", "ACSC"), "ACSC", None),
    ],
)
def test_what_becomes_of_it(run: Run, words: tuple[str, ...], status: str, reason: str | None) -> None:
    made = told(run(*words, "--json"))
    assert (made["status"], made["reason"]) == (status, reason)


def test_a_consent_gives_tokens_and_accounts(run: Run) -> None:
    assert len(told(run("consent", "--customer", "bakkerij", "--json"))["accounts"]) == 2
    assert "error=access_denied" in run("consent", "--refuse").output


def test_what_the_bank_refuses_ends_with_1(run: Run) -> None:
    refused = run("pay", "--amount", "0")
    assert refused.exit_code == 1 and "400 INVALID_INPUT" in refused.output
    missing = run("pay", "--customer", "poor", "--amount", "900")
    assert missing.exit_code == 1 and "INSUFFICIENT_FUNDS" in missing.output


def test_the_values_are_listed_without_a_server() -> None:
    shown = CliRunner().invoke(main, ["values", "--json"], env={"SANDBOX_URL": "http://127.0.0.1:1"})
    assert [one["value"] for one in told(shown)["values"]] == [one.value for one in list_default_values()]
    assert "Test AC04" in CliRunner().invoke(main, ["values", "closed"]).output
    assert "No well-known value" in CliRunner().invoke(main, ["values", "zebra"]).output
    assert CliRunner().invoke(main, ["values", "--scenario", "nowhere"]).exit_code == 2


@pytest.mark.parametrize(
    "words, status, reason",
    [
        (("AC04",), "RJCT", "AC04"),
        (("TIME_OUT",), "CANC", "TIME_OUT"),
        (("Test PDNG AM05",), "RJCT", "AM05"),
        (("CANC", "--kind", "order"), "CANC", "MS03"),
        (("returned",), "ACSC", None),
        (("wrong-code",), "CANC", "PSU_REFUSED"),
        (("TEST-PART",), "PATC", None),
        (("TEST-PDNG-RJCT",), "RJCT", "AG01"),
        (("ACSP",), "ACSP", None),
    ],
)
def test_a_value_is_triggered(run: Run, words: tuple[str, ...], status: str, reason: str | None) -> None:
    made = told(run("trigger", *words, "--json"))
    assert (made["status"], made["reason"]) == (status, reason)


def test_a_refusal_at_the_post_is_as_promised(run: Run) -> None:
    made = told(run("trigger", "insufficient_funds", "--json"))
    assert (made["status"], made["refused"]) == (403, "INSUFFICIENT_FUNDS")
    assert "as it should be" in run("trigger", "TEST-503").output


def test_an_unknown_value_is_refused_with_the_nearest(run: Run) -> None:
    wrong = run("trigger", "AC05")
    assert wrong.exit_code == 2 and "Did you mean" in wrong.output and "ac0" in wrong.output


@pytest.mark.parametrize(
    "words",
    [
        "clock",
        "payments",
        "referee",
        "explain x",
        "export",
        "faults",
        "settings",
        "count",
        "verify",
        "payee BE68539007547034 x",
    ],
)
def test_a_command_that_reads_never_makes_a_world(run: Run, controls: Controls, words: str) -> None:
    result = run(*words.split(), "--world", "defualt")
    assert result.exit_code == 1 and "there is no world 'defualt'. Did you mean default?" in result.output
    assert [row["name"] for row in controls.listed("worlds")] == ["default"]


def test_a_command_that_acts_makes_one_and_reading_finds_it(run: Run, url: str) -> None:
    assert run("clock", "advance", "1m", "--world", "side").exit_code == 0
    assert "frozen" in run("clock", "--world", "side").output
    assert "frozen" in run("clock", "--url", f"{url}/worlds/side").output


def made_at(url: str) -> list[str]:
    with Controls(url, key=KEY) as controls:
        lists = {name: controls.listed(name) for name in ("payments", "standing-orders", "bulk-payments", "requests")}
    return [name for name, rows in lists.items() if rows]


@pytest.mark.parametrize("key", ["wrong", None])
@pytest.mark.parametrize(
    "words", ["pay", "order --start 2027-04-01", "file", "file --unsigned", "consent", "trigger AC04"]
)
def test_a_wrong_key_ends_the_command_before_it_creates_anything(locked_url: str, words: str, key: str | None) -> None:
    refused = CliRunner().invoke(main, words.split(), env={"SANDBOX_URL": locked_url, "SANDBOX_KEY": key})
    assert refused.exit_code == 1 and "401" in refused.output
    assert "--key or SANDBOX_KEY" in refused.output
    assert made_at(locked_url) == []


def test_with_the_key_a_payment_is_signed_and_an_unsigned_one_needs_no_key(locked_url: str) -> None:
    for words in (["pay", "--key", KEY], ["pay", "--unsigned"]):
        assert CliRunner().invoke(main, words, env={"SANDBOX_URL": locked_url}).exit_code == 0
    assert made_at(locked_url) == ["payments", "requests"]


@pytest.mark.parametrize("words", ["clock", "reset", "export", "fork b", "variants cover --begin", "vary -- true"])
def test_every_command_that_is_refused_for_its_key_names_the_option(locked_url: str, words: str) -> None:
    refused = CliRunner().invoke(main, words.split(), env={"SANDBOX_URL": locked_url})
    assert refused.exit_code != 0 and "--key or SANDBOX_KEY" in refused.output


@pytest.mark.parametrize(
    "words", ["pay --customer alcie", "order --customer alcie", "file --customer alcie", "consent --customer alcie"]
)
def test_an_unknown_customer_ends_the_command_before_it_creates_anything(
    run: Run, controls: Controls, words: str
) -> None:
    refused = run(*words.split())
    assert refused.exit_code == 2 and "'alcie' is no customer of this bank. Did you mean alice?" in refused.output
    assert controls.listed("requests") == []


def test_an_unknown_status_ends_the_command_before_it_creates_anything(run: Run, controls: Controls) -> None:
    refused = run("pay", "--until", "DONE")
    assert refused.exit_code == 2 and "'DONE' is not one of" in refused.output
    assert controls.listed("payments") == []
