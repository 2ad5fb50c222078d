"""Options of the commands: each can also be set in the environment."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click


def option(name: str, *names: str, **more: Any) -> Callable[..., Any]:
    """An option that can also be set in the environment, as SANDBOX_ and its name."""
    variable = "SANDBOX_" + name.lstrip("-").replace("-", "_").upper()
    return click.option(name, *names, envvar=variable, show_envvar=True, show_default=True, **more)


class Span(click.ParamType[timedelta]):
    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        from sandbox.banking.durations import read_duration

        try:
            return read_duration(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Instant(click.ParamType[datetime]):
    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        from sandbox.banking.durations import read_instant

        try:
            return read_instant(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
