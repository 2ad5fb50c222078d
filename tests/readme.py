"""README and documentation as readers take them: fenced blocks, words in code, commands and calls that they name."""

import re
import shlex
from dataclasses import dataclass

import click

from sandbox.cli import main
from tests.shell import ROOT

README = (ROOT / "README.md").read_text()
PAGES = {file: file.read_text() for file in sorted((ROOT / "docs").glob("*.md"))}
TEXT = "\n".join((README, *PAGES.values()))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
METHOD = r"(?:GET|POST|PUT|PATCH|DELETE)"


@dataclass(frozen=True)
class Block:
    language: str
    text: str

    @property
    def name(self) -> str:
        """Its first line, which is its own."""
        return self.text.splitlines()[0]


BLOCKS = tuple(Block(*found) for found in FENCE.findall(TEXT))
PROSE = FENCE.sub("", TEXT)


def spans(text: str = PROSE) -> list[str]:
    """What stands in code between backticks, on one line or two."""
    return [re.sub(r"\s+", " ", found) for found in re.findall(r"`([^`]+)`", text)]


def section(title: str) -> str:
    return re.split(r"(?m)^##? ", PROSE.partition(f"\n## {title}\n")[2], maxsplit=1)[0]


def commands(text: str) -> list[list[str]]:
    """The words after `bank-sandbox` wherever a script calls it, also in a container."""
    joined = text.replace("\\\n", " ")
    called = re.findall(r"(?<![\w/.-])bank-sandbox ((?:[a-z-]+|--)[^\n;&|>]*)", joined)
    return [shlex.split(words) for words in called]


def commands_in_prose() -> list[list[str]]:
    """`bank-sandbox bulk check`, and `pki init` where the program's name is left out."""
    found = []
    for span in spans():
        words = span.split(" ")
        if words[0] in main.commands and len(words) > 1 and not words[1].startswith("("):
            found.append(words)
        elif words[0] in ("bank-sandbox", "docker"):
            found += commands(span)
    return found


def wrong_in(words: list[str]) -> str | None:
    """What of a command is not there: a word that is no subcommand, an option that it has not."""
    command: click.Command = main
    rest = words[: words.index("--")] if "--" in words else list(words)  # what follows is another program's
    while rest and isinstance(command, click.Group) and not rest[0].startswith("-"):
        if rest[0] not in command.commands:
            if command.invoke_without_command:
                break
            return f"{rest[0]} is no command of {command.name}"
        command = command.commands[rest.pop(0)]
    known = {"--help", "--version", *(name for param in command.params for name in param.opts)}
    for word in rest:
        if word.startswith("--") and word.partition("=")[0] not in known:
            return f"{command.name} has no {word}"
    return None


def every_command() -> list[click.Command]:
    found: list[click.Command] = [main]
    for command in found:
        found += command.commands.values() if isinstance(command, click.Group) else ()
    return found


def calls(text: str) -> list[tuple[str, str]]:
    """`GET /a`, and `/b` after it; `PUT`, `GET`, `DELETE /c` are three. Without query, with <> for what varies."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        methods: list[str] = []
        complete = False
        for span in spans(line):
            if re.fullmatch(METHOD, span):
                methods = [span] if complete else [*methods, span]
                complete = False
            elif told := re.match(rf"(?:({METHOD}) )?(/[^\s?]*)", span):
                if told[1]:
                    methods = [told[1]] if complete else [*methods, told[1]]
                found += [(method, plain(told[2])) for method in methods]
                complete = True
            else:
                methods = []
    return found


def plain(path: str) -> str:
    return re.sub(r"\{[^}]*\}|<[^>]*>", "<>", path)
