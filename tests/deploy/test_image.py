"""The Dockerfile against what is really there. An engine is not needed for this; `serve` and `health` run for real."""

import json
import re
import shlex
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sandbox.cli import main
from tests.deploy.proxies import ROOT, free_port
from tests.test_cli import PATIENCE, command, ended, environment, serving
from tests.test_wheel import TRAVELS

Steps = list[tuple[str, str]]


def steps_of(text: str) -> Steps:
    """Instruction and what it says, with continued lines joined."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [
        (word.upper(), rest.strip()) for word, _, rest in (line.partition(" ") for line in lines.splitlines()) if word
    ]


STEPS = steps_of((ROOT / "Dockerfile").read_text())
LAST = STEPS[max(place for place, (word, _) in enumerate(STEPS) if word == "FROM") :]  # the stage that is shipped


def told(word: str, steps: Steps = LAST) -> list[str]:
    return [rest for name, rest in steps if name == word]


def one(word: str) -> str:
    (found,) = told(word)
    return found


def variables() -> dict[str, str]:
    return dict(pair.split("=", 1) for line in told("ENV") for pair in shlex.split(line))


def known(name: str) -> dict[str, click.Option]:
    """The variables that a command reads."""
    options = [option for option in main.commands[name].params if isinstance(option, click.Option)]
    return {str(option.envvar): option for option in options if option.envvar}


def test_a_linter_finds_nothing_in_it() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_linter_would_find_something(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python\nCMD bank-sandbox serve\n")
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), tmp_path / "Dockerfile"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "DL3025" in done.stdout


def test_it_runs_as_a_numbered_user_who_is_not_root() -> None:
    user, group = one("USER").split(":")
    assert int(user) > 999 and int(group) > 999


@pytest.mark.parametrize("word", ["ENTRYPOINT", "CMD"])
def test_no_shell_stands_between_the_engine_and_the_server(word: str) -> None:
    assert json.loads(one(word))


def test_it_starts_a_command_that_there_is() -> None:
    assert json.loads(one("ENTRYPOINT")) == ["bank-sandbox"]
    (name,) = json.loads(one("CMD"))
    assert name in main.commands


def test_the_port_that_it_exposes_is_the_one_that_is_served() -> None:
    assert int(one("EXPOSE")) == known("serve")["SANDBOX_PORT"].default
    assert "SANDBOX_PORT" not in variables()


def test_every_variable_that_it_names_is_one_that_serve_knows() -> None:
    named = set(re.findall(r"SANDBOX_[A-Z_]+", (ROOT / "Dockerfile").read_text()))
    assert {"SANDBOX_KEY", "SANDBOX_OPEN", "SANDBOX_HOST"} <= named
    assert named <= set(known("serve"))


def test_health_reads_what_serve_reads() -> None:
    asked = set(known("health")) - {"SANDBOX_URL"}
    assert asked <= set(known("serve"))
    served, asking = (click.Context(main.commands[name]) for name in ("serve", "health"))
    for name in asked:
        assert known("health")[name].get_default(asking) == known("serve")[name].get_default(served)


def test_what_it_copies_is_there_and_is_let_in() -> None:
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for rest in told("COPY", STEPS) if "--from" not in rest for name in rest.split()[:-1]}
    assert copied == admitted
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    assert set(TRAVELS) <= copied  # a folder that the wheel needs


def kept(folder: str, pattern: str) -> set[str]:
    """What the command that empties a folder of a library leaves in it."""
    (command,) = (rest for rest in told("RUN", STEPS) if folder in rest)
    names = command.partition(folder)[2].partition("&&")[0]
    return set(re.findall(pattern, names))


def test_what_it_throws_away_of_the_languages_is_not_what_the_pages_need() -> None:
    from sandbox.contract.languages import SCREENS

    languages = kept("babel/locale-data", r"! -name '([a-z]+)\*?\.dat'")
    assert languages == {"root", "en"} | {screens.locale.partition("_")[0] for screens in SCREENS.values()}


def test_it_keeps_the_names_of_people_that_the_executable_keeps() -> None:
    spec = (ROOT / "deploy" / "executable" / "bank-sandbox.spec").read_text()
    (people,) = re.findall(r"(?m)^PEOPLE = (.*)$", spec)
    assert kept("faker/providers", r"! -name '([a-z]{2}_[A-Z]{2})'") == set(literal_eval(people))


def test_it_compiles_before_it_is_read_only_where_python_looks_later() -> None:
    built = dict(pair.split("=", 1) for line in told("ENV", STEPS[: -len(LAST)]) for pair in shlex.split(line))
    assert built["PYTHONPYCACHEPREFIX"] == variables()["PYTHONPYCACHEPREFIX"]


def test_the_folder_of_scenarios_is_where_files_are_looked_for(tmp_path: Path) -> None:
    assert one("WORKDIR") == "/scenarios"
    (tmp_path / "mine.yaml").write_text("scenario: Mine\nclock: {at: 2028-03-01T09:00, frozen: true}\n")
    port = str(free_port())
    given = environment(**told_to_the_image(SANDBOX_PORT=port, SANDBOX_OPEN="1", SANDBOX_SCENARIO="mine.yaml"))
    with subprocess.Popen(
        command("serve"), cwd=tmp_path, env=given, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        try:
            assert CliRunner().invoke(main, ["health", "--wait", "30"], env={"SANDBOX_PORT": port}).exit_code == 0
            _, err = ended(server)
            assert "the bank's time is 2028-03-01T09:00:00+01:00, frozen" in err
        finally:
            server.kill()


def told_to_the_image(**more: str) -> dict[str, str]:
    """What the image says, and what is said to it."""
    return {name: value for name, value in variables().items() if name.startswith("SANDBOX_")} | more


def test_it_does_not_start_before_it_knows_who_may_use_the_controls() -> None:
    done = subprocess.run(
        command("serve"), env=environment(**told_to_the_image()), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2
    assert "SANDBOX_KEY" in done.stderr and "SANDBOX_OPEN=1" in done.stderr


@pytest.mark.parametrize("library", ["mcp", "prometheus-client", "psycopg-binary"])
def test_it_brings_what_the_extras_need(library: str) -> None:
    assert any("requirements/image.txt" in line for line in told("RUN", STEPS))
    assert re.search(rf"(?m)^{library}==", (ROOT / "requirements" / "image.txt").read_text())


@pytest.mark.parametrize("engine, why", [("exit 125", "runs no container here"), (None, "there is no podman")])
def test_without_an_engine_the_check_of_the_image_says_that_it_was_not_run(
    tmp_path: Path, engine: str | None, why: str
) -> None:
    """Otherwise `.ci/run` runs it for real."""
    for name in ("bash", "env", "dirname", "mktemp", "od", "tr", "rm", "tail"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    if engine is not None:
        (tmp_path / "podman").write_text(f"#!/bin/sh\n{engine}\n")
        (tmp_path / "podman").chmod(0o755)
    words = [str(ROOT / ".ci" / "image"), "a-base"]
    done = subprocess.run(words, env={"PATH": str(tmp_path)}, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 77 and "not run" in done.stderr and why in done.stderr


RIGHT = "the-key-of-a-team"


def test_its_health_check_is_right_about_a_server_with_a_key() -> None:
    _, _, check = one("HEALTHCHECK").partition("CMD ")
    program, *words = json.loads(check)
    assert program == "bank-sandbox"
    with serving(greets="listening on http://127.0.0.1:", **told_to_the_image(SANDBOX_PORT="0", SANDBOX_KEY=RIGHT)) as (
        _,
        port,
    ):
        for key, code in ((RIGHT, 0), ("another", 1)):
            given = environment(**told_to_the_image(SANDBOX_PORT=str(port), SANDBOX_KEY=key))
            assert subprocess.run(command(*words), env=given, capture_output=True).returncode == code
