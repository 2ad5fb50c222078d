"""The JSON Schema of a scenario file, for editors; made of the same tables that read it."""

from typing import Any

from sandbox.scenario.reading import TOP
from sandbox.scenario.step_rows import StepShape


def schema() -> dict[str, Any]:
    """Renders JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of the bank sandbox",
        "type": ["object", "null"],
        "$defs": {"step": StepShape().schema()},
        **{key: value for key, value in TOP.schema().items() if key != "type"},
    }
