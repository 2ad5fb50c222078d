"""The result of one step of a script."""

from dataclasses import dataclass
from typing import Any

from sandbox.client import Reply
from sandbox.player.line_log import Exchange
from sandbox.scenario import Step
from sandbox.scenario.matching import quote


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step: its text and its failed expectations."""

    step: Step
    text: str
    faults: tuple[str, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    skipped: bool = False
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.faults and not self.skipped


LINE_MAX = 110  # characters


def describe_step(step: Step, reply: Reply | None = None) -> str:
    """Describes a step: its word, content, name and reply."""
    text = f"{step.what} {_content(step.content)}".rstrip()
    if len(text) > LINE_MAX:
        text = f"{text[:LINE_MAX]}..."
    if step.as_name:
        text += f" as {step.as_name}"
    return text if reply is None else f"{text} -> {reply.status}{_status(reply)}"


def _content(content: Any) -> str:
    if isinstance(content, dict):
        return ", ".join(f"{name}: {_inner(value)}" for name, value in content.items())
    return "" if content is None else quote(content)


def _inner(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_inner(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_inner(item) for item in value) + "]"
    return "null" if value is None else str(value)


def _status(reply: Reply) -> str:
    body = reply.body if isinstance(reply.body, dict) else {}
    parts = [str(body[name]) for name in ("error", "status", "reason") if name in body]
    return "".join(f" {part}" for part in parts)
