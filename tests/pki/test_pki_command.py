"""`bank-sandbox pki`: a test PKI that lives in a folder."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from sandbox.cli import main
from sandbox.pki import FAULTS

ORGANISATION = "PSDBE-NBB-0123456789"


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["pki", *words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    run("init", "--dir", str(tmp_path / "pki"))
    return tmp_path / "pki"


def test_what_is_made_is_what_openssl_reads_and_verifies(path: Path) -> None:
    run("issue", "my-tpp", "--organisation", ORGANISATION, "--roles", "PIS", "--dir", str(path))
    for kind in ("qwac", "qseal"):
        whole = ("openssl", "verify", "-CAfile", str(path / "authorities.pem"), str(path / f"my-tpp/{kind}.pem"))
        assert subprocess.run(whole, capture_output=True, check=False).returncode == 0
    told = run("show", "--dir", str(path))
    for part in ("QWAC", "QSealC", ORGANISATION, "PSP_PI", "BE-NBB", "would believe it"):
        assert part in told
    assert "PSP_AI" not in told


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_can_be_asked_for(path: Path, fault: str) -> None:
    place = run("issue", "x", "--organisation", ORGANISATION, "--fault", fault, "--kind", "qwac", "--dir", str(path))
    told = run("show", place.strip(), "--dir", str(path))
    by_itself = fault not in ("wrong-role", "wrong-organisation")  # those are wrong for a call, not by themselves
    assert ("would not believe it" in told) == by_itself


def test_revoking(path: Path) -> None:
    places = run("issue", "x", "--organisation", ORGANISATION, "--dir", str(path)).split()
    run("revoke", places[0], "--dir", str(path))
    assert "revoked" in run("show", places[0], "--dir", str(path))
    assert "would believe" in run("show", places[1], "--dir", str(path))


def test_keys_are_for_their_owner_only(path: Path) -> None:
    assert {file.stat().st_mode & 0o777 for file in path.rglob("*.key")} == {0o600}


@pytest.mark.parametrize(
    "words, told",
    [
        (("issue", "../x", "--organisation", ORGANISATION), "letters, digits"),
        (("issue", "x", "--organisation", "NBB"), "like PSDBE-NBB"),
        (("issue", "x", "--organisation", ORGANISATION, "--roles", "KING"), "KING is no role"),
        (("init",), "holds a PKI already"),
    ],
)
def test_a_mistake_is_told_kindly(path: Path, words: tuple[str, ...], told: str) -> None:
    assert told in run(*words, "--dir", str(path), code=1)


def test_without_a_pki_the_command_says_how_to_make_one(tmp_path: Path) -> None:
    assert "pki init" in run("issue", "x", "--organisation", ORGANISATION, "--dir", str(tmp_path), code=1)


def test_a_pki_that_is_there_can_be_kept(path: Path, tmp_path: Path) -> None:
    before = (path / "issuing.pem").read_bytes()
    assert "is kept" in run("init", "--keep", "--dir", str(path))
    assert (path / "issuing.pem").read_bytes() == before
    run("init", "--keep", "--dir", str(tmp_path / "fresh"))
    assert (tmp_path / "fresh" / "issuing.pem").is_file()
