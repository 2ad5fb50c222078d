"""Whether values that came in a file are of the kinds that the program expects: nothing else is let into a bank."""

from dataclasses import is_dataclass
from enum import Enum
from functools import cache, lru_cache
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sandbox.bank.verbs import VERBS
from sandbox.world.transfer.form import ParcelError


def demand_fit(value: Any, hint: Any, where: str) -> None:
    """A ParcelError names the first place that does not fit."""
    if hint is Any or hint is object:
        return
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        _any_of(value, parts, where)
    elif origin is Literal:
        _demand(value in parts, value, where)
    elif origin is tuple:
        _demand(type(value) is tuple, value, where)
        of = [parts[0]] * len(value) if len(parts) == 2 and parts[1] is ... else list(parts)
        _demand(len(of) == len(value), value, where)
        for number, (item, part) in enumerate(zip(value, of, strict=True)):
            demand_fit(item, part, f"{where}[{number}]")
    elif origin is dict:
        _demand(type(value) is dict, value, where)
        for key, item in value.items():
            demand_fit(key, parts[0], f"{where} (a key)")
            demand_fit(item, parts[1], f"{where}.{key}")
    else:
        _demand(value is None if hint is NoneType else _is(value, hint), value, where)
        kind: Any = type(value)
        for name, part in hints_of(kind).items():
            demand_fit(getattr(value, name), part, f"{where}.{name}")


def _is(value: Any, kind: type[Any]) -> bool:
    """True is no number, and a whole number does where any is wanted."""
    return type(value) is kind or (kind is float and type(value) is int)


def _any_of(value: Any, parts: tuple[Any, ...], where: str) -> None:
    faults = []  # as texts: an error that is kept keeps its frame, and so itself
    for part in parts:
        try:
            return demand_fit(value, part, where)
        except ParcelError as fault:
            faults.append(str(fault))
    raise ParcelError(faults[0] if value is not None else faults[-1])


@lru_cache(maxsize=256)
def hints_of(kind: Any) -> dict[str, Any]:
    """The fields of a record, with what they hold."""
    if issubclass(kind, Enum) or not (is_dataclass(kind) or hasattr(kind, "_fields")):
        return {}
    return get_type_hints(kind)


@cache
def parameters_of(verb: str) -> tuple[Parameter, ...]:
    """What a verb takes after the bank."""
    return tuple(signature(VERBS[verb], eval_str=True).parameters.values())[1:]


def _demand(holds: bool, value: Any, where: str) -> None:
    if not holds:
        raise ParcelError(f"{where} does not take a {type(value).__name__}")
