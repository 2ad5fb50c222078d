"""`bank-sandbox variants cover`: few worlds for every pair of values (choice 12)."""

import json
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from sandbox.cli import main
from sandbox.contract.decisions import AXES
from sandbox.scenarios import load

THREE = "final_status,limits,signatures"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["variants", "cover", *words])


def test_an_option_that_names_nothing_is_refused_and_not_taken_for_all() -> None:
    assert "',' names nothing" in run("--axes", ",").output and "' ' names nothing" in run("--only", " ").output


def test_each_pair_occurs_in_what_is_told_as_json() -> None:
    told = json.loads(run("--strength", "2", "--axes", THREE, "--json").stdout)
    assert {"strength", "seed", "axes", "worlds", "impossible"} == set(told)
    rows = [row["variants"] for row in told["worlds"]]
    for one in THREE.split(","):
        for other in THREE.split(","):
            wanted = {(a, b) for a in AXES[one].names for b in AXES[other].names if one != other or a == b}
            assert {(row[one], row[other]) for row in rows} == wanted


def test_the_first_is_the_bank_of_today_and_the_last_line_counts() -> None:
    done = run("--axes", THREE, "--strength", "1")
    assert done.output.splitlines()[0] == "today  every axis at its first value"
    assert done.output.splitlines()[-1] == "3 variants of 3 axes at strength 1"


def test_each_can_be_begun_as_a_world(url: str) -> None:
    done = run("--axes", THREE, "--strength", "1", "--json", "--begin", "--url", url)
    for row in json.loads(done.stdout)["worlds"]:
        told = httpx.get(f"{url}/worlds/{row['name']}/_sandbox/variants").json()["variants"]
        assert {one["name"]: one["value"] for one in told if one["name"] in row["variants"]} == row["variants"]
    assert "3 worlds begun" in done.stderr
    again = run("--axes", THREE, "--strength", "1", "--begin", "--url", url)
    assert run("--axes", THREE, "--strength", "1", "--begin", "--replace", "--url", url).exit_code == 0
    assert again.exit_code == 1 and "409" in again.output


def test_worlds_that_are_begun_have_one_seed_so_that_they_differ_by_their_variants_only(url: str) -> None:
    done = run("--axes", "vendor", "--strength", "1", "--json", "--begin", "--seed", "7", "--url", url)
    names = [row["name"] for row in json.loads(done.stdout)["worlds"]]
    seeds = {row["name"]: row["seed"] for row in httpx.get(f"{url}/_sandbox/worlds").json()["worlds"]}
    assert [seeds[name] for name in names] == [7, 7]


def test_each_can_be_written_as_a_scenario(tmp_path: Path) -> None:
    done = run("--axes", THREE, "--strength", "1", "-o", str(tmp_path / "new"))
    files = sorted((tmp_path / "new").iterdir())
    assert len(files) == 3 and "3 scenarios written" in done.stderr
    found = {value for file in files for _, value in load(str(file)).settings.variants}
    assert {"ACSP", "minute", "day"} < found


@pytest.mark.parametrize(
    "words, told",
    [
        (("--axes", "final_statu"), "did you mean 'final_status'?"),
        (("--only", "mony"), "did you mean 'money'?"),
        (("--strength", "4"), "4 is not in the range"),
    ],
)
def test_bad_input_is_told(words: tuple[str, ...], told: str) -> None:
    done = run(*words)
    assert done.exit_code == 2 and told in done.output


def test_what_takes_long_is_said_before() -> None:
    from sandbox.extensions.vary.command_options import warn_if_slow

    with CliRunner().isolation() as (_, errors, _):
        warn_if_slow(2, 90)
        warn_if_slow(3, 20)
        assert errors.getvalue() == b""
        warn_if_slow(3, 90)
        assert b"--only" in errors.getvalue()
