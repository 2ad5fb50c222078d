"""The examples in other languages: their ten tests pass against a served bank, and fail against a broken one.

Where a tool is missing its test is reported as not run; with LANGUAGES_REQUIRED=1 that is a failure.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shell import ROOT
from tests.test_cli import serving
from tests.tools.java import JAVA_OPTIONS

EXAMPLES = ROOT / "examples"
JARS = Path("/usr/share/java")  # where Debian's junit5 keeps them
NEEDED_JARS = ("junit-jupiter-api", "junit-jupiter-engine", "junit-platform-console", "opentest4j-1.2.0")
PATIENCE = 240  # a guard against hanging, not a promise


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("--port", "0") as (_, port):
        yield f"http://127.0.0.1:{port}"


def demand(*tools: str, files: tuple[Path, ...] = ()) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None] + [
        str(file) for file in files if not file.exists()
    ]
    if missing:
        assert os.environ.get("LANGUAGES_REQUIRED") != "1", f"required, and not there: {missing}"
        pytest.skip(f"not run: {', '.join(missing)} is not here")


def ran(words: list[str], folder: Path, url: str, **more: str) -> tuple[int, str]:
    there = os.environ | {"SANDBOX_URL": url, "NO_COLOR": "1"} | more
    done = subprocess.run(words, cwd=folder, env=there, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_tests_in_javascript_pass(url: str, tmp_path: Path) -> None:
    demand("node")
    code, told = ran(["node", "--test"], EXAMPLES / "node", url)
    assert code == 0, told
    assert re.search(r"\bpass 10\b", told) and re.search(r"\bfail 0\b", told), told


def test_the_tests_in_go_pass(url: str, tmp_path: Path, cache: pytest.Cache) -> None:
    """Go compiles its own library at the first run, in 7 seconds of CPU. Later runs find it in the cache of pytest."""
    demand("go")
    caches = {"GOCACHE": str(cache.mkdir("go")), "GOPATH": str(tmp_path / "go"), "GOFLAGS": "-mod=mod"}
    code, told = ran(["go", "test", "-count=1", "-v", "./..."], EXAMPLES / "go", url, **caches)
    assert code == 0, told
    assert told.count("--- PASS") == 10 and "--- FAIL" not in told, told


def test_the_tests_in_java_pass(url: str, tmp_path: Path) -> None:
    demand("javac", "java", files=tuple(JARS / f"{name}.jar" for name in NEEDED_JARS))
    jars = ":".join(map(str, sorted(JARS.glob("*.jar"))))
    sources = sorted(map(str, (EXAMPLES / "java" / "src").rglob("*.java")))
    code, told = ran(["javac", "-d", str(tmp_path), "-cp", jars, *sources], ROOT, url, **JAVA_OPTIONS)
    assert code == 0, told
    launcher = "org.junit.platform.console.ConsoleLauncher"
    words = ["java", "-cp", f"{jars}:{tmp_path}", launcher, "--select-class", "example.PaymentsTest"]
    code, told = ran([*words, "--details", "summary"], ROOT, url, **JAVA_OPTIONS)
    assert code == 0 and "10 tests successful" in told, told


def test_the_tests_in_php_pass(url: str) -> None:
    demand("php", "phpunit")
    code, told = ran(["phpunit", "--do-not-cache-result", "PaymentsTest.php"], EXAMPLES / "php", url)
    assert code == 0 and "OK (10 tests" in told, told


@pytest.mark.parametrize(
    "helper", ["node/sandbox.mjs", "go/sandbox_test.go", "php/Sandbox.php", "java/**/Sandbox.java"]
)
def test_a_helper_that_starts_a_sandbox_is_short(helper: str) -> None:
    [file] = EXAMPLES.glob(helper)
    assert len(file.read_text().splitlines()) <= 80


def test_the_tests_of_the_page_are_those_of_the_examples() -> None:
    """Each test that passes above is shown as it is, but for its indentation."""
    shown = dict(re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", (ROOT / "docs" / "languages.md").read_text()))
    files = {
        "js": "node/payments.test.mjs",
        "go": "go/payments_test.go",
        "java": "java/src/test/java/example/PaymentsTest.java",
        "php": "php/PaymentsTest.php",
    }
    assert shown.keys() == files.keys()
    for language, name in files.items():
        lines = [line.strip() for line in (EXAMPLES / name).read_text().splitlines()]
        assert "\n".join(line.strip() for line in shown[language].splitlines()) in "\n".join(lines), name


def test_the_tests_in_javascript_start_a_sandbox_and_fail_where_the_client_does_wrong(tmp_path: Path) -> None:
    demand("node")
    folder = tmp_path / "node"
    shutil.copytree(EXAMPLES / "node", folder)
    tests = folder / "payments.test.mjs"
    kept = [line for line in tests.read_text().splitlines() if 'waive("initiation-doubled"' not in line]
    tests.write_text("\n".join(kept))
    program = str(Path(sys.executable).with_name("bank-sandbox"))
    code, told = ran(["node", "--test", tests.name], folder, "", BANK_SANDBOX=program)
    assert code != 0 and "the referee found: initiation-doubled" in told, told
    assert re.search(r"\bpass 9\b", told) and re.search(r"\bfail 1\b", told), told


def test_they_fail_where_no_sandbox_answers() -> None:
    demand("node")
    code, told = ran(["node", "--test"], EXAMPLES / "node", "http://127.0.0.1:9")
    assert code != 0 and re.search(r"\bpass 0\b", told), told


def test_the_check_of_generated_clients_fails_where_no_sandbox_answers(tmp_path: Path) -> None:
    demand("bash", "curl")
    code, told = ran([".ci/clients"], ROOT, "http://127.0.0.1:9", TMPDIR=str(tmp_path))
    assert code != 0 and "127.0.0.1" in told and "passed" not in told, told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("language", ["node", "go", "java"])
def test_the_check_of_generated_clients_fails_without_the_generator(language: str, tmp_path: Path) -> None:
    demand("bash", "curl")
    tools, served = tmp_path / "bin", tmp_path / "_sandbox"
    tools.mkdir()
    served.mkdir()
    for document in ("openapi", "controls"):
        (served / f"{document}.json").write_text("{}")  # enough for what comes before the generator
    for name in ("bash", "dirname", "mktemp", "rm", "cp", "curl", "tail"):
        (tools / name).symlink_to(str(shutil.which(name)))
    code, told = ran([".ci/clients", language], ROOT, tmp_path.as_uri(), PATH=str(tools))
    assert code != 0 and f"{language}: FAILED" in told and "openapi-generator-cli" in told, told


@pytest.mark.parametrize("language", ["node", "go", "java", "php"])
def test_each_has_a_readme_that_says_how_to_run_it(language: str) -> None:
    text = (EXAMPLES / language / "README.md").read_text()
    assert "bank-sandbox serve" in text and "SANDBOX_URL=http://127.0.0.1:8080" in text
